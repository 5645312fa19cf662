package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/session"
)

// corpus reads commands, one a line.
func corpus(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "## ") {
			continue
		}
		line = strings.ReplaceAll(line, "<NL>", "\n")
		out = append(out, strings.ReplaceAll(line, "<MANY>", strings.Repeat("ls; ", 60)))
	}
	return out
}

// rejectAll answers every ask with no, and counts. It ends with stop.
func rejectAll(t *testing.T, w *world, s *session.Service) (asked func() int, stop func()) {
	sub := s.Subscribe(context.Background(), bus.Filter{})
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	wg.Go(func() {
		for e, err := range sub.All() {
			if err != nil {
				return
			}
			ask, ok := e.Event.(lathe.PermissionAsked)
			if !ok {
				continue
			}
			mu.Lock()
			n++
			mu.Unlock()
			if err := s.Instances.Reply(context.Background(), w.repo, ask.Ask.ID, lathe.Reply{Kind: lathe.Reject}); err != nil {
				t.Error(err)
			}
		}
	})
	return func() int { mu.Lock(); defer mu.Unlock(); return n }, func() { sub.Close(); wg.Wait() }
}

// effects lists what commands left behind: files named pwned anywhere, and the
// content of the protected directory.
func effects(t *testing.T, w *world) map[string]string {
	t.Helper()
	out := map[string]string{}
	top := filepath.Dir(w.repo)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == w.opts.Paths.Data || d.Name() == ".git" && filepath.Dir(path) == w.repo {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(top, path)
		if d.Name() == "pwned" || strings.HasPrefix(rel, "repo/secret/") || strings.HasPrefix(rel, "repo-evil/") {
			text, _ := os.ReadFile(path)
			out[rel] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBypasses runs published ways around a shell allow list through whole
// turns, with a real shell: each is asked about or refused, and leaves nothing.
func TestBypasses(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{
		"home/lathe/config/lathe.json": `{"permission": {"bash": {"*": "ask", "git *": "allow", "ls *": "allow"}, "edit": {"secret/**": "deny"}}}`,
		"repo/secret/key":              "unchanged",
		"repo/evil.sh":                 "touch pwned\n", "repo/git-evil": "#!/bin/sh\ntouch pwned\n", "repo/git": "#!/bin/sh\ntouch pwned\n", "repo/evil.txt": "",
		"repo/link": "-> secret", "repo/src/a.go": "package a\n", "repo-evil/x": "",
	})
	w.git("add", "secret/key")
	w.git("commit", "-q", "-m", "secret")
	w.git("init", "-q", "--bare", "evil.git")
	w.write(map[string]string{"repo/evil.git/hooks/post-receive": "#!/bin/sh\ntouch ../pwned ../../pwned\n"})
	w.write(map[string]string{"repo/main.go": "package changed\n", "repo/secret/key": "changed by the person"})
	before := effects(t, w)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	asked, done := rejectAll(t, w, s)
	defer done()
	commands := corpus(t, "testdata/bypass.txt")
	if len(commands) < 100 {
		t.Fatalf("only %d commands", len(commands))
	}
	id := w.create(s)
	for _, c := range commands {
		n := asked()
		out := w.ask(s, id, c)
		if asked() == n && !refused(out.Last, s, id, t) {
			t.Errorf("runs unseen: %q", c)
		}
		after := effects(t, w)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q has an effect (-before +after):\n%.600s", c, diff)
		}
		before = after
	}
}

// refused reports whether the newest tool call of a session failed.
func refused(last *lathe.Message, s *session.Service, id lathe.SessionID, t *testing.T) bool {
	t.Helper()
	list, err := s.Messages(t.Context(), id, 3)
	if err != nil {
		t.Fatal(err)
	}
	if last != nil {
		list = append(list, *last)
	}
	for i := len(list) - 1; i >= 0; i-- {
		for _, p := range list[i].Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				_, failed := c.State.(*lathe.ToolFailed)
				return failed
			}
		}
	}
	return false
}

// TestEverydayCommandsDoNotAsk judges everyday commands under rules that allow
// their programs; a shell that does nothing stands in for the real one.
func TestEverydayCommandsDoNotAsk(t *testing.T) {
	w := newWorld(t)
	var allowed []string
	for _, name := range strings.Fields("ls git go gofmt npm npx yarn pnpm node python3 pip pytest cargo make docker cat head tail wc grep rg find sed awk sort uniq diff pwd which echo date du mkdir touch cp mv rm cd tree jq curl test [ gh kubectl export") {
		allowed = append(allowed, `"`+name+` *": "allow"`)
	}
	w.write(map[string]string{
		"home/lathe/config/lathe.json": `{"shell": "` + filepath.Join(w.home, "idle") + `", "permission": {"bash": {"*": "ask", ` + strings.Join(allowed, ", ") + `}}}`,
		"home/idle":                    "#!/bin/sh\nexit 0\n", "repo/src/a.go": "package a\n",
	})
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	asked, done := rejectAll(t, w, s)
	defer done()
	commands := corpus(t, "testdata/everyday.txt")
	if len(commands) < 100 {
		t.Fatalf("only %d commands", len(commands))
	}
	id := w.create(s)
	for _, c := range commands {
		n := asked()
		out := w.ask(s, id, c)
		if asked() != n || refused(out.Last, s, id, t) {
			t.Errorf("asks or is refused: %q", c)
		}
	}
}
