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
