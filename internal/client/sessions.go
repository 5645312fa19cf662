package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
)

// Create makes a session.
func (c sessions) Create(ctx context.Context, in api.SessionRequest) (lathe.Session, error) {
	return post(ctx, c.conn, "/session", wire.EncodeSessionRequest(in), wire.DecodeSession)
}

// Get returns a session.
func (c sessions) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	if err := plausible(id); err != nil {
		return lathe.Session{}, err
	}
	return get(ctx, c.conn, sessionPath(id), nil, wire.DecodeSession)
}

// plausible refuses what cannot be a session's name, in the words for a session that
// does not exist.
func plausible(id lathe.SessionID) error {
	if lathe.CheckID(string(id), lathe.PrefixSession) == nil {
		return nil
	}
	return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session list", "there is no session %q", id)
}

// List returns the sessions of the client's directory that have no parent, most
// recently used first.
func (c sessions) List(ctx context.Context, f api.SessionFilter) ([]lathe.Session, error) {
	q := url.Values{}
	if f.Search != "" {
		q.Set("search", f.Search)
	}
	switch {
	case f.OnlyArchived:
		q.Set("archived", "only")
	case f.Archived:
		q.Set("archived", "true")
	}
	if f.Everywhere {
		q.Set("everywhere", "true")
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return get(ctx, c.conn, "/lathe/session", q, list(wire.DecodeSession))
}

// Children returns the sessions below one, newest first.
func (c sessions) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return get(ctx, c.conn, sessionPath(id)+"/children", nil, list(wire.DecodeSession))
}

// Rename changes a session's title.
func (c sessions) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	return c.change(ctx, id, api.SessionChange{Title: &title})
}

// Archive archives a session, or takes it out of the archive.
func (c sessions) Archive(ctx context.Context, id lathe.SessionID, on bool) (lathe.Session, error) {
	return c.change(ctx, id, api.SessionChange{Archived: &on})
}

func (c sessions) change(ctx context.Context, id lathe.SessionID, what api.SessionChange) (lathe.Session, error) {
	raw, err := c.call(ctx, http.MethodPatch, "/lathe"+sessionPath(id), nil, what)
	if err != nil {
		return lathe.Session{}, err
	}
	return wire.DecodeSession(raw)
}

// Move lets a session go on in another directory of the server's machine.
func (c sessions) Move(ctx context.Context, id lathe.SessionID, dir string) (lathe.Session, error) {
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/move", map[string]string{"directory": dir}, wire.DecodeSession)
}

// Unlock takes a session away from a process that is permanently gone.
func (c sessions) Unlock(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe"+sessionPath(id)+"/unlock", nil, nil)
	return err
}

// Delete removes a session and all that belongs to it.
func (c sessions) Delete(ctx context.Context, id lathe.SessionID) error {
	if err := plausible(id); err != nil {
		return err
	}
	_, err := c.call(ctx, http.MethodDelete, sessionPath(id), nil, nil)
	return err
}

// Share publishes a session.
func (c sessions) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return post(ctx, c.conn, sessionPath(id)+"/share", nil, wire.DecodeSession)
}

// Unshare withdraws a published session; with forget even if its service cannot be
// reached.
func (c sessions) Unshare(ctx context.Context, id lathe.SessionID, forget bool) (lathe.Session, error) {
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/unshare?forget="+strconv.FormatBool(forget), nil, wire.DecodeSession)
}

// Todos returns a session's task list.
func (c sessions) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return get(ctx, c.conn, sessionPath(id)+"/todo", nil, wire.DecodeTodos)
}

// Diff returns what a session changed, or what the turn of a message did.
func (c sessions) Diff(ctx context.Context, id lathe.SessionID, m lathe.MessageID) ([]lathe.FileDiff, error) {
	q := url.Values{}
	if m != "" {
		q.Set("messageID", string(m))
	}
	return get(ctx, c.conn, sessionPath(id)+"/diff", q, wire.DecodeDiffs)
}

// StandingDiff returns what a session changed without what was reverted.
func (c sessions) StandingDiff(ctx context.Context, id lathe.SessionID) ([]lathe.FileDiff, error) {
	return get(ctx, c.conn, sessionPath(id)+"/diff", url.Values{"standing": {"true"}}, wire.DecodeDiffs)
}

// historyPage is how many messages are asked for at once.
const historyPage = 1000

// Fork begins a new session with the messages of another.
func (c sessions) Fork(ctx context.Context, id lathe.SessionID, in api.Fork) (lathe.Session, api.Reverted, error) {
	raw, err := c.call(ctx, http.MethodPost, "/lathe"+sessionPath(id)+"/fork", nil, in)
	if err != nil {
		return lathe.Session{}, api.Reverted{}, err
	}
	out, err := plain[struct {
		Session json.RawMessage
		api.Reverted
	}](raw)
	if err != nil {
		return lathe.Session{}, api.Reverted{}, err
	}
	sess, err := wire.DecodeSession(out.Session)
	return sess, out.Reverted, err
}

// Revert goes back to before a message.
func (c sessions) Revert(ctx context.Context, id lathe.SessionID, in api.Revert) (api.Reverted, error) {
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/revert", in, plain[api.Reverted])
}

// Unrevert undoes a revert.
func (c sessions) Unrevert(ctx context.Context, id lathe.SessionID, in api.Unrevert) (api.Reverted, error) {
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/unrevert", in, plain[api.Reverted])
}
