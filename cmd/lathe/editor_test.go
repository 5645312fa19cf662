package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateTranscripts = flag.Bool("update-transcripts", false, "write what editors and lathe said to each other as it is now")

// The official SDK of the Agent Client Protocol drives lathe as an editor does. Each
// session in testdata/acp is a plan for editor.mjs and a script for the model; what went
// over the wire is kept beside it. The SDK judges every message by the published schema.
func TestEditorTranscripts(t *testing.T) {
	sdk := os.Getenv("LATHE_ACP_SDK")
	if sdk == "" {
		t.Skip("LATHE_ACP_SDK names no directory with the protocol's npm package; .ci/editors installs it")
	}
	plans, err := filepath.Glob("testdata/acp/*.json")
	if err != nil || len(plans) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	for _, plan := range plans {
		t.Run(strings.TrimSuffix(filepath.Base(plan), ".json"), func(t *testing.T) { transcript(t, sdk, plan) })
	}
}

func transcript(t *testing.T, sdk, plan string) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, home := filepath.Join(top, "repo"), filepath.Join(top, "home")
	data, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(strings.TrimSuffix(plan, ".json") + ".script")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"repo/a.txt": []byte("hello\nworld\n"), "home/.keep": nil, "plan.json": bytes.ReplaceAll(data, []byte("DIR"), []byte(dir)),
	} {
		name = filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "-C", dir, "init", "-q", "-b", "main").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	editor, err := os.ReadFile("testdata/acp/editor.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "editor.mjs"), editor, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(sdk, "node_modules"), filepath.Join(top, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", filepath.Join(top, "editor.mjs"), filepath.Join(top, "plan.json"), os.Args[0], "acp")
	cmd.Dir = dir
	cmd.Env = append(hermetic(), asMain+"=1", "HOME="+home, "LATHE_HOME="+filepath.Join(home, "lathe"), "PATH="+os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", `LATHE_CONFIG_CONTENT={"model":"script/`+script+`"}`)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("the editor: %v\n%s\n%s", err, &complaints, out)
	}
	got := plainly(t, out, [][2]string{{dir, "DIR"}, {top, "TOP"}, {script, "SCRIPT"}})
	golden := strings.TrimSuffix(plan, ".json") + ".transcript"
	if *updateTranscripts {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("what was said (-kept +now); -update-transcripts keeps it:\n%s", d)
	}
}

var (
	ids   = regexp.MustCompile(`\b(ses|msg|prt|per|que)_[0-9A-Za-z]+`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// plainly writes a transcript without what differs from run to run: identifiers get
// numbers in their order, and texts that came in pieces are put together.
func plainly(t *testing.T, raw []byte, words [][2]string) string {
	t.Helper()
	for _, w := range words {
		raw = bytes.ReplaceAll(raw, []byte(w[0]), []byte(w[1]))
	}
	known := map[string]string{}
	count := map[string]int{}
	raw = ids.ReplaceAllFunc(raw, func(id []byte) []byte {
		kind := string(id[:3])
		if known[string(id)] == "" {
			count[kind]++
			known[string(id)] = fmt.Sprintf("%s_%d", kind, count[kind])
		}
		return []byte(known[string(id)])
	})
	raw = times.ReplaceAll(raw, []byte("TIME"))
	type spoken struct {
		from    string
		message any
	}
	var said []spoken
	var open map[string]any // the newest of said, if it is a piece of text
	for line := range strings.Lines(string(raw)) {
		var m struct {
			From    string
			Message any
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if anyTime(m.Message) {
			continue
		}
		if c := piece(m.Message); c != nil && open != nil && open["messageId"] == c["messageId"] && open["sessionUpdate"] == c["sessionUpdate"] {
			was, now := open["content"].(map[string]any), c["content"].(map[string]any)
			was["text"] = was["text"].(string) + now["text"].(string)
			continue
		} else {
			open = c
		}
		said = append(said, spoken{m.From, m.Message})
	}
	var out strings.Builder
	for _, s := range said {
		text, err := json.Marshal(s.message)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(s.from + " " + string(text) + "\n")
	}
	return out.String()
}

// piece returns an update that holds a piece of the model's text, or nil.
func piece(message any) map[string]any {
	m, _ := message.(map[string]any)
	p, _ := m["params"].(map[string]any)
	u, _ := p["update"].(map[string]any)
	switch u["sessionUpdate"] {
	case "agent_message_chunk", "agent_thought_chunk":
		if u["messageId"] != nil {
			return u
		}
	}
	return nil
}

// anyTime reports what comes beside the work, at a moment that depends on the machine:
// that a call runs and what it has printed so far, a title, the list of commands.
func anyTime(message any) bool {
	m, _ := message.(map[string]any)
	p, _ := m["params"].(map[string]any)
	u, _ := p["update"].(map[string]any)
	switch u["sessionUpdate"] {
	case "session_info_update", "available_commands_update":
		return true
	case "tool_call_update":
		return u["status"] == "in_progress"
	}
	return false
}
