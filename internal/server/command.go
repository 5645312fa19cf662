package server

import (
	"context"
	"encoding/json"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
)

func (c equipment) commandList() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return withoutSecrets(inst.Config, wire.EncodeCommands(listedCommands(inst.Commands.All())), nil)
}

func (c equipment) skills() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	list, problems := inst.Skills.All()
	for _, p := range problems {
		c.s.opts.Log.Warn("a skill was left out", "err", p)
	}
	return wire.EncodeSkills(listedSkills(list)), nil
}

// init runs the command that writes AGENTS.md, and waits for it.
func (c sessions) init() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct{ ProviderID, ModelID, MessageID string }
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("providerID", in.ProviderID, "modelID", in.ModelID, "messageID", in.MessageID); err != nil {
		return nil, err
	}
	_, run, err := c.run(sess, session.CommandInput{
		Name: "init", MessageID: lathe.MessageID(in.MessageID), Model: lathe.ModelRef{Provider: in.ProviderID, Model: in.ModelID},
	})
	if err != nil || run == nil {
		return nil, err
	}
	_, err = run.Wait(c.ctx())
	return true, err
}

func (c sessions) command() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		Command, Arguments    *string
		Agent, Model, Variant string
		MessageID             lathe.MessageID
		Parts                 []json.RawMessage
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if in.Command == nil || in.Arguments == nil {
		return nil, badPayload("command and arguments are both needed")
	}
	cmd := session.CommandInput{Name: *in.Command, Arguments: *in.Arguments, MessageID: in.MessageID, Agent: in.Agent}
	if in.Model != "" {
		inst, err := c.s.opts.Service.Instance(context.WithoutCancel(c.ctx()), sess.Directory)
		if err != nil {
			return nil, err
		}
		models, err := inst.Models.For(c.ctx())
		if err != nil {
			return nil, err
		}
		if cmd.Model, err = models.ParseRef(in.Model); err != nil {
			return nil, err
		}
	}
	if in.Variant != "" {
		cmd.Model.Variant = in.Variant
	}
	if cmd.Parts, err = wire.DecodeInputs(in.Parts); err != nil {
		return nil, badPayload("%v", err)
	}
	if cmd.PartIDs, err = wire.DecodeInputIDs(in.Parts); err != nil {
		return nil, badPayload("%v", err)
	}
	m, run, err := c.run(sess, cmd)
	if err != nil {
		return nil, err
	}
	return messages(c).awaitOr(m, run)
}

func (c sessions) run(sess lathe.Session, in session.CommandInput) (*lathe.Message, *session.Run, error) {
	m, run, err := c.s.opts.Service.Command(context.WithoutCancel(c.ctx()), sess.ID, in)
	messages(c).tellFailed(sess, err)
	return m, run, err
}

// shell runs a command of the user's own in the session.
func (c sessions) shell() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		Agent, Command string
		MessageID      lathe.MessageID
		Model          struct{ ProviderID, ModelID string }
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("agent", in.Agent, "command", in.Command); err != nil {
		return nil, err
	}
	m, run, err := c.s.opts.Service.Shell(context.WithoutCancel(c.ctx()), sess.ID, session.ShellInput{
		Command: in.Command, MessageID: in.MessageID, Agent: in.Agent, Model: lathe.ModelRef{Provider: in.Model.ProviderID, Model: in.Model.ModelID},
	})
	if err != nil {
		return nil, err
	}
	return messages(c).awaitOr(m, run)
}
