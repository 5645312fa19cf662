package session_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/enginetest"
	"lathe/internal/permission"
	"lathe/internal/session"
)

// TestBuiltinRules holds the answer of each built-in agent's rules for every
// permission name.
func TestBuiltinRules(t *testing.T) {
	inst := newWorld(t).instance()
	data := inst.Paths.Data
	for _, row := range []struct {
		permission, pattern  string
		build, plan, general string
		explore, title       string
	}{
		{"bash", "rm -rf x", "allow", "allow", "allow", "allow", "deny"},
		{"edit", "main.go", "allow", "deny", "allow", "deny", "deny"},
		{"edit", ".lathe/plans/x.md", "allow", "allow", "allow", "deny", "deny"},
		{"edit", ".opencode/plans/x.md", "allow", "allow", "allow", "deny", "deny"},
		{"edit", strings.TrimPrefix(data, "/") + "/plans/x.md", "allow", "deny", "allow", "deny", "deny"},
		{"edit", data + "/plans/x.md", "allow", "allow", "allow", "deny", "deny"},
		{"read", "main.go", "allow", "allow", "allow", "allow", "deny"},
		{"read", ".env", "ask", "ask", "ask", "ask", "deny"},
		{"read", "a/.env.local", "ask", "ask", "ask", "ask", "deny"},
		{"read", ".env.example", "allow", "allow", "allow", "allow", "deny"},
		{"glob", "*", "allow", "allow", "allow", "allow", "deny"},
		{"grep", "x", "allow", "allow", "allow", "allow", "deny"},
		{"list", "src", "allow", "allow", "allow", "allow", "deny"},
		{"webfetch", "https://x", "allow", "allow", "allow", "allow", "deny"},
		{"websearch", "x", "allow", "allow", "allow", "allow", "deny"},
		{"codesearch", "x", "allow", "allow", "allow", "allow", "deny"},
		{"task", "explore", "allow", "allow", "allow", "deny", "deny"},
		{"task", "general", "allow", "deny", "allow", "deny", "deny"},
		{"skill", "x", "allow", "allow", "allow", "deny", "deny"},
		{"todowrite", "*", "allow", "allow", "deny", "deny", "deny"},
		{"todoread", "*", "allow", "allow", "deny", "deny", "deny"},
		{"lsp", "*", "allow", "allow", "allow", "deny", "deny"},
		{"question", "*", "allow", "allow", "deny", "deny", "deny"},
		{"plan_enter", "*", "allow", "deny", "deny", "deny", "deny"},
		{"plan_exit", "*", "deny", "allow", "deny", "deny", "deny"},
		{"doom_loop", "bash", "ask", "ask", "ask", "deny", "deny"},
		{"external_directory", "/etc/*", "ask", "ask", "ask", "ask", "deny"},
		{"external_directory", data + "/tool-output/*", "allow", "allow", "allow", "allow", "allow"},
		{"external_directory", data + "/plans/*", "ask", "allow", "ask", "ask", "deny"},
		{"server_tool", "*", "allow", "allow", "allow", "deny", "deny"},
	} {
		want := []string{row.build, row.plan, row.general, row.explore, row.title}
		var got []string
		for _, agent := range []string{"build", "plan", "general", "explore", "title"} {
			got = append(got, string(action(inst, agent, row.permission, row.pattern)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s for build, plan, general, explore, title (-want +got):\n%s", row.permission, row.pattern, diff)
		}
	}
}

// TestRulesOfAnAgent holds the order of the person's rules and the agent's own,
// and that each rule knows where it was written.
func TestRulesOfAnAgent(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{
		"home/lathe/config/lathe.json": `{
  "permission": {"bash": {"*": "ask", "~/bin/x *": "allow"}, "external_directory": {"*": "deny"}},
  "agent": {"plan": {"permission": {"bash": "deny"}}, "mine": {"permission": {"edit": "ask"}}}
}`,
		"repo/opencode.json": `{"permission": {"webfetch": "deny"}}`,
	})
	inst := w.instance()
	for _, row := range [][4]string{
		{"build", "bash", "x", "ask"}, {"build", "bash", w.home + "/bin/x -y", "allow"}, {"plan", "bash", "x", "deny"},
		{"mine", "edit", "x", "ask"}, {"mine", "question", "*", "deny"}, {"build", "webfetch", "https://x", "deny"},
		{"build", "external_directory", "/etc/*", "deny"}, {"build", "external_directory", inst.Paths.Data + "/tool-output/*", "allow"},
	} {
		if got := action(inst, row[0], row[1], row[2]); string(got) != row[3] {
			t.Errorf("%s: %s %s is %s, want %s", row[0], row[1], row[2], got, row[3])
		}
	}
	for _, a := range inst.Agents.All() {
		list := inst.Agents.Rules(a)
		var bare []lathe.Rule
		sources := map[string]string{}
		for _, r := range list {
			bare = append(bare, r.Rule)
			sources[r.Permission+" "+string(r.Action)] = r.Source
		}
		if diff := cmp.Diff(a.Rules, bare); diff != "" {
			t.Errorf("%s: rules without their sources (-want +got):\n%s", a.Name, diff)
		}
		if a.Name == "plan" {
			for rule, source := range map[string]string{"bash deny": "lathe.json:3:", "bash ask": "lathe.json:2:", "webfetch deny": "not trusted", "edit deny": "built into plan"} {
				if !strings.Contains(sources[rule], source) {
					t.Errorf("plan: %s comes from %q, want %q", rule, sources[rule], source)
				}
			}
		}
	}
}

// reply answers every ask the same way.
func reply(t *testing.T, w *world, s *session.Service, r lathe.Reply) (asked func() []lathe.Ask, stop func()) {
	sub := s.Subscribe(context.Background(), bus.Filter{})
	var mu sync.Mutex
	var wg sync.WaitGroup
	var list []lathe.Ask
	wg.Go(func() {
		for e, err := range sub.All() {
			if err != nil {
				return
			}
			if ask, ok := e.Event.(lathe.PermissionAsked); ok {
				mu.Lock()
				list = append(list, ask.Ask)
				mu.Unlock()
				if err := s.Instances.Reply(context.Background(), w.repo, ask.Ask.ID, r); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return func() []lathe.Ask { mu.Lock(); defer mu.Unlock(); return slices.Clone(list) }, func() { sub.Close(); wg.Wait() }
}

// TestApprovalsForTheProject gives an approval for the project in one process and
// expects it in the next, in this place alone, until it is revoked.
func TestApprovalsForTheProject(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"home/lathe/config/lathe.json": `{"permission": {"bash": "ask"}}`})
	asks := func(r lathe.Reply, command string) int {
		s, stop := w.playing(oneCall{"bash", "command"})
		defer stop()
		asked, done := reply(t, w, s, r)
		defer done()
		w.ask(s, w.create(s), command)
		return len(asked())
	}
	if n := asks(lathe.Reply{Kind: lathe.Always}, "git status"); n != 1 {
		t.Errorf("the first time it asks %d times", n)
	}
	again := 1
	if os.Getenv(enginetest.StoreVar) == "postgres" {
		again = 0 // on a store that servers share an approval outlives the process
	}
	if n := asks(lathe.Reply{Kind: lathe.Always, Project: true}, "git status"); n != again {
		t.Errorf("after an approval for the process it asks %d times, want %d", n, again)
	}
	if n := asks(lathe.Reply{Kind: lathe.Reject}, "git status -s"); n != 0 {
		t.Errorf("after an approval for the project it asks %d times", n)
	}
	if err := os.Rename(w.repo, w.repo+"2"); err != nil {
		t.Fatal(err)
	}
	old := w.repo
	w.repo += "2"
	if n := asks(lathe.Reply{Kind: lathe.Reject}, "git status"); n != 1 {
		t.Errorf("in another place it asks %d times", n)
	}
	w.repo = old
	if err := os.Rename(w.repo+"2", w.repo); err != nil {
		t.Fatal(err)
	}
	w.repo = filepath.Join(filepath.Dir(old), "forged")
	w.write(map[string]string{"forged/.git": "gitdir: .fake", "forged/.fake/commondir": old + "/.git", "forged/.fake/HEAD": "ref: refs/heads/main", "forged/.fake/gitdir": w.repo + "/.git"})
	if n := asks(lathe.Reply{Kind: lathe.Reject}, "git status"); n != 1 {
		t.Errorf("in a forged worktree it asks %d times", n)
	}
	w.repo = old
	w.write(map[string]string{"home/lathe/config/lathe.json": `{"permission": {"bash": "deny"}}`})
	if n := asks(lathe.Reply{Kind: lathe.Once}, "git status"); n != 0 {
		t.Errorf("a rule denies it, and yet it asks %d times", n)
	}
	w.write(map[string]string{"home/lathe/config/lathe.json": `{"permission": {"bash": "ask"}, "approvals": "project"}`})
	asks(lathe.Reply{Kind: lathe.Always}, "ls")
	if n := asks(lathe.Reply{Kind: lathe.Reject}, "ls -l"); n != 0 {
		t.Errorf("with approvals kept by configuration it asks %d times", n)
	}
}

// TestRejectionStopsTheTurn holds that a plain no ends the turn, and that
// continue_loop_on_deny lets it go on.
func TestRejectionStopsTheTurn(t *testing.T) {
	for _, row := range []struct {
		config  string
		blocked bool
	}{
		{`{"permission": {"bash": "ask"}}`, true},
		{`{"permission": {"bash": "ask"}, "experimental": {"continue_loop_on_deny": true}}`, false},
	} {
		w := newWorld(t)
		w.write(map[string]string{"home/lathe/config/lathe.json": row.config})
		s, stop := w.playing(oneCall{"bash", "command"})
		asked, done := reply(t, w, s, lathe.Reply{Kind: lathe.Reject})
		out := w.ask(s, w.create(s), "touch x")
		done()
		stop()
		if out.Blocked != row.blocked || len(asked()) != 1 {
			t.Errorf("%s: blocked %t, %d asks", row.config, out.Blocked, len(asked()))
		}
		if _, err := os.Stat(filepath.Join(w.repo, "x")); err == nil {
			t.Error("a rejected command ran")
		}
	}
}

// TestHiddenTools holds which tools a model is shown.
func TestHiddenTools(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"home/lathe/config/lathe.json": `{"permission": {"bash": "deny", "edit": {"*": "deny", "docs/*": "allow"}}}`})
	s, stop := w.playing(oneCall{"read", "filePath"})
	defer stop()
	w.ask(s, w.create(s), filepath.Join(w.repo, "main.go"))
	if slices.Contains(w.tools, "bash") || !slices.Contains(w.tools, "edit") || !slices.Contains(w.tools, "read") {
		t.Errorf("tools %v", w.tools)
	}
	if !permission.Hidden("bash", w.instance().Agents.All()[0].Rules) {
		t.Error("bash is not hidden")
	}
}

// TestSystemOfAPrompt holds that a request's own system text is added for the
// turn it came with, and for no other.
func TestSystemOfAPrompt(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"read", "filePath"})
	defer stop()
	id := w.create(s)
	for _, extra := range []string{"Answer in rhyme.", ""} {
		_, run, err := s.Prompt(t.Context(), id, session.Prompt{
			Model: lathe.ModelRef{Provider: "script", Model: "x"}, System: extra, Parts: []lathe.PartBody{&lathe.Text{Text: filepath.Join(w.repo, "main.go")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last := w.system[len(w.system)-1]; strings.HasSuffix(last, "Answer in rhyme.") != (extra != "") || len(w.system) > 2 {
			t.Errorf("with %q the system prompt ends with %.80q in %d blocks", extra, last[max(0, len(last)-80):], len(w.system))
		}
	}
}
