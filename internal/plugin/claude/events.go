package claude

import (
	"context"
	"os"
	"sync"
	"time"

	"lathe"
	"lathe/internal/plugin"
)

// event calls the hooks for what happens beside a turn.
func (s *Set) event(ctx context.Context, env lathe.Envelope) error {
	switch ev := env.Event.(type) {
	case lathe.PermissionAsked:
		name := ev.Ask.Permission
		if known, ok := names[name]; ok {
			name = known
		}
		return s.notify(ctx, ev.Ask.SessionID, "permission_prompt", "lathe needs your permission to use "+name)
	case lathe.QuestionAsked:
		return s.notify(ctx, ev.Ask.SessionID, "elicitation_dialog", "lathe asks you a question")
	case lathe.SessionStatus:
		_, idle := ev.Status.(lathe.Idle)
		s.waiting(ev.SessionID, idle && s.o.Owner(ctx, ev.SessionID) == ev.SessionID)
	case lathe.SessionDeleted:
		s.waiting(ev.Session.ID, false)
		return s.end(ctx, ev.Session.ID, "clear")
	}
	return plugin.ErrNotMeant
}

func (s *Set) notify(ctx context.Context, id lathe.SessionID, kind, message string) error {
	_, err := s.fire(ctx, Notification, kind, id, map[string]any{"message": message, "title": "lathe", "notification_type": kind})
	return err
}

// waiting notes whether a session waits for the person. Hooks are told after a while.
func (s *Set) waiting(id lathe.SessionID, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.idle[id]; t != nil {
		t.Stop()
		delete(s.idle, id)
	}
	if !idle || s.idle == nil || !s.uses(Notification) {
		return
	}
	s.idle[id] = time.AfterFunc(idleTime, func() {
		s.report(s.notify(context.Background(), id, "idle_prompt", "lathe is waiting for your input"))
	})
}

// end calls the hooks for the end of a session that this process has met.
func (s *Set) end(ctx context.Context, id lathe.SessionID, reason string) error {
	s.mu.Lock()
	_, met := s.met[id]
	delete(s.met, id)
	s.mu.Unlock()
	if !met {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	_, err := s.fire(ctx, SessionEnd, reason, id, map[string]any{"reason": reason})
	_ = os.Remove(s.transcriptPath(id)) // it is written again when it is needed
	return err
}

// Close calls the hooks for the end of the sessions that this process has met, and waits
// for them, but not long. It may be called twice.
func (s *Set) Close() {
	s.mu.Lock()
	for _, t := range s.idle {
		t.Stop()
	}
	s.idle = nil
	var open []lathe.SessionID
	for id := range s.met {
		open = append(open, id)
	}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, id := range open {
		wg.Go(func() {
			s.report(s.end(context.Background(), id, "other"))
		})
	}
	wg.Wait()
}
