package acp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"lathe"
	"lathe/internal/approval"
)

// call asks the editor for something. When the context ends the editor is told that
// the answer does not matter any more.
func (a *agent) call(ctx context.Context, name string, params, result any) error {
	id := jsonrpc2.ID{Num: a.calls.Add(1)}
	w, err := a.conn.DispatchCall(ctx, name, params, jsonrpc2.PickID(id))
	if err != nil {
		return err
	}
	err = w.Wait(ctx, result)
	if ctx.Err() != nil && a.ctx.Err() == nil {
		_ = a.conn.Notify(a.ctx, "$/cancel_request", map[string]any{"requestId": id.Num})
	}
	return err
}

// beginAsk notes that the editor is being asked. The context ends when somebody else
// answers it; it is nil if the editor is being asked already.
func (t *conversation) beginAsk(id lathe.AskID) (ctx context.Context, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.asks[id] != nil {
		return nil, nil
	}
	ctx, cancel := context.WithCancel(t.a.ctx)
	t.asks[id] = cancel
	return ctx, func() {
		t.mu.Lock()
		delete(t.asks, id)
		t.mu.Unlock()
		cancel()
	}
}

// settled ends an ask that was answered, here or elsewhere.
func (t *conversation) settled(id lathe.AskID) {
	t.mu.Lock()
	cancel := t.asks[id]
	t.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// permission asks the person whether a call may proceed.
func (t *conversation) permission(ask lathe.Ask) {
	ctx, done := t.beginAsk(ask.ID)
	if ctx == nil {
		return
	}
	t.a.work.Go(func() { // ends with the answer, or when somebody else gave it
		defer done()
		reply, ok := t.decide(ctx, ask)
		if !ok {
			return
		}
		if err := t.c.Reply(t.a.ctx, ask.ID, reply); err != nil && ctx.Err() == nil {
			t.a.Log.Warn("an answer was not taken", "ask", ask.ID, "err", err)
		}
	})
}

// Answers to a permission ask. The choices to allow something from then on come between them.
const (
	allowOnce  = "once"
	rejectOnce = "reject"
	untilEnd   = "session:"
	forProject = "project:"
)

// decide returns what the person answered. If the editor cannot ask, the answer is a rejection.
func (t *conversation) decide(ctx context.Context, ask lathe.Ask) (lathe.Reply, bool) {
	offers := approval.Offers(ask)
	in := permissionRequest{SessionID: string(t.id), ToolCall: asked(ask), Options: []permissionOption{{allowOnce, "Allow once", "allow_once"}}}
	for i, o := range offers {
		words := strings.Join(o.Words(), ", ")
		in.Options = append(in.Options,
			permissionOption{untilEnd + strconv.Itoa(i), "Allow " + words + " " + o.Where(false), "allow_always"},
			permissionOption{forProject + strconv.Itoa(i), "Allow " + words + " " + o.Where(true), "allow_always"})
	}
	in.Options = append(in.Options, permissionOption{rejectOnce, "Refuse", "reject_once"})
	var out permissionResponse
	if err := t.a.call(ctx, "session/request_permission", in, &out); err != nil {
		if ctx.Err() != nil {
			return lathe.Reply{}, false
		}
		t.a.Log.Warn("the editor did not ask", "ask", ask.ID, "err", err)
		return lathe.Reply{Kind: lathe.Reject}, true
	}
	return answered(offers, out.Outcome.OptionID), true
}

// answered turns the chosen option into a reply. Anything that was not offered is a rejection.
func answered(offers []approval.Offer, option string) lathe.Reply {
	if option == allowOnce {
		return lathe.Reply{Kind: lathe.Once}
	}
	for _, prefix := range []string{untilEnd, forProject} {
		rest, ok := strings.CutPrefix(option, prefix)
		if !ok {
			continue
		}
		if i, err := strconv.Atoi(rest); err == nil && i >= 0 && i < len(offers) {
			return offers[i].Reply(prefix == forProject)
		}
	}
	return lathe.Reply{Kind: lathe.Reject}
}

// asked is the call that an ask is about, with everything needed to answer.
func asked(ask lathe.Ask) toolUpdate {
	u := toolUpdate{ID: string(ask.ID), Status: "pending", Title: ask.Permission, Kind: kinds[ask.Permission]}
	if ask.Tool != nil {
		u.ID = callID(ask.Tool.MessageID, ask.Tool.CallID)
	}
	for _, f := range approval.Facts(ask) {
		label := f.Label
		switch f.Kind {
		case approval.Command:
			u.Title = titled("bash", firstLine(f.Text))
		case approval.Subject:
			if u.Title == ask.Permission {
				u.Title = titled(ask.Permission, firstLine(f.Text))
			}
		case approval.Careful:
			label = "Careful"
		}
		u.Content = append(u.Content, textContent(fact(f.Kind, label, f.Text)))
	}
	return u
}

// fact writes something that a person has to know as Markdown.
func fact(kind approval.Kind, label, text string) string {
	head := ""
	if label != "" {
		head = label + ": "
	}
	switch kind {
	case approval.Command, approval.Content, approval.Step:
		return head + "\n" + fenced(text)
	case approval.Diff:
		return head + strings.Replace(fenced(text), "\n", "diff\n", 1)
	}
	return head + text
}

func firstLine(text string) string {
	line, more, cut := strings.Cut(text, "\n")
	if cut && strings.TrimSpace(more) != "" {
		line += " …"
	}
	return line
}

// question asks the person a tool's question.
func (t *conversation) question(ask lathe.QuestionAsk) {
	ctx, done := t.beginAsk(ask.ID)
	if ctx == nil {
		return
	}
	t.a.work.Go(func() { // ends with the answer, or when somebody else gave it
		defer done()
		answers, ok := t.fill(ctx, ask)
		if ctx.Err() != nil {
			return
		}
		var err error
		if ok {
			err = t.c.Answer(t.a.ctx, ask.ID, answers)
		} else {
			err = t.c.Answer(t.a.ctx, ask.ID, nil)
		}
		if err != nil && ctx.Err() == nil {
			t.a.Log.Warn("an answer was not taken", "ask", ask.ID, "err", err)
		}
	})
}

// fill gets the questions answered: in a form if the editor has forms, else one
// after the other as choices.
func (t *conversation) fill(ctx context.Context, ask lathe.QuestionAsk) (answers [][]string, ok bool) {
	if can := t.a.able().Elicitation; can != nil && can.Form != nil {
		return t.form(ctx, ask)
	}
	for _, q := range ask.Questions {
		a, ok := t.pick(ctx, ask, q)
		if !ok {
			return nil, false
		}
		answers = append(answers, a)
	}
	return answers, true
}

// ownWords is the suffix of the field for an answer of the person's own.
const ownWords = "_own"

func (t *conversation) form(ctx context.Context, ask lathe.QuestionAsk) ([][]string, bool) {
	in := form{SessionID: string(t.id), Mode: "form", Schema: formSchema{Type: "object", Properties: map[string]formField{}}}
	if ask.Tool != nil {
		in.ToolCallID = callID(ask.Tool.MessageID, ask.Tool.CallID)
	}
	var texts []string
	for i, q := range ask.Questions {
		texts = append(texts, q.Text)
		name := "q" + strconv.Itoa(i+1)
		var options []formOption
		for _, o := range q.Options {
			title := o.Label
			if o.Description != "" {
				title += ": " + o.Description
			}
			options = append(options, formOption{o.Label, title})
		}
		field := formField{Type: "string", Title: q.Header, Description: q.Text}
		switch {
		case len(options) > 0 && q.Multiple:
			field.Type, field.Items = "array", &formItems{options}
		case len(options) > 0:
			field.OneOf = options
		}
		in.Schema.Properties[name] = field
		if q.Custom && len(options) > 0 {
			in.Schema.Properties[name+ownWords] = formField{Type: "string", Title: q.Header, Description: "In your own words"}
		}
	}
	in.Message = strings.Join(texts, "\n")
	var out formResponse
	if err := t.a.call(ctx, "elicitation/create", in, &out); err != nil || out.Action != "accept" {
		return nil, false
	}
	answers := make([][]string, len(ask.Questions))
	for i := range ask.Questions {
		name := "q" + strconv.Itoa(i+1)
		answers[i] = values(out.Content[name])
		if own := values(out.Content[name+ownWords]); len(own) > 0 {
			answers[i] = own
		}
	}
	return answers, true
}

// values reads a field of a form: a text, or a list of them.
func values(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	return []string{}
}

// pick gets one question answered as a choice of one option.
func (t *conversation) pick(ctx context.Context, ask lathe.QuestionAsk, q lathe.Question) ([]string, bool) {
	in := permissionRequest{SessionID: string(t.id), ToolCall: toolUpdate{ID: string(ask.ID), Title: q.Text, Kind: "other", Status: "pending"}}
	if ask.Tool != nil {
		in.ToolCall.ID = callID(ask.Tool.MessageID, ask.Tool.CallID)
	}
	for i, o := range q.Options {
		name := o.Label
		if o.Description != "" {
			name += ": " + o.Description
		}
		in.Options = append(in.Options, permissionOption{strconv.Itoa(i), name, "allow_once"})
	}
	in.Options = append(in.Options, permissionOption{rejectOnce, "Dismiss the question", "reject_once"})
	var out permissionResponse
	if err := t.a.call(ctx, "session/request_permission", in, &out); err != nil {
		return nil, false
	}
	i, err := strconv.Atoi(out.Outcome.OptionID)
	if err != nil || i < 0 || i >= len(q.Options) {
		return nil, false
	}
	return []string{q.Options[i].Label}, true
}

// pending puts asks and questions to the person that came before the session was opened here.
func (t *conversation) pending(ctx context.Context) {
	asks, err := t.c.Asks(ctx)
	if err != nil {
		return
	}
	for _, ask := range asks {
		if t.feed.owner(ctx, ask.SessionID) == t {
			t.permission(ask)
		}
	}
	questions, err := t.c.Questions(ctx)
	if err != nil {
		return
	}
	for _, q := range questions {
		if t.feed.owner(ctx, q.SessionID) == t {
			t.question(q)
		}
	}
}
