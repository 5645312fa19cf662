package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// upgradeVar, when set, has the version before built from the repository's history and run
// beside this one. It names a commit; "before" is the last one whose database had another schema.
const upgradeVar = "LATHE_TEST_UPGRADE"

// versionBefore builds lathe as it was.
func versionBefore(t *testing.T) string {
	t.Helper()
	from := os.Getenv(upgradeVar)
	if from == "" {
		t.Skip(upgradeVar + " is not set")
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("skipped: the version before is not in this clone's history (git %s: %v)", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	if from == "before" {
		from = ""
		now, err := filepath.Glob("../../internal/store/postgres/migrations/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, commit := range strings.Fields(git("log", "--format=%H", "--", "internal/store/postgres/schema.go")) {
			if schema := schemaAt(git, commit); schema > 0 && schema < len(now) {
				from = commit
				break
			}
		}
		if from == "" {
			t.Skip("skipped: no version with another schema is in this clone's history")
		}
	}
	dir := t.TempDir()
	tar, program := filepath.Join(dir, "source.tar"), filepath.Join(dir, "lathe-before")
	git("archive", "-o", tar, from)
	for _, args := range [][]string{{"tar", "-xf", tar}, {"go", "build", "-buildvcs=false", "-o", program, "./cmd/lathe"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s of %s: %v\n%s", args[0], from, err, out)
		}
	}
	t.Logf("the version before is %s", from)
	return program
}

// aSchema is where the version of the tables is said.
var aSchema = regexp.MustCompile(`(?m)^const schema = (\d+)$`)

// schemaAt returns the version of the tables as of a commit; 0 if that has not all its migrations.
func schemaAt(git func(...string) string, commit string) int {
	said := aSchema.FindStringSubmatch(git("show", commit+":internal/store/postgres/schema.go"))
	files := strings.Fields(git("ls-tree", "--name-only", commit, "internal/store/postgres/migrations/"))
	if said == nil || said[1] != strconv.Itoa(len(files)) {
		return 0
	}
	return len(files)
}

// gist is what an event says that does not depend on how it is written.
func gist(ev string) string {
	var e struct {
		Type       string
		Properties struct {
			ID, SessionID, RequestID string
			Info                     struct {
				ID, Role string
				Time     struct{ Completed float64 }
			}
			Status struct{ Type string }
		}
	}
	if json.Unmarshal([]byte(ev), &e) != nil {
		return ""
	}
	p := e.Properties
	switch e.Type {
	case "session.created", "session.status", "session.idle", "session.error", "permission.asked", "permission.replied":
		return fmt.Sprint(e.Type, p.ID, p.SessionID, p.RequestID, p.Info.ID, p.Status.Type)
	case "message.updated":
		return fmt.Sprint(e.Type, p.Info.ID, p.Info.Role, p.Info.Time.Completed > 0)
	}
	return ""
}

// Two versions work on one database for as long as an upgrade takes: prompts are taken by
// servers and done by workers of either, asks are answered through either, a turn goes from an
// old worker to a new one and back, all are told the same in the same order, and the old ones
// stop as ever.
func TestTwoVersionsAtOnce(t *testing.T) {
	t.Parallel()
	before := versionBefore(t)
	store := pgtest.Schema(t)
	w := newWorld(t)
	call := func(args string) llmtest.Step {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: args}}}
	}
	text := func(words string) llmtest.Step {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Text(words)}}
	}
	slow := func(mark string) string {
		return fmt.Sprintf(`{"command":"echo %[1]s >> runs; touch began-%[1]s; until [ -e go-%[1]s ]; do sleep 0.02; done","description":"wait"}`, mark)
	}
	model := w.model("anthropic", llmtest.Script{
		text("answer one"), text("answer two"), call(slow("there")), text("answer three"), call(`{"command":"echo asked >> runs","description":"ask"}`), text("answer four"),
		text("answer five"), call(slow("back")), text("answer six"), text("answer seven"),
	})
	old := *w
	old.program = before

	oldWorker := old.worker("old-worker", store)
	oldFront := old.peer("old-front", store, "--workers-only") // the old version has made the tables
	id := oldFront.session(`[{"permission":"*","pattern":"*","action":"allow"},{"permission":"bash","pattern":"echo asked*","action":"ask"}]`)
	fronts := map[string]*peer{"old": oldFront}
	heard := map[string]<-chan string{"old": oldFront.listen()}
	told := map[string][]string{}
	hear := func(words ...string) {
		t.Helper()
		for name, events := range heard {
			told[name] = append(append(told[name], hears(t, events, words...)...), strings.Join(words, " "))
		}
	}
	prompt := func(through, answer string) {
		t.Helper()
		fronts[through].call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
		hear(answer)
		hear(`"session.idle"`, id)
	}
	prompt("old", "answer one")
	fronts["new"] = w.peer("new-front", store, "--workers-only") // migrates, while the others run
	told = map[string][]string{}
	heard["new"] = fronts["new"].listen()
	prompt("new", "answer two") // done by the old worker

	// A turn goes from the old worker to the new one.
	passes := func(through, mark string, from *peer, to func() *peer, answer string) *peer {
		t.Helper()
		fronts[through].call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
		w.await("began-" + mark)
		from.signal(syscall.SIGTERM)
		waitFor(t, func() bool {
			return strings.Contains(string(fronts["new"].call("GET", "/lathe/workers", "")), `"stopping"`)
		})
		next := to()
		w.write("go-"+mark, "")
		hear(answer)
		hear(`"session.idle"`, id)
		if err := from.ended(); err != nil {
			t.Errorf("the worker that stopped: %v", err)
		}
		return next
	}
	worker := passes("old", "there", oldWorker, func() *peer { return w.worker("new-worker", store) }, "answer three")

	// The old server has a prompt done by the new worker; its ask is answered through the new one.
	fronts["old"].call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
	var asks []struct{ ID string }
	waitFor(t, func() bool {
		return json.Unmarshal(fronts["new"].call("GET", "/permission", ""), &asks) == nil && len(asks) == 1
	})
	fronts["new"].call("POST", "/permission/"+asks[0].ID+"/reply", `{"reply":"once"}`)
	hear("answer four")
	hear(`"session.idle"`, id)
	prompt("new", "answer five")
	passes("new", "back", worker, func() *peer { return old.worker("old-worker-again", store) }, "answer six")

	var lines [2][]string
	for i, name := range []string{"old", "new"} {
		for _, ev := range told[name] {
			if l := gist(ev); l != "" {
				lines[i] = append(lines[i], l)
			}
		}
	}
	if diff := cmp.Diff(lines[0], lines[1]); diff != "" || len(lines[0]) < 20 {
		t.Errorf("told by the old server and by the new (-old +new), %d:\n%s", len(lines[0]), diff)
	}
	want := readable(t, oldFront, id)
	if diff := cmp.Diff(want, readable(t, fronts["new"], id)); diff != "" {
		t.Errorf("the messages (-old +new):\n%s", diff)
	}
	oldFront.signal(syscall.SIGTERM)
	if err := oldFront.ended(); err != nil {
		t.Errorf("the old server: %v", err)
	}
	delete(heard, "old")
	prompt("new", "answer seven")
	if runs, err := os.ReadFile(filepath.Join(w.dir, "runs")); string(runs) != "there\nasked\nback\n" {
		t.Errorf("the commands ran: %q, %v", runs, err)
	}
	if got := readable(t, fronts["new"], id); !slices.Equal(want, got[:len(want)]) || !strings.Contains(strings.Join(got, "\n"), "answer seven") {
		t.Errorf("in the end there is %q", got)
	}
	accepted(t, model)
}

// readable is what a session's messages say.
func readable(t *testing.T, p *peer, id string) (out []string) {
	t.Helper()
	var messages []struct {
		Info  struct{ ID, Role string }
		Parts []struct {
			Type, Text string
			State      struct{ Status, Output string }
		}
	}
	if err := json.Unmarshal(p.call("GET", "/session/"+id+"/message", ""), &messages); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		for _, part := range m.Parts {
			out = append(out, fmt.Sprint(m.Info.ID, m.Info.Role, part.Type, part.Text, part.State.Status, part.State.Output))
		}
	}
	return out
}
