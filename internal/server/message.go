package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/provider"
	"lathe/internal/server/gate"
	"lathe/internal/session"
	"lathe/internal/store"
)

// messages answers requests about messages: reading them, and the prompts that create them.
type messages struct{ *call }

// maxMessages bounds a page of messages where the client names no limit.
const maxMessages = 10_000

// messageList answers the newest messages, oldest first. The header
// X-Lathe-Event names an event that the answer includes: a stream that resumes
// after it continues the answer without a gap.
func (c messages) messageList() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	limit, err := c.limit(maxMessages)
	if err != nil {
		return nil, err
	}
	f := store.MessageFilter{Limit: int(limit) + 1}
	if before := c.query("before"); before != "" {
		if f.Before, err = c.before(sess.ID, before); err != nil {
			return nil, err
		}
	}
	c.w.Header().Set("X-Lathe-Event", c.s.events.Here())
	var page []lathe.Message
	for m, err := range c.s.opts.Store.Messages(c.ctx(), sess.ID, f) {
		if err != nil {
			return nil, err
		}
		page = append(page, m)
	}
	if len(page) > int(limit) {
		page = page[:limit]
		c.olderPage(page[limit-1], int(limit))
	}
	for i, j := 0, len(page)-1; i < j; i, j = i+1, j-1 {
		page[i], page[j] = page[j], page[i]
	}
	c.s.opts.Service.Follow(sess, page)
	c.s.events.Overlay(page)
	return wire.EncodeMessages(page), nil
}

// before returns the sequence number that a cursor stands for.
func (c messages) before(id lathe.SessionID, text string) (int64, error) {
	cur, err := parseCursor(text)
	if err != nil {
		return 0, err
	}
	m, err := c.s.opts.Store.Message(c.ctx(), id, cur.ID)
	if err != nil {
		return 0, badQuery("before", "the message it names is gone")
	}
	return m.Seq, nil
}

func (c messages) olderPage(oldest lathe.Message, limit int) {
	next := cursor{ID: oldest.ID, Time: oldest.Created.UnixMilli()}.String()
	q := url.Values{"limit": {strconv.Itoa(limit)}, "before": {next}}
	c.w.Header().Set("X-Next-Cursor", next)
	c.w.Header().Set("Link", fmt.Sprintf("<%s?%s>; rel=%q", c.r.URL.EscapedPath(), q.Encode(), "next"))
}

func (c messages) message() (lathe.Message, error) {
	id, err := c.sessionID()
	if err != nil {
		return lathe.Message{}, err
	}
	mid, err := c.id("messageID", lathe.PrefixMessage)
	if err != nil {
		return lathe.Message{}, err
	}
	m, err := c.s.opts.Store.Message(c.ctx(), id, lathe.MessageID(mid))
	if err != nil {
		return m, notFound("Message not found: %s", mid)
	}
	return m, nil
}

func (c messages) messageGet() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}
	one := []lathe.Message{m}
	c.s.events.Overlay(one)
	return wire.EncodeMessage(one[0]), nil
}

func (c messages) messageDelete() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Editor.RemoveMessage(context.WithoutCancel(c.ctx()), m.SessionID, m.ID)
}

func (c messages) partDelete() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}
	pid, err := c.id("partID", lathe.PrefixPart)
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Editor.RemovePart(context.WithoutCancel(c.ctx()), m.SessionID, m.ID, lathe.PartID(pid))
}

func (c messages) partUpdate() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}
	pid, err := c.id("partID", lathe.PrefixPart)
	if err != nil {
		return nil, err
	}
	data, err := c.bytes(promptLimit)
	if err != nil {
		return nil, err
	}
	p, err := wire.DecodePart(data)
	switch {
	case err != nil:
		return nil, badPayload("%v", err)
	case string(p.ID) != pid || p.MessageID != m.ID || p.SessionID != m.SessionID:
		return nil, badPayload("the part's identifiers are not those of the path")
	}
	if err := c.s.opts.Service.Editor.PutPart(context.WithoutCancel(c.ctx()), p); err != nil {
		return nil, err
	}
	return wire.EncodePart(p), nil
}

// prompt stores the prompt of a request and starts its turn.
func (c messages) prompt() (*lathe.Message, *session.Run, error) {
	sess, err := c.session()
	if err != nil {
		return nil, nil, err
	}
	data, err := c.bytes(promptLimit)
	if err != nil {
		return nil, nil, err
	}
	in, err := wire.DecodePrompt(data)
	if err != nil {
		return nil, nil, badPayload("%v", err)
	}
	m, run, err := c.s.opts.Service.Prompt(context.WithoutCancel(c.ctx()), sess.ID, session.Prompt{
		MessageID: in.MessageID, Parts: in.Parts, PartIDs: in.PartIDs, Agent: in.Agent, Model: in.Model, System: in.System,
		Tools: in.Tools, NoReply: in.NoReply,
	})
	c.tellFailed(sess, err)
	return m, run, err
}

