package session_test

import (
	"context"
	"slices"
	"testing"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/tool"
)

// lateTool is a tool of a plugin that joins late.
type lateTool struct{}

func (lateTool) Spec() tool.Spec {
	return tool.Spec{Name: "late", Description: "joins late", Schema: []byte(`{"type":"object"}`)}
}

func (lateTool) Run(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{Output: "ran late"}, nil
}

// A plugin that is ready only after the directory's tools were made has its tools offered
// from the next window on: an open one keeps the bytes that providers cache.
func TestLateToolsAreOfferedFromTheNextWindow(t *testing.T) {
	p, _ := readerPlay(t, 0, func() say { return say{text: goodSummary} })
	open := p.session()
	inst, err := p.svc.Instance(t.Context(), p.dir)
	if err != nil {
		t.Fatal(err)
	}
	var ready []tool.Tool
	inst.Tools.Now = func() []tool.Tool { return ready }
	offered := func(id lathe.SessionID, text string) []string {
		t.Helper()
		if out := p.prompt(id, session.Prompt{}, text); out.Failure != nil {
			t.Fatalf("failure %v", out.Failure)
		}
		var names []string
		for _, r := range p.asked() {
			if len(r.Tools) == 0 {
				continue // a title or a summary
			}
			names = nil
			for _, one := range r.Tools {
				names = append(names, one.Name)
			}
		}
		return names
	}
	before := offered(open, "one")
	ready = []tool.Tool{lateTool{}}
	if got := offered(open, "two"); !slices.Equal(got, before) {
		t.Errorf("the open window has %v, had %v", got, before)
	}
	if specs := inst.Tools.Specs(); specs[len(specs)-1].Name != "late" {
		t.Errorf("clients are told of %+v", specs)
	}
	if got := offered(p.session(), "three"); !slices.Contains(got, "late") {
		t.Errorf("a new session is offered %v", got)
	}
	p.prompt(open, session.Prompt{Parts: []lathe.PartBody{&lathe.CompactionMark{}}})
	if got := offered(open, "four"); !slices.Contains(got, "late") {
		t.Errorf("after a compaction: %v", got)
	}
}
