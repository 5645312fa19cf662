package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
)

// History returns at most limit messages before the one with the sequence number,
// or the newest ones for 0; oldest first. Text of open parts is in it as far as it
// has streamed: [lathe.PartDelta] says which text a delta ends.
func (c turns) History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	if c.source == nil {
		return c.history(ctx, id, before, limit)
	}
	list, err := c.source.History(ctx, id, before, limit)
	return c.saw(id, list), err
}

// Messages returns the newest messages of a session, oldest first; a limit of 0 means
// all of them.
func (c turns) Messages(ctx context.Context, id lathe.SessionID, limit int) ([]lathe.Message, error) {
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

func (c turns) history(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	q := url.Values{}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	h, err := get(ctx, c.conn, "/lathe"+sessionPath(id)+"/message", q, wire.DecodeOwnHistory)
	return c.saw(id, h.Messages), err
}

// saw notes which prompts are stored.
func (c turns) saw(id lathe.SessionID, list []lathe.Message) []lathe.Message {
	for _, m := range list {
		c.prompts.seen(id, m.ID)
	}
	return list
}

// Outcome waits for the end of the turn that a message asked for. The error has
// [lathe.CodeNotFound] when the server does not know: it was started again
// since.
func (c turns) Outcome(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (api.Outcome, error) {
	if c.source != nil {
		return c.source.Outcome(ctx, m)
	}
	q := url.Values{"messageID": {string(m)}}
	for {
		out, err := get(ctx, c.conn, "/lathe"+sessionPath(id)+"/outcome", q, wire.DecodeOwnOutcome)
		if err != nil || !out.Running {
			return out, err
		}
	}
}

// Abort ends the turn of a session and returns when that is recorded.
func (c turns) Abort(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodPost, sessionPath(id)+"/abort", nil, nil)
	return err
}

// Statuses returns what the sessions of the directory do that are not idle.
func (c turns) Statuses(ctx context.Context) (map[lathe.SessionID]lathe.Status, error) {
	return get(ctx, c.conn, "/session/status", nil, wire.DecodeStatuses)
}

// Status returns what a session does.
func (c turns) Status(ctx context.Context, id lathe.SessionID) (lathe.Status, error) {
	all, err := c.Statuses(ctx)
	if st := all[id]; st != nil {
		return st, err
	}
	return lathe.Idle{}, err
}

// Summarize compacts a session and returns when that is done.
func (c turns) Summarize(ctx context.Context, id lathe.SessionID, model lathe.ModelRef) error {
	_, err := c.call(ctx, http.MethodPost, sessionPath(id)+"/summarize", nil, map[string]string{"providerID": model.Provider, "modelID": model.Model})
	return err
}

// Window returns what the next request of a session would send and cost.
func (c turns) Window(ctx context.Context, id lathe.SessionID) (api.Window, error) {
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/weight", nil, plain[api.Window])
}

// Budget returns what of the configured budget is used.
func (c turns) Budget(ctx context.Context, id lathe.SessionID) (api.Budget, error) {
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/budget", nil, plain[api.Budget])
}

// Replay returns the requests of a session, each with what it had beside the one before,
// or only request number step with all of it (0: all requests).
func (c turns) Replay(ctx context.Context, id lathe.SessionID, step int) (api.Replay, error) {
	query := url.Values{}
	if step != 0 {
		query.Set("step", strconv.Itoa(step))
	}
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/replay", query, plain[api.Replay])
}
