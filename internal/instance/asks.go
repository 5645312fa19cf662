package instance

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/permission"
)

// Asks returns the permission asks that wait in a directory, oldest first.
func (s *Set) Asks(ctx context.Context, dir string) []lathe.Ask {
	if inst := s.Opened(ctx, dir); inst != nil {
		return inst.Permission.Pending()
	}
	return nil
}

// Reply answers a permission ask of a directory's instance.
func (s *Set) Reply(ctx context.Context, dir string, id lathe.AskID, reply lathe.Reply) error {
	inst, err := s.Get(ctx, dir)
	if err != nil {
		return err
	}
	err = inst.Permission.Reply(ctx, id, reply)
	if errors.Is(err, permission.ErrNotFound) {
		return lathe.Errorf(lathe.CodeNotFound, "it may have been answered or withdrawn", "no permission ask %q is waiting", id)
	}
	return err
}

// ReplyTo answers a permission ask of whichever instance has it, looking in dir
// first. It is refused if the ask belongs to another session than the one named;
// an empty session matches any.
func (s *Set) ReplyTo(ctx context.Context, dir string, session lathe.SessionID, id lathe.AskID, reply lathe.Reply) error {
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
