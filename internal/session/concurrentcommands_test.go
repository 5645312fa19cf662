package session_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/snapshot"
	"lathe/internal/undo"
)

// pair is two sessions that work in one directory.
type pair struct {
	*play
	a, b lathe.SessionID
}

// newPair plays a model that does what it is told: "bash: command" or
// "write: file", each a step of its own.
func newPair(t *testing.T) *pair {
	p := newPlay(t, map[string]string{"repo/.git/info/exclude": "/signal\n", "repo/signal/x": ""}, func(req *llm.Request) say {
		words := last(req)
		for _, line := range strings.Split(words, "\n") {
			if command, ok := strings.CutPrefix(line, "bash: "); ok {
				return say{calls: []use{{"bash", args{"command": command, "description": "does it"}}}}
			}
			if file, ok := strings.CutPrefix(line, "write: "); ok {
				return say{calls: []use{{"write", args{"filePath": file, "content": "written\n"}}}}
			}
		}
		return say{text: "done"}
	}).open()
	return &pair{p, p.session(), p.session()}
}

// while runs a command in session a that waits; meanwhile do happens, and then the
// command goes on. They wait for each other at two pipes.
func (p *pair) while(do func(), then string) {
	p.t.Helper()
	began, goOn := p.pipe("began"), p.pipe("go")
	_, run, err := p.svc.Prompt(p.t.Context(), p.a, session.Prompt{
		Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: fmt.Sprintf("bash: echo > %s; read -r _ < %s; %s", began.Name(), goOn.Name(), then)}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := began.Read(make([]byte, 1))
		waits <- err
	}()
	select {
	case err := <-waits:
		if err != nil {
			p.t.Fatal(err)
		}
	case <-run.Done():
		p.t.Fatalf("the command did not wait: %+v", run.Last())
	}
	do()
	if _, err := goOn.WriteString("\n"); err != nil {
		p.t.Fatal(err)
	}
	if out := p.wait(run); out.Failure != nil {
		p.t.Fatal(out.Failure)
	}
	for _, f := range []*os.File{began, goOn} {
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			p.t.Fatal(err)
		}
	}
}

