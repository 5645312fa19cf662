package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
)

// Health returns the version of the server. One that can store nothing at the
// moment is there all the same: it shows what it has, and tells no version.
func (c *Client) Health(ctx context.Context) (string, error) {
	in, err := get(ctx, c, "/global/health", nil, plain[struct{ Version string }])
	if code := lathe.CodeOf(err); code == lathe.CodeFull || code == lathe.CodeReadOnly {
		return "", nil
	}
	return in.Version, err
}

// Create makes a session.
func (c *Client) Create(ctx context.Context, in api.SessionRequest) (lathe.Session, error) {
	return post(ctx, c, "/session", wire.EncodeSessionRequest(in), wire.DecodeSession)
}

// Get returns a session.
func (c *Client) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	if err := lathe.CheckID(string(id), lathe.PrefixSession); err != nil {
		return lathe.Session{}, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session list", "there is no session %q", id)
	}
	return get(ctx, c, sessionPath(id), nil, wire.DecodeSession)
}

// List returns the sessions of the client's directory that have no parent, the one
// that was used last first.
func (c *Client) List(ctx context.Context, f api.SessionFilter) ([]lathe.Session, error) {
	q := url.Values{}
	if f.Search != "" {
		q.Set("search", f.Search)
	}
	if f.Archived {
		q.Set("archived", "true")
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return get(ctx, c, "/lathe/session", q, list(wire.DecodeSession))
}

// Children returns the sessions below one, newest first.
func (c *Client) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return get(ctx, c, sessionPath(id)+"/children", nil, list(wire.DecodeSession))
}

// Rename changes a session's title.
func (c *Client) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	return c.patch(ctx, id, map[string]any{"title": title})
}

// Archive puts a session away, or takes it back.
func (c *Client) Archive(ctx context.Context, id lathe.SessionID, at int64) (lathe.Session, error) {
	return c.patch(ctx, id, map[string]any{"time": map[string]any{"archived": at}})
}

func (c *Client) patch(ctx context.Context, id lathe.SessionID, body any) (lathe.Session, error) {
	raw, err := c.call(ctx, http.MethodPatch, sessionPath(id), nil, body)
	if err != nil {
		return lathe.Session{}, err
	}
	return wire.DecodeSession(raw)
}

// Delete removes a session and all that belongs to it.
func (c *Client) Delete(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodDelete, sessionPath(id), nil, nil)
	return err
}

// Share publishes a session.
func (c *Client) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return post(ctx, c, sessionPath(id)+"/share", nil, wire.DecodeSession)
}

// Unshare takes a published session back.
func (c *Client) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/unshare", nil, wire.DecodeSession)
}

// Todos returns a session's task list.
func (c *Client) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return get(ctx, c, sessionPath(id)+"/todo", nil, wire.DecodeTodos)
}

// Diff returns what a session changed, or what the turn of a message did.
func (c *Client) Diff(ctx context.Context, id lathe.SessionID, m lathe.MessageID) ([]lathe.FileDiff, error) {
	q := url.Values{}
	if m != "" {
		q.Set("messageID", string(m))
	}
	return get(ctx, c, sessionPath(id)+"/diff", q, wire.DecodeDiffs)
}

// StandingDiff returns what a session changed without what was reverted.
func (c *Client) StandingDiff(ctx context.Context, id lathe.SessionID) ([]lathe.FileDiff, error) {
	return get(ctx, c, sessionPath(id)+"/diff", url.Values{"standing": {"true"}}, wire.DecodeDiffs)
}

// History returns at most limit messages before the one with the sequence number,
// or the newest ones for 0; oldest first. Text of open parts is in it as far as it
// has streamed: [lathe.PartDelta] says which text a delta ends.
func (c *Client) History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	if c.source == nil {
		return c.history(ctx, id, before, limit, url.Values{})
	}
	list, err := c.source.History(ctx, id, before, limit)
	return c.saw(id, list), err
}

// Shown is History for people elsewhere to read: without what calls printed of files
// that may not be read without an ask.
func (c *Client) Shown(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	return c.history(ctx, id, before, limit, url.Values{"shown": {"true"}})
}

