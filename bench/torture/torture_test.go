package main

import (
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if asLathe() {
		return
	}
	os.Exit(m.Run())
}

// TestTorture is the short form: some rounds of each kind, by a fixed seed. The
// long form is the program.
func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many servers")
	}
	for what, rounds := range map[string]int{"kill": 4, "race": 10, "disk": 25, "fault": 10, "injure": 25, "hostile": 100} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := torture(t.Context(), options{rounds: rounds, seed: 20_000, what: what, out: &out}); err != nil {
				t.Errorf("%v\n%s", err, &out)
			}
			t.Log(out.String())
		})
	}
}

// TestCheckerSees gives the checker what no store should hold.
func TestCheckerSees(t *testing.T) {
	part := func(id, text, status string) toldPart {
		p := toldPart{ID: id, SessionID: "s", MessageID: "m", Type: "text", Text: text}
		p.State.Status = status
		return p
	}
	whole := part("p2", "all", "")
	whole.Time.End = 1
	for kind, stored := range map[string][]toldPart{
		"":          {part("p1", "begun and more", ""), whole, part("p3", "", "completed")},
		"lost":      {part("p1", "begun", ""), part("p3", "", "completed")},
		"changed":   {part("p1", "other", ""), whole, part("p3", "", "completed")},
		"doubled":   {part("p1", "begun", ""), whole, whole, part("p3", "", "completed")},
		"order":     {whole, part("p1", "begun", ""), part("p3", "", "completed")},
		"open call": {part("p1", "begun", ""), whole, part("p3", "", "completed"), part("p4", "", "running")},
		"prompt":    {part("p1", "begun", ""), whole, part("p3", "", "completed")},
	} {
		var out strings.Builder
		r := &rig{report: &report{out: &out}, told: newTold()}
		for _, p := range []toldPart{part("p1", "begun", ""), whole, part("p3", "", "completed")} {
			r.told.parts[p.ID] = p
			r.told.order["m"] = append(r.told.order["m"], p.ID)
		}
		if kind == "prompt" {
			r.told.acknowledged(7, "s")
		}
		m := message{Parts: stored}
		m.Info.ID, m.Info.Role = "m", "assistant"
		m.Info.Time.Completed = 1
		r.compare("s", []message{m}, true)
		if kind == "" && r.violations > 0 || kind != "" && (r.violations != 1 || r.kinds[kind] != 1) {
			t.Errorf("%q: %v\n%s", kind, r.kinds, &out)
		}
	}
}
