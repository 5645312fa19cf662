package session_test

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// A model is told once that nobody can answer, and once that somebody is there again;
// a subagent is told as well.
func TestModelIsToldWhetherAnybodyIsThere(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		if strings.HasPrefix(last(req), "delegate") {
			return say{calls: []use{{"task", args{"description": "x", "prompt": "look", "subagent_type": "general"}}}}
		}
		return say{text: "ok"}
	}).open()
	alone := session.Prompt{Rules: []lathe.Rule{{Permission: "question", Pattern: "*", Action: lathe.Deny}}}
	const nobody, somebody = "Nobody is there to answer in this run.", "A person is there again"
	id := p.session()
	count := func(what string) int {
		reqs := p.asked()
		req := reqs[len(reqs)-1]
		return strings.Count(strings.Join(req.System, "\n")+said(req.Messages), what)
	}
	p.prompt(id, alone, "one")
	p.prompt(id, alone, "two")
	if n := count(nobody); n != 1 {
		t.Errorf("told %d times that nobody is there", n)
	}
	p.prompt(id, session.Prompt{}, "three")
	if count(nobody) != 1 || count(somebody) != 1 {
		t.Errorf("told %d and %d times", count(nobody), count(somebody))
	}
	p.prompt(id, alone, "delegate")
	told := 0
	for _, req := range p.asked() {
		if strings.Contains(said(req.Messages), "look") && strings.Contains(said(req.Messages), nobody) {
			told++
		}
	}
	if told == 0 {
		t.Error("the subagent was not told")
	}
}
