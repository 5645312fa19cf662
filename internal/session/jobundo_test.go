package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/job"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/undo"
)

// revertAll reverts a session to before its first prompt and returns what was left as it
// is, by name.
func (p *play) revertAll(id lathe.SessionID) map[string]string {
	p.t.Helper()
	res, err := p.svc.Undo.Revert(p.t.Context(), id, undo.Input{MessageID: p.messages(id)[0].ID})
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range res.Conflicts {
		rel, _ := filepath.Rel(p.dir, c.Path)
		out[rel] = c.Reason
	}
	return out
}

// What a job writes during a step is shared with the commands of that step; what it
// writes while none runs is its own. A revert of the prompt takes back what is the
// session's alone, and names the rest.
func TestUndoTellsWhatJobsWrote(t *testing.T) {
	var (
		p  *play
		m  *job.Manager
		id lathe.SessionID
	)
	step := 0
	p, m = working(t, func(req *llm.Request) say {
		step++
		switch step {
		case 1:
			return say{calls: []use{{"bash", args{"background": true, "description": "Build", "command": "until [ -e sig/go ]; do sleep 0.01; done; echo job > during.txt; touch sig/done; " +
				"read x; echo job > between.txt; echo wrote between; read x; echo job > late.txt; echo wrote late; sleep 1000"}}}}
		case 2: // the job writes while a command runs
			return say{calls: []use{
				{"write", args{"filePath": "named.txt", "content": "tool\n"}},
				{"bash", args{"description": "Build", "command": "echo tool > command.txt; touch sig/go; until [ -e sig/done ]; do sleep 0.01; done"}},
			}}
		case 3: // and between two steps
			j, err := m.Get(id, "job_1")
			if err == nil {
				err = j.Write([]byte("\n"))
			}
			if err != nil {
				return say{err: err}
			}
			await(t, m, id, "job_1", "wrote between")
			return say{calls: []use{{"write", args{"filePath": "other.txt", "content": "tool\n"}}}}
		case 4: // and in a step without a command
			return say{calls: []use{
				{"write", args{"filePath": "third.txt", "content": "tool\n"}},
				{"job", args{"action": "send", "keys": []string{"enter"}, "until": "wrote late"}},
			}}
		}
		return say{text: "done"}
	})
	for name, text := range map[string]string{".gitignore": "sig/\n", "sig/x": ""} { // how job and command wait for each other
		path := filepath.Join(p.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	id = p.session()
	p.prompt(id, session.Prompt{}, "go")
	j, err := m.Get(id, "job_1")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(p.dir, "between.txt"), filepath.Join(p.dir, "late.txt")}
	if diff := cmp.Diff(want, j.Info().Files); diff != "" {
		t.Errorf("files of the job (-want +got):\n%s\n%v", diff, p.tools(id))
	}
	wantKept := map[string]string{"command.txt": shared, "during.txt": shared, "late.txt": shared, "between.txt": "job_1"}
	got := p.revertAll(id)
	if why := got["between.txt"]; strings.HasPrefix(why, "job_1 (until") && strings.HasSuffix(why, "wrote it, or somebody outside of lathe, and goes on") {
		got["between.txt"] = "job_1"
	}
	if diff := cmp.Diff(wantKept, got); diff != "" {
		t.Errorf("left alone (-want +got):\n%s", diff)
	}
	for _, name := range []string{"named.txt", "other.txt", "third.txt"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			t.Errorf("%s was not taken back", name)
		}
	}
	for name := range wantKept {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
			t.Errorf("%s was taken back: %v", name, err)
		}
	}
	m.Stop(j)
}

// A job that writes nothing is in nobody's way: what commands changed beside it is taken
// back, whatever the job printed.
func TestUndoBesideAQuietJob(t *testing.T) {
	step := 0
	p, m := working(t, func(req *llm.Request) say {
		step++
		switch step {
		case 1:
			return say{calls: []use{{"bash", args{"background": true, "description": "Serve", "command": "echo ready; while read x; do echo request $x; done"}}}}
		case 2:
			return say{calls: []use{{"bash", args{"description": "Change", "command": "echo tool > command.txt"}}, {"job", args{"action": "send", "input": "echo\n", "until": "request"}}}}
		}
		return say{text: "done"}
	})
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	if left := p.revertAll(id); len(left) > 0 {
		t.Errorf("left alone: %v", left)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "command.txt")); err == nil {
		t.Errorf("it was not taken back: %v", p.tools(id))
	}
	m.End(id)
}
