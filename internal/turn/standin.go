package turn

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/order"
	"lathe/internal/provider"
)

const (
	standInAfter = 2               // failed requests in a row, where another model can answer
	standInRest  = 5 * time.Minute // after which a model that failed is tried again
)

// StandIns are models that answer in place of one whose provider refuses or cannot be
// reached, the first that works. A model that failed is left alone for five minutes, by
// all turns that share this; then it is tried again. It is safe for concurrent use; a nil
// StandIns has none.
type StandIns struct {
	Models []lathe.ModelRef

	mu     sync.Mutex
	resume map[lathe.ModelRef]time.Time // when a model that failed is tried again
}

// candidates returns who may answer for a model, in their order: those that failed come
// last, the one that was asked for first of them.
func (s *StandIns) candidates(ref lathe.ModelRef, now time.Time) []lathe.ModelRef {
	all := []lathe.ModelRef{ref}
	if s == nil {
		return all
	}
	for _, m := range s.Models {
		if !slices.ContainsFunc(all, func(o lathe.ModelRef) bool { return sameModel(o, m) }) {
			all = append(all, m)
		}
	}
	order.Stable(all, func(a, b lathe.ModelRef) int { return s.failedNow(a, now) - s.failedNow(b, now) })
	return all
}

// failedNow is 1 for a model that is left alone at the moment, else 0.
func (s *StandIns) failedNow(ref lathe.ModelRef, now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.resume[plainModel(ref)]) {
		return 1
	}
	return 0
}

// fail notes that a model failed.
func (s *StandIns) fail(ref lathe.ModelRef, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resume == nil {
		s.resume = map[lathe.ModelRef]time.Time{}
	}
	s.resume[plainModel(ref)] = now.Add(standInRest)
}

// back reports, once, that a model which had failed is asked again and works.
func (s *StandIns) back(ref lathe.ModelRef, now time.Time) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	until, failed := s.resume[plainModel(ref)]
	if !failed || now.Before(until) {
		return false
	}
	delete(s.resume, plainModel(ref))
	return true
}

func plainModel(ref lathe.ModelRef) lathe.ModelRef {
	ref.Variant = ""
	return ref
}

func sameModel(a, b lathe.ModelRef) bool { return plainModel(a) == plainModel(b) }

// answering returns the model that answers where one was asked for, and what it is
// called. The error is that of the model that was asked for.
func (t *Turn) answering(ctx context.Context, asked lathe.ModelRef) (*provider.Model, lathe.ModelRef, error) {
	var first error
	for i, ref := range t.StandIns.candidates(asked, t.Now()) {
		m, err := t.Host.Model(ctx, ref)
		if err == nil {
			return m, ref, nil
		}
		if first == nil || sameModel(ref, asked) {
			first = err
		}
		if i > 0 {
			t.Logger.Warn("a model cannot stand in", "model", ref, "err", err)
		}
	}
	return nil, asked, first
}

// replaceable reports whether another model can answer in place of one that failed.
func (t *Turn) replaceable(ref lathe.ModelRef) bool {
	if t.StandIns == nil {
		return false
	}
	now := t.Now()
	return slices.ContainsFunc(t.StandIns.Models, func(m lathe.ModelRef) bool { return !sameModel(m, ref) && t.StandIns.failedNow(m, now) == 0 })
}

// standIn lets another model go on after a step that failed for its provider, and tells
// the person. It reports whether there is one.
func (t *Turn) standIn(ctx context.Context, c cast, failure lathe.Failure) bool {
	switch f := failure.(type) {
	case *lathe.AuthFailure:
	case *lathe.APIFailure:
		if f.Metadata["kind"] == string(llm.KindInvalid) { // the request is wrong, whoever gets it
			return false
		}
	default:
		return false
	}
	if !t.replaceable(c.ref) {
		return false
	}
	t.StandIns.fail(c.ref, t.Now())
	_, next, err := t.answering(ctx, c.user.Info.(*lathe.User).Model)
	if err != nil || sameModel(next, c.ref) {
		return false
	}
	t.failures = 0
	t.Log.Publish(lathe.SessionStatus{SessionID: t.Session.ID, Status: lathe.Retrying{
		Attempt: 1, Message: fmt.Sprintf("%s failed (%v); %s goes on in its place", c.ref, failure, next), Next: t.Now(),
	}})
	t.Log.Publish(lathe.SessionStatus{SessionID: t.Session.ID, Status: lathe.Busy{}})
	return true
}
