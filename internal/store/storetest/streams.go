package storetest

import (
	"fmt"
	"lathe"
	"lathe/internal/store"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testAppendText(t *testing.T, u Under) {
	at := u.at(t)
	s, ctx := at.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, Assistant(ses, "msg_1", lathe.Assistant{})))
	p := openText(ses, "msg_1", "prt_1")
	p.Body.(*lathe.Text).Text = "so: "
	must(t, s.PutPart(ctx, p))
	read := func(s *Opened) string {
		t.Helper()
		m, err := s.Message(ctx, ses, "msg_1")
		must(t, err)
		return m.Parts[0].Body.(*lathe.Text).Text
	}
	equal(t, "so: ", read(s))
	must(t, s.AppendText(ctx, "prt_1", 4, "grün"))
	must(t, s.AppendText(ctx, "prt_1", 4, "grün")) // repeated
	must(t, s.AppendText(ctx, "prt_1", 6, "ün und blau"))
	equal(t, "so: grün und blau", read(s))
	if err := s.AppendText(ctx, "prt_1", 99, "x"); err == nil {
		t.Error("a gap was accepted")
	}
	// Another process goes on where this one stopped.
	other := at.open(t)
	must(t, other.AppendText(ctx, "prt_1", int64(len("so: grün und blau")), "!"))
	equal(t, "so: grün und blau!", read(other))

	p.Body = &lathe.Text{Text: "so: grün und blau!", Time: lathe.Span{Start: epoch, End: epoch}}
	must(t, s.PutPart(ctx, p))
	equal(t, "so: grün und blau!", read(s))
	nothingLeft(t, s)
	for _, id := range []lathe.PartID{"prt_1", "prt_9"} {
		if err := s.AppendText(ctx, id, 0, "x"); err == nil {
			t.Errorf("append to %s was accepted", id)
		}
	}
}

// What a tool showed before its process was killed is in the part that is closed
// for it, which says that it was interrupted.
func testProgressSurvives(t *testing.T, u Under) {
	ctx := t.Context()
	at := u.at(t)
	s := at.open(t)
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, Assistant(ses, "msg_1", lathe.Assistant{})))
	must(t, s.PutPart(ctx, runningCall(ses, "prt_1", "", nil)))
	var shown *lathe.Part
	for i := range 50 {
		shown = runningCall(ses, "prt_1", fmt.Sprint("t", i/40), map[string]any{"output": strings.Repeat("линия\n", i), "description": "d"})
		must(t, s.SaveProgress(ctx, shown))
	}
	other := at.open(t) // a process that looks on, then one that comes after
	m, err := other.Message(ctx, ses, "msg_1")
	must(t, err)
	shown.Seq = 1
	if diff := cmp.Diff([]lathe.Part{*shown}, m.Parts); diff != "" {
		t.Errorf("seen from outside (-want +got):\n%s", diff)
	}
	parts, err := other.Recover(ctx, ses, other.Self)
	must(t, err)
	want := *shown
	want.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolFailed{
		Input: []byte(`{}`), Error: store.Interrupted, Interrupted: true, Time: lathe.Span{Start: epoch, End: epoch},
		Metadata: map[string]any{"output": strings.Repeat("линия\n", 49), "description": "d"},
	}}
	if diff := cmp.Diff([]lathe.Part{want}, parts); diff != "" {
		t.Errorf("recovered (-want +got):\n%s", diff)
	}
	nothingLeft(t, other)
	// The process that believed it was still running is too late, also with what no longer fits.
	for i := range 60 {
		late := runningCall(ses, "prt_1", "", map[string]any{"output": strings.Repeat(fmt.Sprintf("%d,", i), 10_000)})
		must(t, s.SaveProgress(ctx, late))
	}
	if m, err = other.Message(ctx, ses, "msg_1"); err != nil || !cmp.Equal(m.Parts, []lathe.Part{want}) {
		t.Errorf("changed after the end: %v, %v", m.Parts, err)
	}
	_, err = other.Sweep(ctx)
	must(t, err)
	nothingLeft(t, other)
}

// A reader that runs beside the writer of an open text sees prefixes that only
// grow, also at the moment the row takes the text over.
func testReadWhileStreaming(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, Assistant(ses, "msg_1", lathe.Assistant{})))
	const parts, pieces = 40, 5
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			longest := map[lathe.PartID]int{}
			for {
				m, err := s.Message(ctx, ses, "msg_1")
				if err != nil {
					t.Error(err)
					return
				}
				for _, p := range m.Parts {
					got := p.Body.(*lathe.Text).Text
					if len(got) < longest[p.ID] || got != strings.Repeat("piece", len(got)/5) {
						t.Errorf("%s went from %d bytes to %q", p.ID, longest[p.ID], got)
						return
					}
					longest[p.ID] = len(got)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range parts {
		p := openText(ses, "msg_1", fmt.Sprintf("prt_%d", i))
		must(t, s.PutPart(ctx, p))
		for j := range pieces {
			must(t, s.AppendText(ctx, p.ID, int64(5*j), "piece"))
		}
		p.Body = &lathe.Text{Text: strings.Repeat("piece", pieces), Time: lathe.Span{Start: epoch, End: epoch}}
		must(t, s.PutPart(ctx, p))
	}
	close(done)
	wg.Wait()
}
