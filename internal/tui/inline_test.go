package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/styled"
)

// TestFlow streams an answer and holds that every line of it is handed over once.
func TestFlow(t *testing.T) {
	d := withHistory(t, Options{Inline: true}, question(1, "go"))
	var out []string
	flow := func() {
		for _, l := range d.app.flow() {
			out = append(out, strings.TrimRight(l.Text(), " "))
		}
	}
	flow()
	m := reply(2)
	m.Info.(*lathe.Assistant).Completed = time.Time{}
	text := part(m, 1, &lathe.Text{})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: text})
	full := ""
	for i := range 30 {
		delta := fmt.Sprintf("Paragraph %d of **text** 漢字.\n\n- a\n- b\n\n", i)
		full += delta
		d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: text.ID, Delta: delta})
		if i == 10 {
			d.send(tea.WindowSizeMsg{Width: 60, Height: 20})
		}
		flow()
		if n := len(d.app.region().Lines); n >= d.app.height {
			t.Fatalf("the region has %d of %d lines", n, d.app.height)
		}
	}
	queued := question(3, "and this")
	d.event(lathe.MessageUpdated{Message: queued}, lathe.PartUpdated{Part: queued.Parts[0]})
	flow()
	if strings.Contains(strings.Join(out, "\n"), "and this") || !strings.Contains(styled.Join(d.app.region().Lines...).Text(), "queued") {
		t.Error("what is queued is handed over")
	}
	text.Body = &lathe.Text{Text: full, Time: lathe.Span{End: time.Unix(2, 0)}}
	d.event(lathe.PartUpdated{Part: text}, lathe.MessageUpdated{Message: reply(2)}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	flow()
	flow()
	want := []string{"", " -- A title --", "", " ▌ go", ""}
	want[1] = " ── A title ──"
	for i := range 30 {
		want = append(want, fmt.Sprintf("   Paragraph %d of text 漢字.", i), "", "   • a", "   • b", "")
	}
	want = append(want, "   build · acme/big · 3s", "", " ▌ and this")
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("scrollback (-want +got):\n%s", diff)
	}
}

// TestFlowStanding holds that what the person has to know of where the newest
// messages stand is in the region, as long as it holds, and never in the scrollback,
// where it could not be taken back.
func TestFlowStanding(t *testing.T) {
	half := reply(2, &lathe.Text{Text: "half an ans"})
	half.Info.(*lathe.Assistant).Completed = time.Time{}
	d := withHistory(t, Options{Inline: true}, question(1, "go"), half)
	texts := func(lines []styled.Line) string {
		var out []string
		for _, l := range lines {
			out = append(out, l.Text())
		}
		return strings.Join(out, "\n")
	}
	var scrollback string
	check := func(name string, shown, hidden []string) {
		t.Helper()
		scrollback += texts(d.app.flow())
		region := texts(d.app.region().Lines)
		for _, s := range shown {
			if !strings.Contains(region, s) {
				t.Errorf("%s: the region does not show %q:\n%s", name, s, region)
			}
		}
		for _, s := range hidden {
			if strings.Contains(region, s) {
				t.Errorf("%s: the region shows %q:\n%s", name, s, region)
			}
		}
		if strings.Contains(scrollback, "not answered") || strings.Contains(scrollback, "not finished") {
			t.Errorf("%s: the scrollback holds what may change:\n%s", name, scrollback)
		}
	}
	check("nobody writes on", []string{"not finished"}, []string{"not answered"})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	check("it is written on", nil, []string{"not finished"})
	d.event(lathe.MessageUpdated{Message: reply(2)}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	behind := question(3, "and this")
	d.event(lathe.MessageUpdated{Message: behind}, lathe.PartUpdated{Part: behind.Parts[0]})
	check("the turn ended before it was taken up", []string{"not answered"}, []string{"not finished"})
	if !strings.Contains(scrollback, "and this") {
		t.Errorf("what was asked is not in the scrollback:\n%s", scrollback)
	}
	answer := reply(4, &lathe.Text{Text: "here it is"})
	d.event(lathe.MessageUpdated{Message: answer}, lathe.PartUpdated{Part: answer.Parts[0]})
	check("it was answered", nil, []string{"not answered", "not finished"})
}
