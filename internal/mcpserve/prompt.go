package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
	"lathe/internal/api"
)

// prompt sends a session a prompt and returns the outcome. If the caller leaves,
// the turn is stopped.
func (f *face) prompt(ctx context.Context, req *mcp.CallToolRequest, in input) (string, error) {
	id := lathe.SessionID(in.Session)
	if id == "" {
		sess, err := f.e.Create(ctx, api.SessionRequest{})
		if err != nil {
			return "", err
		}
		id = sess.ID
	} else if _, err := f.e.Get(ctx, id); err != nil {
		return "", err
	}
	p := api.Prompt{Agent: in.Agent, Parts: []lathe.PartBody{&lathe.Text{Text: in.Text}}, Refs: true}
	if in.Model != "" {
		provider, model, ok := strings.Cut(in.Model, "/")
		if !ok {
			return "", fmt.Errorf("%q is not a model: write provider/model", in.Model)
		}
		p.Model = lathe.ModelRef{Provider: provider, Model: model}
	}
	if !canAsk(req.Session) {
		p.Rules = []lathe.Rule{{Permission: "question", Pattern: "*", Action: lathe.Deny}}
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	open := make(chan struct{})
	watched := make(chan struct{})
	go func() { // ended by stop
		defer close(watched)
		f.watch(within, req, id, open)
	}()
	defer func() { stop(); <-watched }()
	select {
	case <-open:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	m, err := f.e.Prompt(ctx, id, p)
	if err != nil {
		return "", err
	}
	out, err := f.e.Outcome(ctx, id, m)
	if ctx.Err() != nil {
		return "", errors.Join(context.Cause(ctx), f.e.Abort(context.WithoutCancel(ctx), id))
	}
	if err != nil {
		return "", err
	}
	if out.Failure != nil {
		return "", fmt.Errorf("session %s: %w", id, out.Failure)
	}
	text := ""
	if out.Last != nil {
		text = told(out.Last)
	}
	return fmt.Sprintf("%s\n\nsession: %s", text, id), nil
}

// canAsk reports whether the client can show a question.
func canAsk(s *mcp.ServerSession) bool {
	init := s.InitializeParams()
	return init != nil && init.Capabilities != nil && init.Capabilities.Elicitation != nil
}

// watch answers what a session and its subagents ask, and reports progress.
func (f *face) watch(ctx context.Context, req *mcp.CallToolRequest, id lathe.SessionID, open chan struct{}) {
	mine := map[lathe.SessionID]bool{id: true}
	opened, steps := false, 0
	for u, err := range f.e.Follow(ctx) {
		if err != nil {
			return
		}
		if u.Open && !opened {
			opened = true
			close(open)
		}
		switch ev := u.Event.(type) {
		case lathe.SessionCreated:
			if mine[ev.Session.ParentID] {
				mine[ev.Session.ID] = true
			}
		case lathe.PartUpdated:
			if call, ok := ev.Part.Body.(*lathe.ToolCall); ok && mine[ev.Part.SessionID] {
				steps += f.progress(ctx, req, call, steps)
			}
		case lathe.PermissionAsked:
			if mine[ev.Ask.SessionID] {
				go f.decide(ctx, req.Session, ev.Ask) // ends with ctx
			}
		case lathe.QuestionAsked:
			if mine[ev.Ask.SessionID] {
				go f.question(ctx, req.Session, ev.Ask) // ends with ctx
			}
		}
	}
}

// progress reports that a call begins, and returns how many have begun.
func (f *face) progress(ctx context.Context, req *mcp.CallToolRequest, call *lathe.ToolCall, steps int) int {
	token := req.Params.GetProgressToken()
	if _, begun := call.State.(*lathe.ToolRunning); !begun || token == nil {
		return 0
	}
	_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(steps + 1), Message: call.Tool})
	return 1
}

// Answers to an ask.
const (
	once   = "Allow once"
	always = "Always allow"
	refuse = "Refuse"
)

// decide lets the person at the other end decide an ask; if there is none it is
// refused.
func (f *face) decide(ctx context.Context, s *mcp.ServerSession, ask lathe.Ask) {
	reply := lathe.Reply{Kind: lathe.Reject, Message: "Nobody can be asked for this permission here. Do without it."}
	if canAsk(s) {
		switch f.choose(ctx, s, fmt.Sprintf("lathe asks for permission: %s %s", ask.Permission, strings.Join(ask.Patterns, ", ")), once, always, refuse) {
		case once:
			reply = lathe.Reply{Kind: lathe.Once}
		case always:
			reply = lathe.Reply{Kind: lathe.Always}
		default:
			reply = lathe.Reply{Kind: lathe.Reject}
		}
	}
	if ctx.Err() == nil {
		_ = f.e.Reply(ctx, ask.ID, reply) // one that was answered elsewhere in the meantime is no loss
	}
}

// choose puts a choice to the person; "" for none.
func (f *face) choose(ctx context.Context, s *mcp.ServerSession, text string, options ...string) string {
	res, err := s.Elicit(ctx, &mcp.ElicitParams{Message: text, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"answer": map[string]any{"type": "string", "enum": options}}, "required": []string{"answer"},
	}})
	if err != nil || res.Action != "accept" {
		return ""
	}
	answer, _ := res.Content["answer"].(string)
	return answer
}

// question lets the person answer a tool's question; a dismissal ends the turn.
func (f *face) question(ctx context.Context, s *mcp.ServerSession, ask lathe.QuestionAsk) {
	props, required := map[string]any{}, []string{}
	for i, q := range ask.Questions {
		name := fmt.Sprintf("answer%d", i+1)
		field := map[string]any{"type": "string", "title": q.Header, "description": q.Text}
		if len(q.Options) > 0 && !q.Custom {
			var labels []string
			for _, o := range q.Options {
				labels = append(labels, o.Label)
			}
			field["enum"] = labels
		} else {
			for _, o := range q.Options {
				field["description"] = field["description"].(string) + "; " + o.Label
			}
		}
		props[name] = field
		required = append(required, name)
	}
	res, err := s.Elicit(ctx, &mcp.ElicitParams{Message: "lathe asks", RequestedSchema: map[string]any{"type": "object", "properties": props, "required": required}})
	if ctx.Err() != nil {
		return
	}
	if err != nil || res.Action != "accept" {
		_ = f.e.Answer(ctx, ask.ID, nil)
		return
	}
	answers := make([][]string, len(ask.Questions))
	for i := range answers {
		if v, ok := res.Content[fmt.Sprintf("answer%d", i+1)].(string); ok {
			answers[i] = []string{v}
		}
	}
	_ = f.e.Answer(ctx, ask.ID, answers)
}
