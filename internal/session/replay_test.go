package session_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/turn"
	"lathe/internal/window"
)

// checkReplay compares every request that the model got with what replay shows of it,
// and returns the overview.
func (p *play) checkReplay(id lathe.SessionID) api.Replay {
	p.t.Helper()
	all, err := p.svc.Windows.Replay(p.t.Context(), id, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	asked := p.asked()
	if all.Count != len(asked) || len(all.Steps) != len(asked) {
		p.t.Fatalf("%d requests of %d, but the model got %d", len(all.Steps), all.Count, len(asked))
	}
	for i := range asked {
		one, err := p.svc.Windows.Replay(p.t.Context(), id, i+1)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(one.Steps) != 1 || one.Steps[0].Request == nil {
			p.t.Fatalf("request %d: %+v", i+1, one.Steps)
		}
		if diff := cmp.Diff(window.Request(&asked[i]), one.Steps[0].Request); diff != "" {
			p.t.Errorf("request %d of %d (-sent +replayed):\n%s", i+1, len(asked), diff)
		}
		if i > 0 {
			before, now := asked[i-1], asked[i]
			if diff := cmp.Diff(window.Changed(&before, &now), all.Steps[i].Change, cmp.FilterPath(func(path cmp.Path) bool { return path.Last().String() == ".Because" }, cmp.Ignore())); diff != "" {
				p.t.Errorf("what changed with request %d (-sent +replayed):\n%s", i+1, diff)
			}
		}
	}
	return all
}

// TestReplay holds that replay shows what the model was sent, over turns with calls,
// prunes, a compaction, restarts, other agents, empty answers, limits, and with nobody
// there.
func TestReplay(t *testing.T) {
	p, _ := readerPlay(t, 12, func() say { return say{text: goodSummary} })
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "Read all files. Never touch main.go."); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	p.serve()
	var empty bool
	p.answer = func(req *llm.Request) say {
		if asksSummary(req) {
			return say{text: goodSummary}
		}
		if !empty && strings.Contains(last(req), "say nothing") {
			empty = true
			return say{}
		}
		if strings.Contains(last(req), "look") {
			return say{text: "I look", calls: []use{{"glob", args{"pattern": "*.go"}}}}
		}
		return say{text: "done"}
	}
	writeFile(t, filepath.Join(p.dir, "AGENTS.md"), "Use tabs.\n") // each window has its own system prompt
	p.prompt(id, session.Prompt{}, "say nothing")
	if err := p.svc.Summarize(t.Context(), id, lathe.ModelRef{}, false); err != nil {
		t.Fatal(err)
	}
	p.prompt(id, session.Prompt{Agent: "plan"}, "look around")
	deny := []lathe.Rule{{Permission: "question", Pattern: "*", Action: lathe.Deny}}
	p.prompt(id, session.Prompt{Rules: deny, Limits: turn.Limits{Steps: 1}}, "look again")
	p.serve()
	p.prompt(id, session.Prompt{}, "and with a person")

	all := p.checkReplay(id)
	var kinds, because []string
	for _, s := range all.Steps {
		if s.Kind != "step" {
			kinds = append(kinds, s.Kind)
		}
		if s.Change != nil && s.Change.Because != "" {
			because = append(because, s.Change.Because)
		}
	}
	if len(kinds) == 0 || !strings.Contains(strings.Join(because, " "), "compaction") {
		t.Errorf("kinds %q, because %q: no compaction is told", kinds, because)
	}
	for _, s := range all.Steps {
		if s.Kind == "step" && len(s.Notes) > 0 {
			t.Errorf("request %d has notes: %q", s.Number, s.Notes)
		}
	}
	_, err := p.svc.Windows.Replay(t.Context(), id, all.Count+1)
	if lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("a request that there is not: %v", err)
	}
}

// TestReplayOfAPrune holds that outputs are shown where the model still saw them, and
// cleared from the request on that no longer had them.
func TestReplayOfAPrune(t *testing.T) {
	p, _ := readerPlay(t, 12, func() say { return say{text: goodSummary} })
	writeFile(t, filepath.Join(p.dir, "opencode.json"), strings.Replace(smallWindow, "false", "true", 1))
	id := p.session()
	p.prompt(id, session.Prompt{}, "Read all files.")
	prunes := 0
	for _, s := range p.checkReplay(id).Steps {
		if s.Change != nil && s.Change.Because == "prune" {
			prunes++
		}
	}
	stats, err := p.svc.Windows.Stats(t.Context(), id)
	if err != nil || prunes == 0 || prunes != stats.Prunes {
		t.Errorf("replay tells of %d prunes, there were %d, %v", prunes, stats.Prunes, err)
	}
}
