package forward

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

// ahead is another server that had published up to a number when it answers, by mail or for
// queued work.
type ahead struct {
	store.Mail
	store.Queue
	at int64
}

func (o ahead) answer() ([]byte, error) {
	return json.Marshal(answer{Status: 200, Body: []byte("true"), At: o.at})
}

func (o ahead) Send(context.Context, store.Owner, []byte) ([]byte, error) { return o.answer() }
func (o ahead) Answer(context.Context, int64) ([]byte, error)             { return o.answer() }

// An answer of another server waits for the events of what it answers, but not for ever. What
// only reads waits for nothing, and neither does an answer of a server that does not say.
func TestAnswerComesAfterItsEvents(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		at           int64
		told         time.Duration // when the events are told here; 0: never
		want         time.Duration
		calls        int
	}{
		{"events follow", "POST", 7, 39 * time.Millisecond, 40 * time.Millisecond, 1},
		{"events are there", "POST", 3, 0, 0, 1},
		{"events never come", "POST", 7, 0, settleTime, 1},
		{"an older server", "POST", 0, 0, 0, 1},
		{"a read", "GET", 7, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := bus.New(bus.Options{})
				b.PublishNumbered("/d", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, 3)
				o := ahead{at: tt.at}
				f := New(Options{Bus: b, Store: &store.Store{Mail: o, Queue: o}, Log: slog.New(slog.DiscardHandler)})
				defer f.Close()
				if tt.told > 0 {
					time.AfterFunc(tt.told, func() {
						b.Relay("/d", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}, 7)
					})
				}
				r := httptest.NewRequestWithContext(t.Context(), tt.method, "/session/ses_1/message", nil)
				begin := time.Now()
				w := httptest.NewRecorder()
				told := 0
				x := &exchange{w: w, r: r, dir: "/d", told: func(dir string) {
					told++
					if dir != "/d" || w.Body.Len() > 0 || time.Since(begin) != tt.want {
						t.Errorf("told after %v, with the answer %q", time.Since(begin), w.Body)
					}
				}}
				if err := f.pass(x, other); err != nil || w.Body.String() != "true" || told != tt.calls {
					t.Errorf("passed on: %v, %q, told %d times", err, w.Body, told)
				}
				if took := time.Since(begin); took != tt.want {
					t.Errorf("the answer came after %v, want %v", took, tt.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		o := ahead{at: 7}
		b := bus.New(bus.Options{})
		f := New(Options{Bus: b, Store: &store.Store{Mail: o, Queue: o}, Log: slog.New(slog.DiscardHandler)})
		defer f.Close()
		time.AfterFunc(19*time.Millisecond, func() { b.Reached(7) })
		begin := time.Now()
		if _, err := f.answered(t.Context(), 1); err != nil || time.Since(begin) != 20*time.Millisecond {
			t.Errorf("queued work is answered after %v, %v", time.Since(begin), err)
		}
	})
}
