package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/turn"
	"lathe/internal/undo"
)

// sessions answers what is about sessions and the turns that they run.
type sessions struct{ *call }

func (c sessions) list() (any, error) {
	f := store.SessionFilter{Search: c.query("search"), Roots: c.query("roots") == "true"}
	start, err := c.number("start")
	if err != nil {
		return nil, err
	}
	if start > 0 {
		f.Since = time.UnixMilli(start)
	}
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	f.Limit = int(min(limit, 1<<20))
	if f.Directory = c.query("directory"); f.Directory == "" {
		inst, _, err := c.instance()
		if err != nil {
			return nil, err
		}
		f.ProjectID = inst.Project.ID
	} else if f.Directory, err = c.dir(); err != nil {
		return nil, err
	}
	list, err := c.s.opts.Service.List(c.ctx(), f)
	return wire.EncodeSessions(list), err
}

func (c sessions) request() (api.SessionRequest, error) {
	data, err := c.bytes(bodyLimit)
	if err != nil || data == nil {
		return api.SessionRequest{}, err
	}
	var probe struct { // names the field that has a wrong type
		ParentID, Title, Agent *string
	}
	if err := decodeJSON(data, &probe); err != nil {
		return api.SessionRequest{}, err
	}
	in, err := wire.DecodeSessionRequest(data)
	if err != nil {
		err = badPayload("%v", err)
	}
	return in, err
}

func (c sessions) create() (any, error) {
	in, err := c.request()
	if err != nil {
		return nil, err
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	if in.ParentID != "" {
		if _, err := c.s.opts.Service.Get(c.ctx(), in.ParentID); err != nil {
			return nil, err
		}
		if err := c.mayChange(in.ParentID); err != nil {
			return nil, err
		}
	}
	create := session.Create{Directory: dir, ParentID: in.ParentID, Rules: in.Rules, Agent: in.Agent}
	if in.Title != nil {
		create.Title = *in.Title
	}
	sess, err := c.s.opts.Service.Create(context.WithoutCancel(c.ctx()), create)
	return wire.EncodeSession(sess), c.claim(sess.ID, err)
}

func (c sessions) status() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.mergeOthers(wire.EncodeStatuses(c.s.opts.Service.Statuses(dir))), nil
}

func (c sessions) get() (any, error) {
	sess, err := c.session()
	return wire.EncodeSession(sess), err
}

func (c sessions) delete() (any, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Delete(context.WithoutCancel(c.ctx()), id)
}

func (c sessions) update() (any, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	in, err := c.request()
	if err != nil {
		return nil, err
	}
	if _, err := c.s.opts.Service.Get(c.ctx(), id); err != nil {
		return nil, err
	}
	sess, err := c.s.opts.Service.Update(context.WithoutCancel(c.ctx()), id, func(s *lathe.Session) error {
		if in.Title != nil {
			s.Title = *in.Title
		}
		if in.HasRules {
			s.Rules = in.Rules
		}
		if at := in.Archived; at != nil {
			s.Archived = time.Time{}
			if *at > 0 && *at < 1<<53 {
				s.Archived = time.UnixMilli(int64(*at))
			}
		}
		return nil
	})
	return wire.EncodeSession(sess), err
}

func (c sessions) children() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	list, err := c.s.opts.Service.List(c.ctx(), store.SessionFilter{ParentID: sess.ID})
	return wire.EncodeSessions(list), err
}

func (c sessions) todo() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	todos, err := c.s.opts.Service.Todos(c.ctx(), sess.ID)
	return wire.EncodeTodos(todos), err
}

func (c sessions) diff() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	message := lathe.MessageID(c.query("messageID"))
	if message != "" {
		if err := lathe.CheckID(string(message), lathe.PrefixMessage); err != nil {
			return nil, badQuery("messageID", "%v", err)
		}
	}
	if message == "" && c.query("standing") == "true" { // lathe's own: without what was reverted
		diffs, err := c.s.opts.Service.Diffs.StandingDiff(c.ctx(), sess)
		return wire.EncodeDiffs(diffs), err
	}
	diffs, err := c.s.opts.Service.Diffs.Of(c.ctx(), sess.ID, message)
	if errors.Is(err, store.ErrNotFound) {
		diffs, err = nil, nil
	}
	return wire.EncodeDiffs(diffs), err
}