// tellFailed tells the session's screens that a prompt could not be taken: the one
// that sent it may only listen to events.
func (c messages) tellFailed(sess lathe.Session, err error) {
	if err != nil && lathe.CodeOf(err) != lathe.CodeBusy && !errors.Is(err, store.ErrLost) {
		c.s.opts.Service.Failed(sess.Directory, sess.ID, notTaken(err))
	}
}

// notTaken is what a session shows for a prompt that was not accepted.
func notTaken(err error) lathe.Failure {
	if f := provider.AuthFailure(err); f != nil {
		return f
	}
	return &lathe.UnknownFailure{Message: said(err)}
}

// said returns what may be shown of an error.
func said(err error) string {
	e, ok := errors.AsType[*lathe.Error](err)
	switch {
	case !ok || e.Code == lathe.CodeInternal:
		return "the prompt could not be taken; the log has the details"
	case e.Code == lathe.CodeFull || e.Code == lathe.CodeReadOnly || e.Code == lathe.CodeUnavailable: // what caused it is for the log
		return e.Msg + "; " + e.Hint
	}
	return err.Error()
}

// messagePrompt answers with the final assistant message once the turn is over.
func (c messages) messagePrompt() (any, error) {
	m, run, err := c.prompt()
	if err != nil {
		return nil, err
	}
	return c.awaitOr(m, run)
}

// awaitOr waits for a run. If there is none, the user message is the answer.
func (c messages) awaitOr(m *lathe.Message, run *session.Run) (any, error) {
	if run == nil {
		return wire.EncodeMessage(*m), nil
	}
	return c.await(m, run)
}

// keepAlive is how often a waiting answer shows that it is alive: clients give
// up on a body that stays silent for minutes.
const keepAlive = 30 * time.Second

// await answers with the reply to a prompt, once it is there. A failure within
// [keepAlive] has a status of its own; after that the headers are sent, and white
// space precedes the answer. A client that leaves does not end the turn.
func (c messages) await(prompt *lathe.Message, run *session.Run) (any, error) {
	ended := c.ended(prompt, run)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case run := <-ended:
			m, err := c.answer(prompt.SessionID, run)
			if c.w.status == 0 {
				return m, err
			}
			return done{}, c.finish(m, err)
		case <-c.ctx().Done():
			return nil, context.Cause(c.ctx())
		case <-tick.C:
		}
		if err := c.showLife(); err != nil {
			return nil, err
		}
	}
}

// ended gets the run when its turn is over, here or at the server that goes on with it. A
// worker's turn is queued again, and who waits there waits on.
func (c messages) ended(prompt *lathe.Message, run *session.Run) <-chan *session.Run {
	out := make(chan *session.Run, 1)
	go func() {
		select {
		case <-run.Done():
		case <-c.ctx().Done():
			return
		}
		if _, err := run.Wait(c.ctx()); errors.Is(err, session.ErrLeft) && !c.s.opts.Local {
			if other, err := c.runElsewhere(c.ctx(), prompt.SessionID, prompt.ID, session.ErrLeft); err == nil {
				run = other
			}
		}
		out <- run
	}()
	return out
}

// showLife sends a meaningless part of an answer.
func (c messages) showLife() error {
	rc := http.NewResponseController(c.w)
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	_ = rc.SetWriteDeadline(time.Now().Add(gate.WriteTimeout))
	if _, err := c.w.Write([]byte("\n")); err != nil {
		return err
	}
	return rc.Flush()
}

// answer returns the stored answer to a prompt. An answer that could not be
// stored yet is returned as it will be stored; a session that was deleted in
// the meantime is not found.
func (c messages) answer(id lathe.SessionID, run *session.Run) (any, error) {
	ctx := context.WithoutCancel(c.ctx())
	out, err := run.Wait(ctx)
	switch {
	case out.Last == nil && err == nil:
		return nil, errors.New("the turn left no message")
	case out.Last == nil:
		return nil, err
	case err != nil:
		c.s.opts.Log.Error("a turn could not be recorded", "id", c.w.id, "session", id, "err", err)
	}
	c.settle()
	m := *out.Last
	if err == nil {
		if stored, err := c.s.opts.Store.Message(ctx, id, m.ID); err == nil {
			m = stored // with all of its parts
		}
	}
	return wire.EncodeMessage(m), nil
}

// finish ends an answer whose status was sent already.
func (c messages) finish(v any, err error) error {
	if err != nil {
		return c.failLate(err)
	}
	return c.writeLate(v)
}

// failLate says that something went wrong after the status was sent.
func (c messages) failLate(err error) error {
	_, body := c.s.describe(c.r, c.w.id, err)
	c.s.opts.Log.Error("request failed", "id", c.w.id, "route", c.r.Pattern, "err", err)
	return c.writeLate(body)
}

func (c messages) writeLate(v any) error {
	body, err := wire.Encode(v)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(gate.WriteUntil(body.Size()))
	_, err = body.WriteTo(c.w)
	return err
}

func (c messages) promptAsync() (any, error) {
	_, _, err := c.prompt()
	return noContent{}, err
}
