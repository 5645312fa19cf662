package permission

import (
	"context"
	"slices"
	"testing"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/tool"
)

// team is what several services share.
type team struct {
	rules   []lathe.Rule
	project []lathe.Rule // of them, for good
	looks   int
	away    bool
}

func (m *team) Allowed(context.Context) ([]lathe.Rule, error) {
	m.looks++
	if m.away {
		return nil, store.ErrAway
	}
	return slices.Clone(m.rules), nil
}

func (m *team) Allow(_ context.Context, rules []lathe.Rule, project bool) error {
	if project {
		m.project = append(m.project, rules...)
	}
	m.rules = append(m.rules, rules...)
	return nil
}

// What is allowed on one server holds on the others, until it is taken back on any of them.
func TestSharedApprovals(t *testing.T) {
	shared := &team{}
	reply := lathe.Reply{Kind: lathe.Always}
	asked := 0
	server := func() *Service {
		return New(Options{Shared: shared, Decide: func(a lathe.Ask) (lathe.Reply, bool) {
			if asked++; a.Metadata[tool.MetaShared] != true {
				t.Errorf("faces are not told that it is shared: %v", a.Metadata)
			}
			return reply, true
		}})
	}
	a, b := server(), server()
	ask := func(s *Service, pattern, offers string, rules ...lathe.Rule) {
		t.Helper()
		err := s.Ask(t.Context(), AskInput{
			SessionID: "ses_1", Request: tool.Request{Permission: "bash", Patterns: []string{pattern}, Always: []string{offers}},
			Policy: Policy{Rules: append([]lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.AskMe}}, rules...)},
		})
		if err != nil {
			t.Error(err)
		}
	}
	times := func(what string, want, looks int) {
		t.Helper()
		if asked != want || shared.looks != looks {
			t.Errorf("%s: asked %d times and looked %d times, want %d and %d", what, asked, shared.looks, want, looks)
		}
		asked, shared.looks = 0, 0
	}
	ask(b, "make", "make *", lathe.Rule{Permission: "bash", Pattern: "make", Action: lathe.Allow})
	times("what rules allow", 0, 0)
	ask(a, "make", "make *")
	times("the first time", 1, 1)
	ask(b, "make all", "make *")
	ask(server(), "make test", "make *")
	times("elsewhere", 0, 2)
	shared.away = true
	ask(b, "make", "make *")
	times("while it cannot be looked up", 0, 1)
	shared.away, shared.rules = false, nil
	ask(b, "make", "make *")
	times("taken back", 1, 1)
	reply.Project = true
	ask(a, "go test", "go test *")
	times("for the project", 1, 1)
	if want := []lathe.Rule{{Permission: "bash", Pattern: "go test *", Action: lathe.Allow}}; !slices.Equal(shared.project, want) {
		t.Errorf("kept for the project: %v", shared.project)
	}
}
