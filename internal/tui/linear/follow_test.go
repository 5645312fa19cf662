package linear

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/tui/engine"
)

// far is an engine at the other end of a connection.
type far struct {
	*fake
	updates chan engine.Update
	history []lathe.Message
	status  lathe.Status
}

func (f *far) Follow(ctx context.Context) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		for {
			select {
			case u := <-f.updates:
				if !yield(u, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
func (f *far) History(context.Context, lathe.SessionID, int64, int) ([]lathe.Message, error) {
	return f.history, nil
}
func (f *far) Status(context.Context, lathe.SessionID) lathe.Status { return f.status }

// After a break what was missed is told, and what was told is not told again.
func TestBreak(t *testing.T) {
	const id = "ses_1"
	ask := lathe.Ask{ID: "per_1", SessionID: id, Permission: "bash", Patterns: []string{"x"}}
	text := func(part, text string, closed bool) lathe.Part {
		b := &lathe.Text{Text: text}
		if closed {
			b.Time.End = time.Unix(1, 0)
		}
		return lathe.Part{ID: lathe.PartID(part), MessageID: lathe.MessageID("msg_" + part), SessionID: id, Body: b}
	}
	message := func(seq int64, parts ...lathe.Part) lathe.Message {
		return lathe.Message{ID: parts[0].MessageID, SessionID: id, Seq: seq, Info: &lathe.Assistant{}, Parts: parts}
	}
	f := &far{fake: &fake{}, updates: make(chan engine.Update), status: lathe.Busy{}, history: []lathe.Message{message(7, text("old", "Said before.\n\nOpen", false))}}
	p := meetFar(t, f, Options{Session: id})
	p.hears("lathe: Said before.", "Open", "It is working.")
	send := func(list ...engine.Update) {
		for _, u := range list {
			f.updates <- u
		}
	}
	event := func(e lathe.Event) engine.Update { return engine.Update{Envelope: lathe.Envelope{Event: e}} }
	send(engine.Update{Link: &engine.Link{Up: true}}, // what came while the session was read
		event(lathe.PartDelta{SessionID: id, PartID: "old", Delta: "\n\nOpen", End: 18}),
		event(lathe.PartDelta{SessionID: id, PartID: "old", Delta: " end.\n\nHalf", End: 29}))
	p.hears(" end.")
	send(event(lathe.PermissionAsked{Ask: ask}))
	p.hears("Permission needed", "Type a number")

	send(engine.Update{Link: &engine.Link{}}, engine.Update{Link: &engine.Link{}}, engine.Update{Link: &engine.Link{Up: true}})
	p.hears("The connection is lost. Trying again.\nThe connection is back.\n")
	f.history = []lathe.Message{message(3, text("ancient", "Ancient.", true)), message(7, text("old", "Said before.\n\nOpen end.\n\nHalf told.", true)), message(9, text("new", "Missed.\n\nAnd", false))}
	send(engine.Update{Link: &engine.Link{}}, engine.Update{Link: &engine.Link{Up: true, Lost: true}})
	p.hears("lost", "back", "Half told.\nMissed.\nAnswered elsewhere.\n")
	send(event(lathe.PartDelta{SessionID: id, PartID: "new", Delta: "And", End: 12}), event(lathe.PartDelta{SessionID: id, PartID: "new", Delta: " more.\n\n", End: 20}))
	p.hears("And more.")

	f.status = lathe.Idle{}
	f.history = []lathe.Message{message(9, text("new", "Missed.\n\nAnd more.\n\nEnd.", true))}
	send(engine.Update{Link: &engine.Link{}}, engine.Update{Link: &engine.Link{Up: true, Lost: true}})
	p.hears("back", "End.\nDone after")
	send(engine.Update{Link: &engine.Link{}}, engine.Update{Link: &engine.Link{Up: true, Lost: true}})
	p.hears("back")
	p.says("/help")
	p.hears("Commands:")
	p.leaves()
	for _, once := range []string{"Said before.", "Half told.", "Missed.", "And more.", "End.", "Done after"} {
		if n := strings.Count(p.out.text(), once); n != 1 {
			t.Errorf("%q is told %d times:\n%s", once, n, p.out.text())
		}
	}
	if strings.Contains(p.out.text(), "Ancient") {
		t.Errorf("what was before is told:\n%s", p.out.text())
	}
}