func (c *Client) history(ctx context.Context, id lathe.SessionID, before int64, limit int, q url.Values) ([]lathe.Message, error) {
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	h, err := get(ctx, c, "/lathe"+sessionPath(id)+"/message", q, wire.DecodeOwnHistory)
	return c.saw(id, h.Messages), err
}

// saw notes which prompts are stored.
func (c *Client) saw(id lathe.SessionID, list []lathe.Message) []lathe.Message {
	for _, m := range list {
		c.prompts.seen(id, m.ID)
	}
	return list
}

// Outcome waits for the end of the turn that a message asked for. The error has
// [lathe.CodeNotFound] when the server does not know: it was started anew since.
func (c *Client) Outcome(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (api.Outcome, error) {
	if c.source != nil {
		return c.source.Outcome(ctx, m)
	}
	q := url.Values{"messageID": {string(m)}}
	for {
		out, err := get(ctx, c, "/lathe"+sessionPath(id)+"/outcome", q, wire.DecodeOwnOutcome)
		if err != nil || !out.Running {
			return out, err
		}
	}
}

// Abort ends the turn of a session and returns when that is recorded.
func (c *Client) Abort(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodPost, sessionPath(id)+"/abort", nil, nil)
	return err
}

// Statuses returns what the sessions of the directory do that are not idle.
func (c *Client) Statuses(ctx context.Context) (map[lathe.SessionID]lathe.Status, error) {
	return get(ctx, c, "/session/status", nil, wire.DecodeStatuses)
}

// Status returns what a session does.
func (c *Client) Status(ctx context.Context, id lathe.SessionID) (lathe.Status, error) {
	all, err := c.Statuses(ctx)
	if st := all[id]; st != nil {
		return st, err
	}
	return lathe.Idle{}, err
}

// Fork copies a session, up to a message if one is named.
func (c *Client) Fork(ctx context.Context, id lathe.SessionID, upTo lathe.MessageID) (lathe.Session, error) {
	body := map[string]any{}
	if upTo != "" {
		body["messageID"] = upTo
	}
	return post(ctx, c, sessionPath(id)+"/fork", body, wire.DecodeSession)
}

// Revert goes back to before a message.
func (c *Client) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (api.Reverted, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/revert", map[string]any{"messageID": m}, plain[api.Reverted])
}

// Unrevert takes a revert back.
func (c *Client) Unrevert(ctx context.Context, id lathe.SessionID) (api.Reverted, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/unrevert", nil, plain[api.Reverted])
}

// Summarize compacts a session and returns when that is done.
func (c *Client) Summarize(ctx context.Context, id lathe.SessionID, model lathe.ModelRef) error {
	_, err := c.call(ctx, http.MethodPost, sessionPath(id)+"/summarize", nil, map[string]string{"providerID": model.Provider, "modelID": model.Model})
	return err
}

// Asks returns the permission asks that wait for a reply.
func (c *Client) Asks(ctx context.Context) ([]lathe.Ask, error) {
	return get(ctx, c, "/permission", nil, wire.DecodeAsks)
}

// Questions returns the questions that wait for an answer.
func (c *Client) Questions(ctx context.Context) ([]lathe.QuestionAsk, error) {
	return get(ctx, c, "/question", nil, wire.DecodeQuestionAsks)
}

// Reply answers a permission ask.
func (c *Client) Reply(ctx context.Context, id lathe.AskID, r lathe.Reply) error {
	body := map[string]any{"reply": r.Kind}
	if r.Message != "" {
		body["message"] = r.Message
	}
	if r.Alone {
		body["alone"] = true
	}
	if r.Project {
		body["project"] = true
	}
	if len(r.Patterns) > 0 {
		body["patterns"] = r.Patterns
	}
	_, err := c.call(ctx, http.MethodPost, "/permission/"+url.PathEscape(string(id))+"/reply", nil, body)
	return err
}

// Answer answers a question; nil dismisses it.
func (c *Client) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	path := "/question/" + url.PathEscape(string(id))
	if answers == nil {
		_, err := c.call(ctx, http.MethodPost, path+"/reject", nil, nil)
		return err
	}
	_, err := c.call(ctx, http.MethodPost, path+"/reply", nil, map[string]any{"answers": answers})
	return err
}
