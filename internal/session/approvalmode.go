package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/store"
)

// Modes keeps how much sessions ask before something is done. A mode holds from the next call
// on, for the subagents of the session as well. [lathe.Auto] holds until lathe ends, the others
// are stored.
type Modes struct {
	s     *Service
	mu    sync.Mutex
	known map[lathe.SessionID]lathe.ApprovalMode // empty: the parent's
}

// modeDoc is what is stored of a session's mode.
type modeDoc struct {
	Mode lathe.ApprovalMode `json:"mode"`
}

const approvalMode store.Document[modeDoc] = "approval_mode"

// Of returns the mode that holds for a session: its own, else that of the session it works for.
func (m *Modes) Of(ctx context.Context, id lathe.SessionID) (lathe.ApprovalMode, error) {
	mode, err := m.own(ctx, id)
	if err != nil || mode != "" {
		return mode, err
	}
	sess, err := m.s.Get(ctx, id)
	if err != nil {
		return "", err
	}
	return m.in(ctx, &sess)
}

// in is Of for a session that is known, so that a session at the top asks the store for nothing.
func (m *Modes) in(ctx context.Context, sess *lathe.Session) (lathe.ApprovalMode, error) {
	for range maxAncestors {
		mode, err := m.own(ctx, sess.ID)
		if err != nil || mode != "" {
			return mode, err
		}
		if sess.ParentID == "" {
			break
		}
		parent, err := m.s.Get(ctx, sess.ParentID)
		if err != nil {
			return "", err
		}
		sess = &parent
	}
	return lathe.ByRules, nil
}

// own returns what was chosen for the session itself; empty if nothing was.
func (m *Modes) own(ctx context.Context, id lathe.SessionID) (lathe.ApprovalMode, error) {
	m.mu.Lock()
	mode, ok := m.known[id]
	m.mu.Unlock()
	if ok {
		return mode, nil
	}
	doc, _, err := approvalMode.Get(ctx, m.s.opts.Store, id)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if mode, ok := m.known[id]; ok { // chosen in the meantime
		return mode, nil
	}
	m.keep(id, doc.Mode)
	return doc.Mode, nil
}

// keep remembers a mode. It is called with the lock held.
func (m *Modes) keep(id lathe.SessionID, mode lathe.ApprovalMode) {
	if m.known == nil {
		m.known = map[lathe.SessionID]lathe.ApprovalMode{}
	}
	m.known[id] = mode
}

// Set chooses the mode of a session. [lathe.Auto] is refused where commands cannot be confined.
func (m *Modes) Set(ctx context.Context, id lathe.SessionID, mode lathe.ApprovalMode) error {
	if !slices.Contains(lathe.ApprovalModes(), mode) {
		return lathe.Errorf(lathe.CodeInvalid, "the modes are rules, ask, edits, plan and auto", "there is no mode of approval %q", string(mode))
	}
	sess, err := m.s.Get(ctx, id)
	if err != nil {
		return err
	}
	if mode == lathe.Auto {
		if err := m.confined(ctx, sess); err != nil {
			return err
		}
	}
	stored := mode
	if mode == lathe.Auto {
		stored = lathe.ByRules // what holds after the next start
	}
	err = m.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		if err := approvalMode.Set(tx, id, modeDoc{stored}); err != nil {
			return err
		}
		tx.Then(func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.keep(id, mode)
		})
		tx.Tell(sess.Directory, lathe.SessionMode{SessionID: id, Mode: mode})
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the mode of approval: %w", err)
	}
	return nil
}

// confined fails if commands in the session's directory are not confined.
func (m *Modes) confined(ctx context.Context, sess lathe.Session) error {
	inst, err := m.s.Instance(ctx, sess.Directory)
	if err != nil {
		return err
	}
	if box := inst.Confinement; box.Off() || box.Level() == sandbox.RulesOnly {
		return lathe.Errorf(lathe.CodeInvalid, "lathe doctor says what is missing", "mode auto needs confined commands, and here they are not: %s", box.Words())
	}
	return nil
}

// mode returns the mode that holds for the session of a run. One that cannot be read counts as
// [lathe.AskFirst], the strictest mode in which work can go on.
func (h *host) mode(ctx context.Context) lathe.ApprovalMode {
	mode, err := h.s.Modes.in(ctx, h.current())
	if err != nil {
		h.s.opts.Log.Warn("the mode of approval cannot be read, so everything is asked about", "session", h.current().ID, "err", err)
		return lathe.AskFirst
	}
	return mode
}

// boundBy returns the rules of a run within its mode of approval.
func boundBy(p permission.Policy, mode lathe.ApprovalMode, inst *instance.Instance) permission.Policy {
	return p.Bound(mode, inst.Agents.Paths())
}
