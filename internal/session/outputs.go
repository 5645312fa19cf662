package session

import (
	"context"
	"sync"

	"lathe"
	"lathe/internal/store"
)

// outputsKey is where a fork records whose directory of whole outputs it shares.
const outputsKey = "outputs"

// maxParents bounds how far up a chain of parents the search goes.
const maxParents = 64

// outputs is the directory for the complete output of a session's tools, looked up
// once. A session shares it with its subagents, which search what it was given, and
// with its forks, whose history names the files.
type outputs struct {
	once sync.Once
	dir  string
}

func (o *outputs) of(s *Service, sess *lathe.Session) string {
	o.once.Do(func() { o.dir = outputsOf(context.WithoutCancel(s.ctx), s.opts.Store, *sess) })
	return o.dir
}

// top returns the session at the top of the chain that a subagent works for.
func top(ctx context.Context, kept *store.Store, sess lathe.Session) lathe.Session {
	for range maxParents {
		if sess.ParentID == "" {
			break
		}
		parent, err := kept.Session(ctx, sess.ParentID)
		if err != nil { // it was deleted
			break
		}
		sess = parent
	}
	return sess
}

func outputsOf(ctx context.Context, kept *store.Store, sess lathe.Session) string {
	sess = top(ctx, kept, sess)
	if shared, err := kept.Value(ctx, sess.ID, outputsKey); err == nil && lathe.CheckID(string(shared), lathe.PrefixSession) == nil {
		return string(shared)
	}
	return string(sess.ID)
}
