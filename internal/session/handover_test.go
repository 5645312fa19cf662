package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// A service that hands its turns over leaves a turn when its step is over, and says which
// prompt another has to go on with; a turn with limits of its own ends here.
func TestHandOver(t *testing.T) {
	for name, tt := range map[string]struct {
		limits bool
		want   error
	}{
		"between two steps": {want: session.ErrLeft},
		"with limits":       {limits: true},
	} {
		t.Run(name, func(t *testing.T) {
			var p *play
			var passed []lathe.MessageID
			var steps atomic.Int32
			began := make(chan struct{})
			p = newPlay(t, map[string]string{"repo/a.txt": "x"}, func(*llm.Request) say {
				if steps.Add(1) > 1 {
					return say{text: "done"}
				}
				<-began
				p.svc.Turns.HandOver(session.HandOver{Pass: func(_ context.Context, _ lathe.Session, prompt lathe.MessageID) error {
					passed = append(passed, prompt)
					return nil
				}})
				return say{calls: []use{{"read", args{"filePath": "a.txt"}}}}
			}).open()
			id := p.session()
			in := session.Prompt{Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}}
			if tt.limits {
				in.Limits.Steps = 10
			}
			m, run, err := p.svc.Prompt(t.Context(), id, in)
			if err != nil {
				t.Fatal(err)
			}
			close(began)
			_, err = run.Wait(t.Context())
			if !errors.Is(err, tt.want) {
				t.Errorf("ended with %v", err)
			}
			want := []lathe.MessageID{m.ID}
			if tt.want == nil {
				want = nil
			}
			if diff := cmp.Diff(want, passed); diff != "" {
				t.Errorf("handed over (-want +got):\n%s", diff)
			}
			if got := p.svc.Turns.Left(id); got != (tt.want != nil) {
				t.Errorf("left: %v", got)
			}
			if p.svc.Status(id) != (lathe.Idle{}) {
				t.Error("it is busy here")
			}
		})
	}
}
