package server

import (
	"context"

	"lathe"
	"lathe/internal/opencode/wire"
)

// asks answers what waits for a person: permission asks and questions.
type asks struct{ *call }

func (c asks) permissionList() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.withOthers(wire.EncodeAsks(c.s.opts.Service.Instances.Asks(c.ctx(), dir))), nil
}

func (c asks) permissionReply() (any, error) {
	id, err := c.id("requestID", lathe.PrefixAsk)
	if err != nil {
		return nil, err
	}
	return c.answerAsk("", id)
}

// permissionRespond is the older form of permissionReply, for one session.
func (c asks) permissionRespond() (any, error) {
	sid, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	id, err := c.id("permissionID", lathe.PrefixAsk)
	if err != nil {
		return nil, err
	}
	return c.answerAsk(sid, id)
}

func (c asks) answerAsk(sid lathe.SessionID, id string) (any, error) {
	data, err := c.bytes(bodyLimit)
	if err != nil {
		return nil, err
	}
	reply, err := wire.DecodeReply(data)
	if err != nil {
		return nil, badPayload("%v", err)
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	err = c.s.opts.Service.Instances.ReplyTo(context.WithoutCancel(c.ctx()), dir, sid, lathe.AskID(id), reply)
	return true, err
}

func (c asks) questionList() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.withOthers(wire.EncodeQuestionAsks(c.s.opts.Service.Questions.List(dir))), nil
}

// questionID returns which questions a request is about, if the caller may use their directory.
func (c asks) questionID() (id string, err error) {
	if id, err = c.id("requestID", lathe.PrefixQuestion); err != nil {
		return "", err
	}
	q, ok := c.s.question(lathe.AskID(id))
	if !ok {
		return id, nil // the service says so
	}
	sess, err := c.s.opts.Service.Get(c.ctx(), q.SessionID)
	if err == nil {
		err = c.mayUse(sess.Directory)
	}
	return id, err
}

func (c asks) questionReply() (any, error) {
	id, err := c.questionID()
	if err != nil {
		return nil, err
	}
	data, err := c.bytes(bodyLimit)
	if err != nil {
		return nil, err
	}
	answers, err := wire.DecodeAnswers(data)
	if err != nil {
		return nil, badPayload("%v", err)
	}
	return true, c.s.opts.Service.Questions.Answer(context.WithoutCancel(c.ctx()), lathe.AskID(id), answers)
}

func (c asks) questionReject() (any, error) {
	id, err := c.questionID()
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Questions.Reject(context.WithoutCancel(c.ctx()), lathe.AskID(id))
}