// abort answers true for an idle session too. It waits until the end of the
// turn is recorded, or until the client gives up.
func (c sessions) abort() (any, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	err = c.s.opts.Service.Abort(c.ctx(), id)
	if errors.Is(err, turn.ErrAborted) { // before the turn had anything to record
		err = nil
	}
	return true, err
}

func (c sessions) fork() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		MessageID lathe.MessageID `json:"messageID"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.MessageID != "" {
		if err := lathe.CheckID(string(in.MessageID), lathe.PrefixMessage); err != nil {
			return nil, badPayload("%v", err)
		}
	}
	out, err := c.s.opts.Service.Fork(context.WithoutCancel(c.ctx()), sess.ID, session.ForkInput{MessageID: in.MessageID})
	return wire.EncodeSession(out.Session), c.claim(out.Session.ID, err)
}

func (c sessions) revert() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		MessageID lathe.MessageID `json:"messageID"`
		PartID    lathe.PartID    `json:"partID"`
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := lathe.CheckID(string(in.MessageID), lathe.PrefixMessage); err != nil {
		return nil, badPayload("%v", err)
	}
	if in.PartID != "" {
		if err := lathe.CheckID(string(in.PartID), lathe.PrefixPart); err != nil {
			return nil, badPayload("%v", err)
		}
	}
	out, err := c.s.opts.Service.Undo.Revert(context.WithoutCancel(c.ctx()), sess.ID, undo.Input{MessageID: in.MessageID, PartID: in.PartID})
	c.tellConflicts(sess, out)
	return wire.EncodeSession(out.Session), err
}

// tellConflicts says which files were left alone because somebody else changed
// them, or because what was done to them was not recorded. The answer has no
// field for that, so screens show it.
func (c sessions) tellConflicts(sess lathe.Session, out undo.Result) {
	toast := toastProps{Title: "Files left as they are", Variant: "warning"}
	switch n := len(out.Conflicts); {
	case n > 0:
		toast.Message = "somebody else changed it since: " + filepath.Base(out.Conflicts[0].Path)
		if n > 1 {
			toast.Message += fmt.Sprintf(" and %d more", n-1)
		}
	case out.Unrecorded != "":
		toast.Message = "what was changed was not recorded: " + out.Unrecorded
	default:
		return
	}
	if props, err := wire.Marshal(toast); err == nil {
		c.s.opts.Bus.Publish(sess.Directory, lathe.ClientEvent{Type: "tui.toast.show", Properties: props})
	}
}

func (c sessions) unrevert() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	out, err := c.s.opts.Service.Undo.Unrevert(context.WithoutCancel(c.ctx()), sess.ID, false)
	c.tellConflicts(sess, out)
	return wire.EncodeSession(out.Session), err
}

func (c sessions) summarize() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		ProviderID string `json:"providerID"`
		ModelID    string `json:"modelID"`
		Auto       bool   `json:"auto"`
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("providerID", in.ProviderID, "modelID", in.ModelID); err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Summarize(c.ctx(), sess.ID, lathe.ModelRef{Provider: in.ProviderID, Model: in.ModelID}, in.Auto)
}

func (c sessions) share() (any, error) {
	sess, err := c.session()
	if err == nil {
		sess, err = c.s.opts.Service.Shares.Share(c.ctx(), sess.ID)
	}
	if err != nil {
		return nil, err
	}
	return wire.EncodeSession(sess), nil
}

// unshare has nothing to do for a session that was never shared.
func (c sessions) unshare() (any, error) {
	sess, err := c.session()
	if err == nil {
		sess, err = c.s.opts.Service.Shares.Unshare(c.ctx(), sess.ID, false)
	}
	if err != nil {
		return nil, err
	}
	return wire.EncodeSession(sess), nil
}
