package undo

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/turn"
)

// noSnapshots stands in for snapshots in a directory where none are taken. The
// session says so before its first call that can change files.
type noSnapshots struct {
	u   *Changes
	why error
}

// Known returns at once that there is no tree, so no call waits for one.
func (n noSnapshots) Known() (string, bool) {
	n.u.ReportOff(n.why)
	return "", true
}

func (n noSnapshots) Track(context.Context) (string, error) { return "", n.why }

func (n noSnapshots) Patch(context.Context, string) (lathe.Patch, string, error) {
	return lathe.Patch{}, "", n.why
}

// Snapshots is what a turn records trees with; nil if the person switched that
// off.
func (u *Changes) Snapshots() turn.Snapshots {
	store, err := u.inst.Snapshots()
	switch {
	case err == nil:
		return turnSnapshots{store, u}
	case u.inst.Config.SnapshotOn():
		return noSnapshots{u, err}
	}
	return nil
}

// ReportOff says, once, why changes from here on cannot be undone.
func (u *Changes) ReportOff(why error) {
	if u.told.Swap(true) {
		return
	}
	sess := u.current()
	u.writer.Tell(sess.Directory, lathe.UndoOff{SessionID: sess.ID, Reason: why.Error()})
}

// unrecorded returns why changes made by these messages cannot be undone; empty
// if all are recorded. Parts of the first message before the given one do not
// count.
func (u *Changes) unrecorded(messages []lathe.Message, part int) string {
	_, off := u.inst.Snapshots()
	for i, m := range messages {
		parts := m.Parts
		if i == 0 {
			parts = parts[min(part, len(parts)):]
		}
		if !u.changedUnseen(parts, off != nil) {
			continue
		}
		if off != nil {
			return off.Error()
		}
		return "no snapshot was taken before these changes"
	}
	return ""
}

// changedUnseen reports whether a call that can change files ran in a step that
// has no tree to go back to. A command of the person's own is not a step: for
// that it matters whether trees are taken at all.
func (u *Changes) changedUnseen(parts []lathe.Part, off bool) bool {
	unseen := off
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart:
			unseen = b.Snapshot == ""
		case *lathe.ToolCall:
			if _, done := b.State.(*lathe.ToolDone); done && unseen && u.canChange(b.Tool) {
				return true
			}
		}
	}
	return false
}

// canChange reports whether a tool can change files; an unknown tool can.
func (u *Changes) canChange(name string) bool {
	t, ok := u.inst.Tools.Lookup(name)
	return !ok || !t.Spec().ReadOnly
}

// OffSince returns why changes made by the newest of some messages cannot be undone; empty if
// they can, or if none of them changed anything.
func (u *Changes) OffSince(messages []lathe.Message) string {
	for _, m := range slices.Backward(messages) {
		recorded := false
		for _, p := range m.Parts {
			if b, ok := p.Body.(*lathe.StepStart); ok && b.Snapshot != "" {
				recorded = true
			}
		}
		switch {
		case recorded:
			return ""
		case u.changedUnseen(m.Parts, false):
			if _, err := u.inst.Snapshots(); err != nil {
				return err.Error()
			}
			return "no snapshot was taken before the last changes"
		}
	}
	return ""
}
