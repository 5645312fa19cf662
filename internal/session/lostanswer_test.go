package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/enginetest"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/store/storetest"
)

// A turn that cannot record its end, because its process was paused or had no store, adds nothing
// to a session that another server has closed meanwhile.
func TestNoAnswerInALostSession(t *testing.T) {
	for name, early := range map[string]bool{"closed before it fails": true, "closed after that": false} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, nil, func(*llm.Request) say {
				return say{calls: []use{{"bash", args{"command": "touch began; until [ -e go ]; do sleep 0.02; done", "description": "wait"}}}}
			})
			p.open()
			s, err := p.svc.Create(t.Context(), session.Create{Directory: p.dir, Title: "named", Rules: []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Allow}}})
			if err != nil {
				t.Fatal(err)
			}
			other, err := enginetest.Open(t.Context(), enginetest.Options{Env: p.env})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := other.Close(); err != nil {
					t.Error(err)
				}
			}()
			var want []string
			takeOver := func() {
				if err := other.Store.BreakLease(t.Context(), s.ID); err != nil {
					t.Fatal(err)
				}
				if _, err := (storetest.Store{Store: other.Store}).Recover(t.Context(), s.ID, store.Owner{ID: "other"}); err != nil {
					t.Fatal(err)
				}
				want = p.story(s.ID)
			}
			_, run := p.send(s.ID, "go")
			p.await("began")
			if early {
				takeOver()
			}
			late := context.DeadlineExceeded
			p.fault.Store(&late)
			if err := os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := run.Wait(t.Context()); errors.Is(err, store.ErrLost) != early {
				t.Errorf("the turn ended with %v", err)
			}
			if !early {
				takeOver()
			}
			p.fault.Store(nil)
			if err := p.svc.Close(); err != nil { // what is owed is stored now, if not before
				t.Error(err)
			}
			if diff := cmp.Diff(want, p.story(s.ID)); diff != "" {
				t.Errorf("the session (-closed +now):\n%s", diff)
			}
		})
	}
}

// await waits until a file is there.
func (p *play) await(name string) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s is not there", name)
		}
	}
}
