package events

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
)

// However long a text is, what is added to it goes out at once; all of it is repeated more
// seldom, and is whole when anything else comes.
func TestLongTextsStreamSmoothly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New(bus.Options{})
		defer b.Close()
		s := New(Options{Bus: b})
		defer s.Close()
		sub := b.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})
		defer sub.Close()
		st := newStream(s, fankey{})
		st.reach = func(uint64) {}
		var out strings.Builder
		st.sink = func(o wire.Output) error { _, err := o.WriteTo(&out); return err }
		send := func(ev lathe.Event) {
			t.Helper()
			b.Publish("/p", ev)
			env, err := sub.Next(t.Context())
			if err == nil {
				err = st.send(env)
			}
			if err == nil {
				err = st.release(time.Now(), false)
			}
			if err == nil {
				err = st.flush()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		body := &lathe.Text{Text: strings.Repeat("long ", partRate/5*2), Time: lathe.Span{Start: time.Now()}}
		send(lathe.PartUpdated{Part: lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: "ses_1", Body: body}})
		out.Reset()
		text, whole := body.Text, 0
		const deltas = 50
		heard := body.Text
		for range deltas {
			time.Sleep(partEvery)
			text += "more "
			send(lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_1", PartID: "prt_1", Delta: "more "})
			added, repeated := framesIn(t, out.String())
			out.Reset()
			if heard += added; heard != text {
				t.Fatalf("%d of %d bytes are heard", len(heard), len(text))
			}
			if repeated != "" {
				whole++
			}
		}
		if whole != 1 {
			t.Errorf("all of the text was sent %d times in %v", whole, deltas*partEvery)
		}
		send(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
		if _, repeated := framesIn(t, out.String()); repeated != text {
			t.Errorf("before another event, %d of %d bytes are sent", len(repeated), len(text))
		}
	})
}

// framesIn returns the deltas in frames, and the text of the last whole part.
func framesIn(t *testing.T, raw string) (added, whole string) {
	t.Helper()
	for line := range strings.Lines(raw) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var f struct {
			Type       string
			Properties struct {
				Delta string
				Part  struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			t.Fatal(err)
		}
		switch f.Type {
		case "message.part.delta":
			added += f.Properties.Delta
		case "message.part.updated":
			whole = f.Properties.Part.Text
		}
	}
	return added, whole
}
