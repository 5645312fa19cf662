package session

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/snapshot"
	"lathe/internal/store"
)

// turnSnapshots are those of a session's turn: patches are its own.
type turnSnapshots struct {
	*snapshot.Store
	r *runner
}

func (t turnSnapshots) Track(ctx context.Context) (string, error) {
	tree, err := t.Store.Track(ctx)
	if err != nil && ctx.Err() == nil {
		t.r.tellUndoOff(err)
	}
	return tree, err
}

func (t turnSnapshots) Patch(ctx context.Context, from string) (lathe.Patch, string, error) {
	return t.r.patch(ctx, t.Store, from)
}

// stepChange is what one step changed.
type stepChange struct {
	from, to string // trees; to is empty when it is not known
	files    []string
	shared   []string // of these; others may have changed them, too
}

// changesOf returns what the parts say was changed, in order.
func changesOf(parts []lathe.Part) (out []stepChange) {
	after := ""
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart:
			after = ""
		case *lathe.StepFinish:
			after = b.Snapshot
		case *lathe.Patch:
			out = append(out, stepChange{from: b.Hash, to: after, files: b.Files, shared: b.Shared})
		case *lathe.SnapshotMark:
			if n := len(out); n > 0 && out[n-1].to == "" {
				out[n-1].to = b.Snapshot
			}
		}
	}
	return out
}

// targetsOf says how to get from after the changes to before them: each file as
// it was before its first change, if it is still as the last one left it and
// nobody else changed it in between.
func targetsOf(changes []stepChange) []snapshot.Target {
	var targets []snapshot.Target
	at := map[string]int{}
	left := map[string]string{} // the tree in which a file is as the steps so far left it
	for _, c := range changes {
		for _, f := range c.files {
			i, seen := at[f]
			if !seen {
				i = len(targets)
				at[f] = i
				targets = append(targets, snapshot.Target{Path: f, To: c.from})
			}
			if was := left[f]; was != "" && was != c.from {
				targets[i].Same = append(targets[i].Same, [2]string{was, c.from})
			}
			targets[i].Shared = targets[i].Shared || slices.Contains(c.shared, f)
			targets[i].Expect, left[f] = nil, c.to
			if c.to != "" {
				targets[i].Expect = []string{c.to}
			}
		}
	}
	return targets
}

// recoverPatch records what a step changed whose process died before it could.
// Changes that were made since count as the step's, those of other sessions
// excepted; nobody can tell them apart.
func (r *runner) recoverPatch(ctx context.Context, history []lathe.Message) {
	i := len(history) - 1
	for ; i >= 0; i-- {
		if _, ok := history[i].Info.(*lathe.Assistant); ok {
			break
		}
	}
	if i < 0 {
		return
	}
	m := &history[i]
	from := ""
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart:
			from = b.Snapshot
		case *lathe.StepFinish, *lathe.Patch, *lathe.SnapshotMark:
			return
		}
	}
	if from == "" {
		return
	}
	trees, err := r.inst.Snapshots()
	if err != nil {
		return
	}
	patch, now, err := r.patch(ctx, trees, from)
	if err != nil {
		r.s.opts.Log.Warn("what an interrupted step changed is not known", "session", r.current().ID, "err", err)
		return
	}
	bodies := []lathe.PartBody{&lathe.SnapshotMark{Snapshot: now}}
	if len(patch.Files) > 0 {
		bodies = []lathe.PartBody{&patch, bodies[0]}
	}
	for _, b := range bodies {
		p := lathe.Part{ID: r.ids.Load().Part(), MessageID: m.ID, SessionID: m.SessionID, Body: b}
		if err := r.s.opts.Store.Batch(ctx, func(tx store.Tx) error { return tx.PutPart(&p) }); err != nil {
			r.s.opts.Log.Warn("what an interrupted step changed could not be recorded", "session", r.current().ID, "err", err)
			return
		}
		m.Parts = append(m.Parts, p)
		r.s.opts.Bus.Publish(r.current().Directory, lathe.PartUpdated{Part: p, New: true})
	}
}

// TryUndo takes a snapshot of a directory and returns what keeps steps in it from
// being undone, or nil. In a large directory it takes a moment.
func (s *Service) TryUndo(ctx context.Context, dir string) error {
	inst, err := s.Instance(ctx, dir)
	if err != nil {
		return err
	}
	store, err := inst.Snapshots()
	if err == nil {
		_, err = store.Track(ctx)
	}
	return err
}

// UndoProblem returns why steps in a directory cannot be undone, or nil.
func (s *Service) UndoProblem(ctx context.Context, dir string) error {
	inst, err := s.Instance(ctx, dir)
	if err != nil {
		return err
	}
	_, err = inst.Snapshots()
	return err
}
