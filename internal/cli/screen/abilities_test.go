package screen

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/tui/engine"
)

// TestScreenAbilities does with a real engine, over its HTTP interface, what the
// screen's dialogs do.
func TestScreenAbilities(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "repo")
	for name, text := range map[string]string{
		"repo/lathe.json": `{"permission":{"bash":"allow"},"mcp":{"docs":{"type":"remote","url":"https://example.com"}}}`,
		"repo/hi.txt":     "text hello **you**\n---\ntext " + strings.Repeat("The person said hi and was greeted. ", 8) + "\n", "repo/write.txt": "tool write {\"filePath\":\"new.txt\",\"content\":\"a\\nb\\n\"}\n---\ntext done\n", "repo/.lathe/skills/s/SKILL.md": "---\nname: s\ndescription: does it\n---\nDo it.\n",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"HOME": top, "LATHE_HOME": filepath.Join(top, "lathe"), "PATH": os.Getenv("PATH")}
	env := &console.Env{
		Dir: dir, Getenv: func(k string) string { return vars[k] }, Environ: []string{"PATH=" + vars["PATH"], "HOME=" + top},
		Now: time.Now, Stdout: io.Discard, Stderr: io.Discard,
	}
	ctx := t.Context()
	f, err := face.Connect(ctx, env, face.Target{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := &tuiEngine{Abilities: Abilities{f.Client}, now: time.Now}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	rule := lathe.Rule{Permission: "bash", Pattern: "go test *", Action: lathe.Allow}
	inst, err := f.App.Service.Instance(ctx, dir)
	must(err)
	must(f.App.Kept().PutApproval(ctx, inst.ApprovalOwner(), rule))
	allowed, err := e.Approvals(ctx)
	must(err)
	if diff := cmp.Diff([]api.Approval{{Permission: "bash", Pattern: "go test *", Stored: true}}, allowed); diff != "" {
		t.Fatalf("approvals (-want +got):\n%s", diff)
	}
	must(e.Revoke(ctx, allowed[0]))
	if left, err := f.App.Store.Approvals(ctx, inst.ApprovalOwner()); err != nil || len(left) != 0 {
		t.Errorf("left after it was taken back: %v, %v", left, err)
	}

	trust, err := e.Trust(ctx)
	must(err)
	if trust.Given || len(trust.LeftOut) == 0 {
		t.Errorf("trust: %+v", trust)
	}
	must(e.Decide(ctx, trust, false))
	setup, err := e.Setup(ctx)
	must(err)
	if diff := cmp.Diff([]api.Configured{{Name: "docs", Kind: "remote", State: "starts when it is needed"}}, setup.MCP); diff != "" {
		t.Errorf("MCP servers (-want +got):\n%s", diff)
	}
	if len(setup.Skills) != 1 || len(setup.Files) == 0 {
		t.Errorf("setup: %+v", setup)
	}

	ask := func(id lathe.SessionID, model string) {
		m, err := f.Prompt(ctx, id, api.Prompt{Parts: []lathe.PartBody{&lathe.Text{Text: "hi"}}, Model: lathe.ModelRef{Provider: "script", Model: model}})
		must(err)
		for out := (api.Outcome{Running: true}); out.Running; {
			out, err = f.Outcome(ctx, id, m)
			must(err)
		}
	}
	s, err := e.Create(ctx)
	must(err)
	ask(s.ID, "hi.txt")
	w, err := e.Weigh(ctx, s.ID)
	must(err)
	if w.Used == 0 || len(w.Kinds) == 0 || len(w.ByModel) != 1 {
		t.Errorf("weight: %+v", w)
	}
	raw, err := e.Export(ctx, s.ID, api.FormatJSON)
	must(err)
	var doc struct {
		Info     struct{ ID lathe.SessionID }
		Messages []json.RawMessage
	}
	must(json.Unmarshal(raw, &doc))
	if doc.Info.ID != s.ID || len(doc.Messages) != 2 {
		t.Errorf("exported session %s with %d messages", doc.Info.ID, len(doc.Messages))
	}
	for format, want := range map[string]string{api.FormatMarkdown: "hello **you**", api.FormatHTML: "<html"} {
		raw, err := e.Export(ctx, s.ID, format)
		must(err)
		if !bytes.Contains(bytes.ToLower(raw), []byte(want)) {
			t.Errorf("%s does not hold %q:\n%s", format, want, raw)
		}
	}
	must(e.Archive(ctx, s.ID, true))
	active, err := e.List(ctx, "")
	must(err)
	put, err := e.Archived(ctx)
	must(err)
	if len(active) != 0 || len(put) != 1 {
		t.Errorf("%d active and %d archived sessions", len(active), len(put))
	}
	must(e.Archive(ctx, s.ID, false))
	if put, err = e.Archived(ctx); err != nil || len(put) != 0 {
		t.Errorf("brought back: %d archived, %v", len(put), err)
	}
	before, err := e.History(ctx, s.ID, 0, 10)
	must(err)
	must(e.Compact(ctx, s.ID, lathe.ModelRef{})) // nobody chose a model
	if after, err := e.History(ctx, s.ID, 0, 10); err != nil || len(after) <= len(before) {
		t.Errorf("nothing was compacted: %d messages, %d before, %v", len(after), len(before), err)
	}
	writes, err := e.Create(ctx)
	must(err)
	ask(writes.ID, "write.txt")
	changes, err := e.Changes(ctx, writes.ID)
	must(err)
	if diff := cmp.Diff([]engine.FileChange{{File: "new.txt", Added: 2}}, changes); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
	if _, err := e.Share(ctx, s.ID); err == nil || !strings.Contains(err.Error(), "share") {
		t.Errorf("shared without a service: %v", err)
	}

	must(e.Connect(ctx, "groq", "sk-x"))
	found, err := e.Found(ctx)
	must(err)
	if diff := cmp.Diff([]string{"groq"}, found.Stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(top, "lathe", "data", "auth.json"))
	must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the keys have mode %v", info.Mode())
	}
	must(e.Distrust(ctx))
	if trust, err = e.Trust(ctx); err != nil || trust.Given {
		t.Errorf("trusted no more: %+v, %v", trust, err)
	}
}
