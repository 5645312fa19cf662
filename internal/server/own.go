package server

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/instance"
	"lathe/internal/jsonc"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/turn"
	"lathe/internal/undo"
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
		{get, "/lathe/session", on(faces.sessions), ""},
		{get, session + "/message", on(faces.messages), ""},
		{post, session + "/prompt", on(faces.prompt), ""},
		{get, session + "/outcome", on(faces.outcome), ""},
		{post, session + "/revert", on(faces.revert), ""},
		{post, session + "/unrevert", on(faces.unrevert), ""},
		{post, session + "/unshare", on(faces.unshare), ""},
		{get, "/lathe/model", on(faces.models), ""},
		{get, "/lathe/model/parse", on(faces.parseModel), ""},
		{get, "/lathe/provider", on(faces.providers), ""},
		{get, "/lathe/file", on(faces.files), ""},
		{get, "/lathe/config", on(faces.config), ""},
		{get, "/lathe/notice", on(faces.notices), ""},
	}
}

// sessions lists sessions of a directory that are not archived and have no
// parent, the one that was used last first.
func (c faces) sessions() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	list, err := c.s.opts.Service.List(c.ctx(), store.SessionFilter{
		Directory: dir, Roots: true, Active: c.query("archived") != "true", Search: c.query("search"), ByUse: true, Limit: int(min(limit, 1<<20)),
	})
	return wire.EncodeSessions(list), err
}

// messages answers messages before the one with a sequence number, or the
// newest ones. The text of open parts is in them as far as it has streamed.
func (c faces) messages() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	limit, err := c.limit(maxMessages)
	if err != nil {
		return nil, err
	}
	before, err := c.number("before")
	if err != nil {
		return nil, err
	}
	h, err := c.s.history(c.ctx(), sess, before, int(limit))
	if err != nil {
		return nil, err
	}
	if c.query("shown") == "true" { // for people elsewhere
		h.Messages = c.s.opts.Service.Instances.Shown(c.ctx(), sess.Directory, h.Messages)
	}
	return wire.EncodeOwnHistory(h), nil
}

func (s *Server) history(ctx context.Context, sess lathe.Session, before int64, limit int) (api.History, error) {
	h := api.History{Event: s.events.ID(s.opts.Bus.Seq())}
	for m, err := range s.opts.Store.Messages(ctx, sess.ID, store.MessageFilter{Before: before, Limit: limit + 1}) {
		if err != nil {
			return h, err
		}
		if len(h.Messages) == limit {
			h.More = true
			break
		}
		h.Messages = append(h.Messages, m)
	}
	slices.Reverse(h.Messages)
	s.opts.Service.Follow(sess, h.Messages)
	s.events.Overlay(h.Messages)
	return h, nil
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
			Name: p.Command, Arguments: p.Arguments, MessageID: p.MessageID, Agent: p.Agent, Model: p.Model, Parts: p.Parts,
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
	switch {
	case err != nil && ctx.Err() != nil && c.ctx().Err() == nil:
		return wire.EncodeOwnOutcome(api.Outcome{Running: true}), nil
	case err != nil:
		return nil, err
	}
	return wire.EncodeOwnOutcome(out), nil
}

type ownReverted struct {
	Session any `json:"session"`
	api.Reverted
}

const toldConflicts = 20

func encodeReverted(out undo.Result) ownReverted {
	r := ownReverted{wire.EncodeSession(out.Session), api.Reverted{Conflicts: len(out.Conflicts), Unrecorded: out.Unrecorded}}
	for _, c := range out.Conflicts[:min(len(out.Conflicts), toldConflicts)] {
		name, err := filepath.Rel(out.Session.Directory, c.Path)
		if err != nil {
			name = c.Path
		}
		r.Files = append(r.Files, filepath.ToSlash(name))
	}
	return r
}

func (c faces) revert() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		MessageID lathe.MessageID `json:"messageID"`
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := lathe.CheckID(string(in.MessageID), lathe.PrefixMessage); err != nil {
		return nil, badPayload("%v", err)
	}
	out, err := c.s.opts.Service.Undo.Revert(context.WithoutCancel(c.ctx()), sess.ID, undo.Input{MessageID: in.MessageID})
	return encodeReverted(out), err
}

func (c faces) unrevert() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	out, err := c.s.opts.Service.Undo.Unrevert(context.WithoutCancel(c.ctx()), sess.ID, false)
	return encodeReverted(out), err
}

// unshare takes a session back; with forget also from a service that cannot be
// reached.
func (c faces) unshare() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	sess, err = c.s.opts.Service.Shares.Unshare(c.ctx(), sess.ID, c.query("forget") == "true")
	return wire.EncodeSession(sess), err
}

// config answers what a screen has a use for of the configuration, as it was
// written; OpenCode's clients expect it filled in.
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
