package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
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
	if err := plausible(id); err != nil {
		return lathe.Session{}, err
	}
	return get(ctx, c, sessionPath(id), nil, wire.DecodeSession)
}

// plausible refuses what cannot be the name of a session in the words for one that is
// not there.
func plausible(id lathe.SessionID) error {
	if lathe.CheckID(string(id), lathe.PrefixSession) == nil {
		return nil
	}
	return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session list", "there is no session %q", id)
}

// List returns the sessions of the client's directory that have no parent, the one
// that was used last first.
func (c *Client) List(ctx context.Context, f api.SessionFilter) ([]lathe.Session, error) {
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
	return get(ctx, c, "/lathe/session", q, list(wire.DecodeSession))
}

// Children returns the sessions below one, newest first.
func (c *Client) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return get(ctx, c, sessionPath(id)+"/children", nil, list(wire.DecodeSession))
}

// Rename changes a session's title.
func (c *Client) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	return c.change(ctx, id, api.SessionChange{Title: &title})
}

// Archive puts a session away, or takes it out again.
func (c *Client) Archive(ctx context.Context, id lathe.SessionID, on bool) (lathe.Session, error) {
	return c.change(ctx, id, api.SessionChange{Archived: &on})
}

func (c *Client) change(ctx context.Context, id lathe.SessionID, what api.SessionChange) (lathe.Session, error) {
	raw, err := c.call(ctx, http.MethodPatch, "/lathe"+sessionPath(id), nil, what)
	if err != nil {
		return lathe.Session{}, err
	}
	return wire.DecodeSession(raw)
}

// Move lets a session go on in another directory of the server's machine.
func (c *Client) Move(ctx context.Context, id lathe.SessionID, dir string) (lathe.Session, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/move", map[string]string{"directory": dir}, wire.DecodeSession)
}

// Unlock takes a session from a process that is gone for good.
func (c *Client) Unlock(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe"+sessionPath(id)+"/unlock", nil, nil)
	return err
}

// Delete removes a session and all that belongs to it.
func (c *Client) Delete(ctx context.Context, id lathe.SessionID) error {
	if err := plausible(id); err != nil {
		return err
	}
	_, err := c.call(ctx, http.MethodDelete, sessionPath(id), nil, nil)
	return err
}

// Share publishes a session.
func (c *Client) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return post(ctx, c, sessionPath(id)+"/share", nil, wire.DecodeSession)
}

// Unshare takes a published session back; with forget also when the service that has
// it cannot be reached.
func (c *Client) Unshare(ctx context.Context, id lathe.SessionID, forget bool) (lathe.Session, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/unshare?forget="+strconv.FormatBool(forget), nil, wire.DecodeSession)
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
		return c.history(ctx, id, before, limit)
	}
	list, err := c.source.History(ctx, id, before, limit)
	return c.saw(id, list), err
}

// historyPage is how many messages are asked for at once.
const historyPage = 1000

// Messages returns the newest messages of a session, oldest first; a limit of 0 means
// all of them.
func (c *Client) Messages(ctx context.Context, id lathe.SessionID, limit int) ([]lathe.Message, error) {
	var pages [][]lathe.Message
	for n, before := 0, int64(0); limit <= 0 || n < limit; {
		want := historyPage
		if limit > 0 {
			want = min(want, limit-n)
		}
		page, err := c.History(ctx, id, before, want)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		if n += len(page); len(page) < want {
			break
		}
		before = page[0].Seq
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

func (c *Client) history(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	q := url.Values{}
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

// Fork begins a new session with the messages of another.
func (c *Client) Fork(ctx context.Context, id lathe.SessionID, in api.Fork) (lathe.Session, api.Reverted, error) {
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
func (c *Client) Revert(ctx context.Context, id lathe.SessionID, in api.Revert) (api.Reverted, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/revert", in, plain[api.Reverted])
}

// Unrevert takes a revert back.
func (c *Client) Unrevert(ctx context.Context, id lathe.SessionID, in api.Unrevert) (api.Reverted, error) {
	return post(ctx, c, "/lathe"+sessionPath(id)+"/unrevert", in, plain[api.Reverted])
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
