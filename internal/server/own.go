package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/instance"
	"lathe/internal/jsonc"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// faces answers the routes below /lathe, for lathe's own faces.
type faces struct{ *call }

// Routes below /lathe are for lathe's own faces (internal/client calls them): what
// OpenCode's contract has no words for.
func (s *Server) ownRoutes() []route {
	const (
		get, post = http.MethodGet, http.MethodPost
		session   = "/lathe/session/{sessionID}"
	)
	return []route{
		{get, "/lathe/event", on(faces.events), ""},
		{get, session + "/message", on(faces.messages), ""},
		{post, session + "/prompt", on(faces.prompt), ""},
		{get, session + "/outcome", on(faces.outcome), ""},
		{get, "/lathe/model", on(faces.models), ""},
		{get, "/lathe/model/parse", on(faces.parseModel), ""},
		{get, "/lathe/provider", on(faces.providers), ""},
		{get, "/lathe/file", on(faces.files), ""},
		{get, "/lathe/config", on(faces.config), ""},
		{get, "/lathe/notice", on(faces.notices), ""},
	}
}

type ownAccepted struct {
	MessageID lathe.MessageID `json:"messageID"`
}

// prompt stores a prompt, a command or a shell command and starts its turn. The
// answer comes when it is stored.
func (c faces) prompt() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	data, err := c.bytes(promptLimit)
	if err != nil {
		return nil, err
	}
	in, err := wire.DecodeOwnPrompt(data)
	if err != nil {
		return nil, badPayload("%v", err)
	}
	m, run, err := c.start(sess.ID, in)
	if err != nil {
		return nil, err
	}
	c.s.runs.add(m.ID, run)
	return ownAccepted{m.ID}, nil
}

func (c faces) start(id lathe.SessionID, p api.Prompt) (*lathe.Message, *session.Run, error) {
	ctx := context.WithoutCancel(c.ctx())
	limits := turn.Limits{
		Steps: p.Limits.Steps, Cost: p.Limits.Cost, Tokens: p.Limits.Tokens, Time: time.Duration(p.Limits.Time) * time.Millisecond,
	}
	switch {
	case p.Shell != "":
		return c.s.opts.Service.Shell(ctx, id, session.ShellInput{Command: p.Shell, MessageID: p.MessageID, Agent: p.Agent, Model: p.Model})
	case p.Command != "":
		return c.s.opts.Service.Command(ctx, id, session.CommandInput{
			Name: p.Command, Arguments: p.Arguments, MessageID: p.MessageID, Agent: p.Agent, Model: p.Model, Parts: p.Parts, PartIDs: p.PartIDs,
			Limits: limits, Rules: p.Rules,
		})
	}
	return c.s.opts.Service.Prompt(ctx, id, session.Prompt{
		MessageID: p.MessageID, Parts: p.Parts, Agent: p.Agent, Model: p.Model, System: p.System, Tools: p.Tools,
		NoReply: p.NoReply, Refs: p.Refs, Limits: limits, Rules: p.Rules,
	})
}

// outcomePatience is how long an outcome is waited for within one request.
const outcomePatience = 20 * time.Second

// outcome answers how the turn of a prompt ended, or that it still runs.
func (c faces) outcome() (any, error) {
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(c.ctx(), outcomePatience)
	defer cancel()
	out, err := c.s.Outcome(ctx, lathe.MessageID(c.query("messageID")))
	if (lathe.CodeOf(err) == lathe.CodeNotFound || errors.Is(err, session.ErrLeft)) && c.s.opts.Elsewhere != nil {
		out, err = c.outcomeElsewhere(ctx, err)
	}
	switch {
	case err != nil && ctx.Err() != nil && c.ctx().Err() == nil:
		return wire.EncodeOwnOutcome(api.Outcome{Running: true}), nil
	case err != nil:
		return nil, err
	}
	return wire.EncodeOwnOutcome(out), nil
}

// config answers with the parts of the configuration that a screen needs, as
// written; OpenCode's clients expect the defaults filled in.
func (c faces) config() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	conf := inst.Config
	out := map[string]any{"theme": conf.Theme, "model": conf.Model, "default_agent": conf.DefaultAgent}
	for name, v := range map[string]*jsonc.Value{"keybinds": conf.Keybinds, "tui": conf.TUI} {
		if v != nil {
			out[name] = v
		}
	}
	return withoutSecrets(conf, out, nil)
}

// notices answers what a person should know about the directory's configuration.
func (c faces) notices() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := api.Notices{Config: []string{}, Skills: []string{}, Trust: inst.Notice()}
	out.Unused = inst.Unused()
	for _, w := range inst.Config.Warnings {
		out.Config = append(out.Config, w.String())
	}
	for _, err := range inst.Skills.Problems() {
		if !errors.Is(err, instance.ErrShadowed) { // two of one name are common
			out.Skills = append(out.Skills, err.Error())
		}
	}
	return out, nil
}