// pipe makes a named pipe where git does not look. It is open for both ends, so that
// nobody waits for the other one to open it.
func (p *pair) pipe(name string) *os.File {
	p.t.Helper()
	path := filepath.Join(p.dir, "signal", name)
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		p.t.Fatalf("mkfifo: %v: %s", err, out)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

func (p *pair) say(id lathe.SessionID, text string) {
	p.t.Helper()
	if out := p.prompt(id, session.Prompt{}, text); out.Failure != nil {
		p.t.Fatal(out.Failure)
	}
}

// has expects these files beside main.go.
func (p *pair) has(what string, want map[string]string) {
	p.t.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() == "main.go" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.dir, e.Name()))
		if err != nil {
			p.t.Fatal(err)
		}
		got[e.Name()] = string(data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// revert takes a session back to before its nth prompt and returns what was kept.
func (p *pair) revert(id lathe.SessionID, n int, force bool) (kept map[string]string) {
	p.t.Helper()
	for _, m := range p.messages(id) {
		if _, ok := m.Info.(*lathe.User); !ok {
			continue
		}
		if n--; n > 0 {
			continue
		}
		out, err := p.svc.Undo.Revert(p.t.Context(), id, undo.Input{MessageID: m.ID, Force: force})
		if err != nil {
			p.t.Fatal(err)
		}
		return reasons(out.Conflicts)
	}
	p.t.Fatalf("%s has no such prompt", id)
	return nil
}

func reasons(conflicts []snapshot.Conflict) map[string]string {
	kept := map[string]string{}
	for _, c := range conflicts {
		kept[filepath.Base(c.Path)] = c.Reason
	}
	return kept
}

// changed is what a session's diff lists.
func (p *pair) changed(id lathe.SessionID) []string {
	p.t.Helper()
	diffs, err := p.svc.Diffs.Of(p.t.Context(), id, "")
	if err != nil {
		p.t.Fatal(err)
	}
	var files []string
	for _, d := range diffs {
		files = append(files, d.File)
	}
	return files
}

const shared = "another session or a job may have changed it at the same time"

// What one session writes by name while the command of another runs is its own.
func TestBesideACommand(t *testing.T) {
	p := newPair(t)
	p.while(func() { p.say(p.b, "write: "+filepath.Join(p.dir, "b.txt")) }, "echo a > a.txt")
	p.has("at first", map[string]string{"a.txt": "a\n", "b.txt": "written\n"})
	if diff := cmp.Diff([][]string{{"a.txt"}, {"b.txt"}}, [][]string{p.changed(p.a), p.changed(p.b)}); diff != "" {
		t.Errorf("the sessions changed (-want +got):\n%s", diff)
	}
	if kept := p.revert(p.a, 1, false); len(kept) > 0 {
		t.Errorf("kept: %v", kept)
	}
	p.has("after a was reverted", map[string]string{"b.txt": "written\n"})
	if _, err := p.svc.Undo.Unrevert(t.Context(), p.a, false); err != nil {
		t.Fatal(err)
	}
	if kept := p.revert(p.b, 1, false); len(kept) > 0 {
		t.Errorf("kept: %v", kept)
	}
	p.has("after b was reverted", map[string]string{"a.txt": "a\n"})
}

// Of two commands that run at once nobody knows which changed a file: neither
// session takes it back, unless it is told to.
func TestCommandsBesideEachOther(t *testing.T) {
	p := newPair(t)
	p.while(func() { p.say(p.b, "bash: echo b > b.txt") }, "echo a > a.txt")
	both := map[string]string{"a.txt": "a\n", "b.txt": "b\n"}
	p.has("at first", both)
	if diff := cmp.Diff(map[string]string{"b.txt": shared}, p.revert(p.b, 1, false)); diff != "" {
		t.Errorf("kept when b was reverted (-want +got):\n%s", diff)
	}
	p.has("after b was reverted", both)
	if diff := cmp.Diff(map[string]string{"b.txt": shared}, p.revert(p.a, 1, false)); diff != "" {
		t.Errorf("kept when a was reverted (-want +got):\n%s", diff)
	}
	p.has("after a was reverted", map[string]string{"b.txt": "b\n"})
	if kept := p.revert(p.a, 1, true); len(kept) > 0 {
		t.Errorf("kept by force: %v", kept)
	}
	p.has("after that was forced", map[string]string{})
	if _, err := p.svc.Undo.Unrevert(t.Context(), p.a, false); err != nil {
		t.Fatal(err)
	}
	p.has("after all", both)
}

// A file that both sessions changed in turn goes back only as far as the last
// change of the other one.
func TestTakingTurnsInOneFile(t *testing.T) {
	p := newPair(t)
	p.say(p.a, "bash: echo one > f.txt")
	p.say(p.b, "bash: echo two >> f.txt")
	p.say(p.a, "bash: echo three >> f.txt")
	if kept := p.revert(p.a, 2, false); len(kept) > 0 {
		t.Errorf("kept: %v", kept)
	}
	p.has("after the newest was reverted", map[string]string{"f.txt": "one\ntwo\n"})
	if _, err := p.svc.Undo.Unrevert(t.Context(), p.a, false); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"f.txt": "it was changed by somebody else between steps of the session"}
	if diff := cmp.Diff(want, p.revert(p.a, 1, false)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	p.has("after all was reverted", map[string]string{"f.txt": "one\ntwo\nthree\n"})
}

// The work of a session's own subagents is the session's, also beside a command.
func TestBesideIsNoSubagent(t *testing.T) {
	p := newPair(t)
	child, err := p.svc.Create(t.Context(), session.Create{Directory: p.dir, ParentID: p.a})
	if err != nil {
		t.Fatal(err)
	}
	p.while(func() { p.say(child.ID, "write: "+filepath.Join(p.dir, "child.txt")) }, "echo a > a.txt")
	if diff := cmp.Diff([]string{"a.txt", "child.txt"}, slices.Sorted(maps.Keys(p.listed(p.a)))); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if kept := p.revert(p.a, 1, false); len(kept) > 0 {
		t.Errorf("kept: %v", kept)
	}
	p.has("after it was reverted", map[string]string{})
}

// listed are the files of the session's patches; true: shared.
func (p *pair) listed(id lathe.SessionID) map[string]bool {
	out := map[string]bool{}
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			if b, ok := part.Body.(*lathe.Patch); ok {
				for _, f := range b.Files {
					out[filepath.Base(f)] = slices.Contains(b.Shared, f)
				}
			}
		}
	}
	return out
}
