package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/turn"
)

// CommandInput is a command prompt.
type CommandInput struct {
	Name      string
	Arguments string
	MessageID lathe.MessageID
	Agent     string         // if the command names none
	Model     lathe.ModelRef // if neither the command nor its agent names one
	Parts     []lathe.PartBody
	PartIDs   []lathe.PartID // as in [Prompt]
	Limits    turn.Limits
	Rules     []lathe.Rule
}

// Command expands a command and sends it as a prompt; see [Service.Prompt]. A
// template that begins with "/name" stands for that command with what follows as
// its arguments.
func (s *Service) Command(ctx context.Context, id lathe.SessionID, in CommandInput) (*lathe.Message, *Run, error) {
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if m, run, err := r.again(ctx, in.MessageID); m != nil || err != nil {
		if err == nil {
			run, err = r.commandAgain(ctx, m, run, in)
		}
		return m, run, err
	}
	c, text, err := r.inst.Commands.Expand(ctx, in.Name, in.Arguments)
	if err != nil {
		return nil, nil, err
	}
	p, err := commandPrompt(ctx, r.inst, c, text, in)
	if err != nil {
		return nil, nil, err
	}
	p.Parts = r.inst.Hooks.CommandBefore(ctx, plugin.CommandInput{Command: in.Name, SessionID: id, Arguments: in.Arguments}, p.Parts)
	p.PartIDs = in.idsOf(p.Parts)
	m, run, err := s.Prompt(ctx, id, p)
	if err == nil {
		s.opts.Writer.Tell(r.inst.Root.Dir, lathe.CommandExecuted{Name: in.Name, SessionID: id, Arguments: in.Arguments, MessageID: m.ID})
	}
	return m, run, err
}

// commandAgain goes on with a command that was sent before, within the bounds that it had. It
// is not expanded again, which may run programs; so one that stands for another command, whose
// bounds are not known without that, stays as it is.
func (r *runner) commandAgain(ctx context.Context, m *lathe.Message, run *Run, in CommandInput) (*Run, error) {
	all := r.inst.Commands.All()
	i := slices.IndexFunc(all, func(c instance.Command) bool { return c.Name == in.Name })
	if i < 0 || strings.HasPrefix(strings.TrimSpace(all[i].Template), "/") {
		return run, nil
	}
	p, err := commandPrompt(ctx, r.inst, all[i], "", in)
	if err != nil {
		return run, err
	}
	return r.goOn(ctx, m, run, p)
}

// idsOf returns the identifiers that the client gave to the parts of a prompt that it sent itself.
func (in CommandInput) idsOf(parts []lathe.PartBody) []lathe.PartID {
	if len(in.PartIDs) == 0 {
		return nil
	}
	out := make([]lathe.PartID, len(parts))
	for i, p := range parts {
		if n := slices.Index(in.Parts, p); n >= 0 && n < len(in.PartIDs) {
			out[i] = in.PartIDs[n]
		}
	}
	return out
}

// commandPrompt makes the prompt of an expanded command.
func commandPrompt(ctx context.Context, i *instance.Instance, c instance.Command, text string, in CommandInput) (Prompt, error) {
	p := Prompt{MessageID: in.MessageID, Agent: in.Agent, Model: in.Model, Limits: in.Limits, Rules: in.Rules}
	var agent instance.Agent
	if c.Agent != "" {
		var err error
		if agent, err = i.Agents.Get(c.Agent); err != nil {
			return p, fmt.Errorf("command %q: %w", c.Name, err)
		}
	}
	model := agent.Model
	if c.Model != "" {
		models, err := i.Models.For(ctx)
		if err == nil {
			model, err = models.ParseRef(c.Model)
		}
		if err != nil {
			return p, fmt.Errorf("command %q: %w", c.Name, err)
		}
		model.Variant = cmp.Or(c.Variant, model.Variant)
	}
	if c.Untrusted && agent.Name != "" && !c.InSubagent(agent) && !i.Agents.MayLead(agent) {
		c.Agent, agent = "", instance.Agent{} // one of the person's own commands names it, but did not choose to run
	}
	if c.Untrusted && c.InSubagent(agent) {
		p.ceilings = permission.Policy{}.Below(i.Agents.Persons().Policy()).Ceilings
	}
	if c.InSubagent(agent) {
		name := agent.Name
		if name == "" {
			name = "general"
		}
		p.Parts = []lathe.PartBody{&lathe.Subtask{
			Prompt: text, Description: cmp.Or(c.Description, c.Name), Agent: name, Model: model, Command: c.Name,
		}}
		return p, nil
	}
	if c.Agent != "" {
		p.Agent = c.Agent
	}
	if !model.IsZero() {
		p.Model = model
	}
	var may func(string) bool
	switch {
	case c.Untrusted: // it attaches nothing that the agent would have to ask for
		may = readableBy(i, i.Agents.Persons(), nil, nil)
	case c.Repository:
		may = i.Inside // a file of the repository must not attach the user's other files
	}
	p.Parts = resolve(i, append([]lathe.PartBody{&lathe.Text{Text: text}}, in.Parts...), may)
	if c.Repository { // what the user named is theirs to attach
		p.Parts = attachNamed(i, p.Parts, in.Arguments)
	}
	return p, nil
}
