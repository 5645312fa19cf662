package session

import (
	"context"
	"errors"
	"slices"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/permission"
	"lathe/internal/store"
)

// Opened returns the instance of a directory if there is one already, or nil.
func (s *Service) Opened(ctx context.Context, dir string) *instance.Instance {
	s.mu.Lock()
	o := s.instances[dir]
	s.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
		return o.inst
	case <-ctx.Done():
		return nil
	}
}

// Directories returns the directories that have an instance.
func (s *Service) Directories() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirs := make([]string, 0, len(s.instances))
	for dir := range s.instances {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

// Dispose ends what runs in a directory and forgets its instance; the next use
// makes a new one from the files as they are then. It does nothing where there
// is none.
func (s *Service) Dispose(ctx context.Context, dir string) error {
	inst := s.Opened(ctx, dir)
	if inst == nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	delete(s.instances, dir)
	var ids []lathe.SessionID
	for id, r := range s.runners {
		if r.inst == inst {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.Abort(ctx, id))
		s.mu.Lock()
		if r := s.runners[id]; r != nil && r.inst == inst {
			delete(s.runners, id)
		}
		s.mu.Unlock()
	}
	errs = append(errs, inst.Close())
	s.opts.Writer.Tell(dir, lathe.InstanceDisposed{Directory: dir})
	return errors.Join(errs...)
}

// Asks returns the permission asks that wait in a directory, oldest first.
func (s *Service) Asks(ctx context.Context, dir string) []lathe.Ask {
	if inst := s.Opened(ctx, dir); inst != nil {
		return inst.Permission.Pending()
	}
	return nil
}

// ReplyTo answers a permission ask of whichever instance has it; dir is looked in
// first. It is refused when the ask is of another session than the one named;
// an empty session is any.
func (s *Service) ReplyTo(ctx context.Context, dir string, session lathe.SessionID, id lathe.AskID, reply lathe.Reply) error {
	dirs := append([]string{dir}, s.Directories()...)
	for _, d := range dirs {
		for _, ask := range s.Asks(ctx, d) {
			if ask.ID == id && (session == "" || session == ask.SessionID) {
				return s.Reply(ctx, d, id, reply)
			}
		}
	}
	return lathe.Errorf(lathe.CodeNotFound, "it may have been answered or withdrawn", "%v: %q", permission.ErrNotFound, id)
}

// whileIdle runs fn while no turn of the session can start in this process.
func (s *Service) whileIdle(ctx context.Context, id lathe.SessionID, fn func(lathe.Session) error) error {
	r, err := s.runner(ctx, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work != nil {
		return lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "Session %s is busy", id)
	}
	sess, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	return fn(sess)
}

// EditPart stores a part that a client changed, while the session is idle. The
// part and its message must exist.
func (s *Service) EditPart(ctx context.Context, p lathe.Part) error {
	return s.whileIdle(ctx, p.SessionID, func(sess lathe.Session) error {
		m, err := s.opts.Store.Message(ctx, p.SessionID, p.MessageID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(m.Parts, func(o lathe.Part) bool { return o.ID == p.ID })
		if i < 0 {
			return store.ErrNotFound
		}
		p.Seq = m.Parts[i].Seq
		return s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
			err := tx.PutPart(&p)
			tx.Tell(sess.Directory, lathe.PartUpdated{Part: p})
			return err
		})
	})
}

// RemovePart removes a part, while the session is idle.
func (s *Service) RemovePart(ctx context.Context, id lathe.SessionID, message lathe.MessageID, part lathe.PartID) error {
	return s.whileIdle(ctx, id, func(sess lathe.Session) error {
		m, err := s.opts.Store.Message(ctx, id, message)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(m.Parts, func(o lathe.Part) bool { return o.ID == part }) {
			return store.ErrNotFound
		}
		return s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
			tx.Tell(sess.Directory, lathe.PartRemoved{SessionID: id, MessageID: message, PartID: part})
			return tx.RemovePart(part)
		})
	})
}

// RemoveMessage removes a message and its parts, while the session is idle.
func (s *Service) RemoveMessage(ctx context.Context, id lathe.SessionID, message lathe.MessageID) error {
	return s.whileIdle(ctx, id, func(sess lathe.Session) error {
		return s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
			tx.Tell(sess.Directory, lathe.MessageRemoved{SessionID: id, MessageID: message})
			return tx.RemoveMessage(id, message)
		})
	})
}

// Failed tells that a session could not do what was asked, and why.
func (s *Service) Failed(dir string, id lathe.SessionID, f lathe.Failure) {
	s.opts.Writer.Tell(dir, lathe.SessionFailed{SessionID: id, Failure: f})
}

// Reply answers a permission ask of a directory's instance.
func (s *Service) Reply(ctx context.Context, dir string, id lathe.AskID, reply lathe.Reply) error {
	inst, err := s.Instance(ctx, dir)
	if err != nil {
		return err
	}
	err = inst.Permission.Reply(ctx, id, reply)
	if errors.Is(err, permission.ErrNotFound) {
		return lathe.Errorf(lathe.CodeNotFound, "it may have been answered or withdrawn", "no permission ask %q is waiting", id)
	}
	return err
}
