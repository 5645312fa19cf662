package turn

import (
	"context"
	"time"

	"lathe"
)

// snapshotTime bounds a step's last snapshot after its turn was cancelled.
const snapshotTime = 30 * time.Second

// Snapshots records the tree that a turn's tools work on.
type Snapshots interface {
	// Known returns the current tree if it is known for certain without looking.
	Known() (hash string, ok bool)
	// Track returns the current tree.
	Track(ctx context.Context) (hash string, err error)
	// Patch returns the files that differ from a tree, and the current tree.
	Patch(ctx context.Context, from string) (p lathe.Patch, now string, err error)
}

// guard makes a step's file-changing tools wait until the tree is recorded as it was before. It
// starts as soon as the model begins to call such a tool, so the snapshot is taken while the
// arguments arrive; a step without such a call pays nothing. The step's mu guards it.
type guard struct {
	start *lathe.Part   // the step start
	done  chan struct{} // nil: no snapshot was asked for
	hash  string        // empty: it could not be taken
	ran   bool          // a tool that can change files was run
}

// canChange reports whether the tool can change files.
func (s *step) canChange(name string) bool {
	t, ok := s.tools.Lookup(name)
	return ok && !t.Spec().ReadOnly
}

// expectChange begins the step's snapshot if the tool needs one. If the tree is known already it
// goes into the step start, which is then returned to be stored with the next change.
func (s *step) expectChange(ctx context.Context, name string) []*lathe.Part {
	if s.Snapshots == nil || !s.canChange(name) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard.done != nil {
		return nil
	}
	done := make(chan struct{})
	s.guard.done = done
	if hash, ok := s.Snapshots.Known(); ok {
		s.setSnapshot(hash)
		close(done)
		return []*lathe.Part{s.guard.start}
	}
	s.wg.Go(func() {
		defer close(done)
		s.takeSnapshot(ctx)
	})
	return nil
}

// setSnapshot notes the tree that the step began with. The caller holds mu.
func (s *step) setSnapshot(hash string) {
	s.guard.hash = hash
	s.guard.start.Body = &lathe.StepStart{Snapshot: hash}
}

// takeSnapshot records the tree before it is changed. If that fails the work goes on, and this step
// cannot be undone.
func (s *step) takeSnapshot(ctx context.Context) {
	hash, err := s.Snapshots.Track(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.Logger.Warn("the step has no snapshot and cannot be undone", "session", s.Session.ID, "err", err)
		}
		return
	}
	s.mu.Lock()
	s.setSnapshot(hash)
	s.mu.Unlock()
	if err := s.record(ctx, s.guard.start); err != nil {
		s.Logger.Error("the step's snapshot could not be recorded", "session", s.Session.ID, "err", err)
	}
}

// awaitSnapshot waits until a call that can change files may do so.
func (r *running) awaitSnapshot(ctx context.Context) error {
	r.s.mu.Lock()
	done := r.s.guard.done
	if done == nil || r.readOnly {
		r.s.mu.Unlock()
		return nil
	}
	r.s.guard.ran = true
	r.s.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// changes returns the tree that the step ended with and, if files differ, the part that lists them.
// It is called when no tool runs any more.
func (s *step) changes(ctx context.Context) (now string, patch *lathe.Patch) {
	if !s.guard.ran || s.guard.hash == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), snapshotTime)
	defer cancel()
	p, now, err := s.Snapshots.Patch(ctx, s.guard.hash)
	if err != nil {
		s.Logger.Warn("what the step changed is not known", "session", s.Session.ID, "err", err)
		return "", nil
	}
	if len(p.Files) == 0 {
		return now, nil
	}
	return now, &p
}

// addPatch returns the parts that record a patch. The resulting tree is named in a part of its own
// if no step finish does that.
func (s *step) addPatch(p *lathe.Patch, now string) []*lathe.Part {
	if p == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := []*lathe.Part{s.fold.add(p)}
	if now != "" {
		parts = append(parts, s.fold.add(&lathe.SnapshotMark{Snapshot: now}))
	}
	return parts
}
