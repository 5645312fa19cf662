package server

import (
	"context"
	"net/http"
	"path/filepath"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/snapshot"
	"lathe/internal/store"
	"lathe/internal/undo"
)

// lives answers what lathe's own faces ask about sessions as a whole: which there
// are, and what becomes of them.
type lives struct{ *call }

func lifeRoutes() []route {
	const (
		get, post, patch = http.MethodGet, http.MethodPost, http.MethodPatch
		session          = "/lathe/session/{sessionID}"
	)
	return []route{
		{get, "/lathe/session", on(lives.list), ""},
		{patch, session, on(lives.change), ""},
		{post, session + "/revert", on(lives.revert), ""},
		{post, session + "/unrevert", on(lives.unrevert), ""},
		{post, session + "/fork", on(lives.fork), ""},
		{post, session + "/move", on(lives.move), ""},
		{post, session + "/unlock", on(lives.unlock), ""},
		{post, session + "/unshare", on(lives.unshare), ""},
		{get, session + "/export", on(lives.export), ""},
	}
}

// list lists sessions that have no parent, most recently used first: those of a
// directory that are not archived, unless others are asked for.
func (c lives) list() (any, error) {
	f := store.SessionFilter{Roots: true, ByUse: true, Search: c.query("search")}
	switch c.query("archived") {
	case "only":
		f.Archived = true
	case "true":
	default:
		f.Active = true
	}
	var err error
	if f.Directory, err = c.scope(); err != nil {
		return nil, err
	}
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	f.Limit = int(min(limit, 1<<20))
	list, err := c.s.opts.Service.List(c.ctx(), f)
	return wire.EncodeSessions(list), err
}

// scope returns the directory whose sessions are meant; empty means every directory,
// if that was asked for.
func (c *call) scope() (string, error) {
	if c.query("everywhere") == "true" {
		return "", c.needAnywhere()
	}
	return c.dir()
}

// change renames a session, archives it or takes it out of the archive.
func (c lives) change() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.SessionChange
	if err := c.need(&in); err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(c.ctx())
	if in.Title != nil {
		if sess, err = c.s.opts.Service.Editor.Rename(ctx, sess.ID, *in.Title); err != nil {
			return nil, err
		}
	}
	if in.Archived != nil {
		sess, err = c.s.opts.Service.Editor.Archive(ctx, sess.ID, *in.Archived)
	}
	return wire.EncodeSession(sess), err
}

type ownReverted struct {
	Session any `json:"session"`
	api.Reverted
}

const toldConflicts = 20

func encodeReverted(out undo.Result) ownReverted {
	r := ownReverted{wire.EncodeSession(out.Session), reverted(out.Files, out.Conflicts)}
	r.Unrecorded, r.Deleted, r.Created, r.Emptied = out.Unrecorded, out.Deleted, out.Created, out.Emptied
	for _, c := range out.Conflicts[:min(len(out.Conflicts), toldConflicts)] {
		name, err := filepath.Rel(out.Session.Directory, c.Path)
		if err != nil {
			name = c.Path
		}
		r.Files = append(r.Files, filepath.ToSlash(name))
	}
	return r
}

func reverted(changed []string, conflicts []snapshot.Conflict) api.Reverted {
	out := api.Reverted{Conflicts: len(conflicts), Changed: changed}
	for _, c := range conflicts {
		out.Kept = append(out.Kept, api.Kept{Path: c.Path, Reason: c.Reason})
	}
	return out
}

func (c lives) revert() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.Revert
	if err := c.need(&in); err != nil {
		return nil, err
	}
	what := undo.Input{MessageID: in.MessageID, PartID: in.PartID, Force: in.Force}
	if in.MessageID == "" && in.Last {
		if what, err = c.lastPrompt(sess, what); err != nil {
			return nil, err
		}
	}
	if err := lathe.CheckID(string(what.MessageID), lathe.PrefixMessage); err != nil {
		return nil, badPayload("%v", err)
	}
	out, err := c.s.opts.Service.Undo.Revert(context.WithoutCancel(c.ctx()), sess.ID, what)
	return encodeReverted(out), err
}

// lastPrompt fills in what to undo if nothing was named.
func (c lives) lastPrompt(sess lathe.Session, what undo.Input) (undo.Input, error) {
	if what.Force && sess.Revert != nil { // repeated for what was kept
		what.MessageID, what.PartID = sess.Revert.MessageID, sess.Revert.PartID
		return what, nil
	}
	before := int64(0)
	if sess.Revert != nil {
		m, err := c.s.opts.Store.Message(c.ctx(), sess.ID, sess.Revert.MessageID)
		if err != nil {
			return what, err
		}
		before = m.Seq
	}
	for m, err := range c.s.opts.Store.Messages(c.ctx(), sess.ID, store.MessageFilter{Before: before}) {
		if err != nil {
			return what, err
		}
		if _, ok := m.Info.(*lathe.User); ok {
			what.MessageID = m.ID
			return what, nil
		}
	}
	return what, lathe.Errorf(lathe.CodeInvalid, "", "session %s has no prompt to take back", sess.ID)
}

func (c lives) unrevert() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.Unrevert
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	back := c.s.opts.Service.Undo.Unrevert
	if sess.Revert == nil && in.Fork {
		back = c.s.opts.Service.Undo.ForkFiles
	}
	out, err := back(context.WithoutCancel(c.ctx()), sess.ID, in.Force)
	if out.Session.ID == "" {
		out.Session = sess
	}
	return encodeReverted(out), err
}

func (c lives) fork() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.Fork
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	out, err := c.s.opts.Service.Fork(context.WithoutCancel(c.ctx()), sess.ID, session.ForkInput(in))
	return ownReverted{wire.EncodeSession(out.Session), reverted(out.Files, out.Conflicts)}, c.claim(out.Session.ID, err)
}

// move lets a session go on in another directory.
func (c lives) move() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		Directory string `json:"directory"`
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	dir, err := c.place(in.Directory)
	if err != nil {
		return nil, err
	}
	sess, err = c.s.opts.Service.Move(context.WithoutCancel(c.ctx()), sess.ID, dir)
	return wire.EncodeSession(sess), err
}

// unlock takes a session from a process that is gone, as only a person can know.
func (c lives) unlock() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Unlock(c.ctx(), sess.ID)
}

// unshare withdraws a session; with forget even if the service cannot be
// reached.
func (c lives) unshare() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	sess, err = c.s.opts.Service.Shares.Unshare(c.ctx(), sess.ID, c.query("forget") == "true")
	return wire.EncodeSession(sess), err
}
