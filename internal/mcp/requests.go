package mcp

//lint:file-ignore SA1019 Roots, sampling and logging are deprecated in the newest protocol; servers of today use them.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
	"lathe/internal/order"
	"lathe/internal/tool"
)

// Host carries out what servers ask of the client.
type Host interface {
	// Questions puts questions to the person who watches a call, and waits. An error
	// means that nobody answers.
	Questions(ctx context.Context, call *tool.Call, list []lathe.Question) ([][]string, error)
	// Sample lets the model of a call's session answer, and counts the cost.
	Sample(ctx context.Context, call *tool.Call, in Sampling) (Sampled, error)
}

// Sampling is what a server wants a model to answer.
type Sampling struct {
	System      string
	Messages    []Said
	MaxTokens   int
	Temperature float64
}

// Said is one message of it: the user's unless Model is set.
type Said struct {
	Model bool
	Text  string
	File  *lathe.File // an image or audio; nil: none
}

// Sampled is the answer of a model.
type Sampled struct {
	Model string
	Text  string
	Cut   bool // it was longer than allowed
}

// elicit asks the person for what a server wants to know. If nobody is watching it
// is declined.
func (c *conn) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	declined := &mcp.ElicitResult{Action: "decline"}
	f := c.newest()
	host := c.server.set.o.Host
	if f == nil || host == nil {
		return declined, nil
	}
	defer f.hold()()
	if err := f.call.Ask(ctx, tool.Request{Permission: "question", Patterns: []string{"*"}, Always: []string{"*"}}); err != nil {
		return declined, nil
	}
	ask := func(list []lathe.Question) ([][]string, error) { return host.Questions(ctx, f.call, list) }
	says := "MCP server " + clean(c.server.conf.Name, 80) + " asks: " + cleanText(req.Params.Message, 2000)
	if req.Params.Mode == "url" || req.Params.URL != "" {
		return elicitURL(says, req.Params.URL, ask)
	}
	return elicitForm(says, req.Params.RequestedSchema, ask)
}

const (
	answerYes  = "Accept"
	answerNo   = "Decline"
	triesFirst = 3 // for an answer that fits
)

func elicitURL(says, address string, ask func([]lathe.Question) ([][]string, error)) (*mcp.ElicitResult, error) {
	q := lathe.Question{
		Header: "Open an address", Text: says + "\nOpen this address in a browser yourself, if you trust it: " + clean(address, 2000),
		Options: []lathe.QuestionOption{{Label: answerYes, Description: "I have opened it"}, {Label: answerNo, Description: "I do not open it"}},
	}
	answers, err := ask([]lathe.Question{q})
	switch {
	case err != nil:
		return &mcp.ElicitResult{Action: "cancel"}, nil
	case first(answers, 0) == answerYes:
		return &mcp.ElicitResult{Action: "accept"}, nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

func first(answers [][]string, i int) string {
	if i < len(answers) && len(answers[i]) > 0 {
		return answers[i][0]
	}
	return ""
}

// field is one thing that a form wants to know.
type field struct {
	name     string
	kind     string // the JSON type
	required bool
	many     bool
	values   map[string]any // by label, where there is a choice
	initial  any            // used if nothing is answered
	question lathe.Question
}

// maxFields limits a form.
const maxFields = 20

func elicitForm(says string, schema any, ask func([]lathe.Question) ([][]string, error)) (*mcp.ElicitResult, error) {
	fields, err := fieldsOf(says, schema)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return elicitConsent(says, ask)
	}
	list := make([]lathe.Question, len(fields))
	for i, f := range fields {
		list[i] = f.question
	}
	for range triesFirst {
		answers, err := ask(list)
		if err != nil {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}
		list = slices.Clone(list)
		content, wrong := map[string]any{}, false
		for i, f := range fields {
			var given []string
			if i < len(answers) {
				given = answers[i]
			}
			v, err := f.value(given)
			list[i].Text = f.question.Text
			if err != nil {
				wrong = true
				list[i].Text += "\n(" + err.Error() + ")"
			} else if v != nil {
				content[f.name] = v
			}
		}
		if !wrong {
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		}
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

func elicitConsent(says string, ask func([]lathe.Question) ([][]string, error)) (*mcp.ElicitResult, error) {
	answers, err := ask([]lathe.Question{{
		Header: "Confirm", Text: says, Options: []lathe.QuestionOption{{Label: answerYes}, {Label: answerNo}},
	}})
	switch {
	case err != nil:
		return &mcp.ElicitResult{Action: "cancel"}, nil
	case first(answers, 0) == answerYes:
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

// fieldsOf reads a form's schema: those that are required first, then by name.
func fieldsOf(says string, schema any) ([]field, error) {
	root, _ := schema.(map[string]any)
	props, _ := root["properties"].(map[string]any)
	if len(props) > maxFields {
		return nil, fmt.Errorf("a form of %d fields is too long: at most %d", len(props), maxFields)
	}
	required := map[string]bool{}
	if list, ok := root["required"].([]any); ok {
		for _, name := range list {
			required[fmt.Sprint(name)] = true
		}
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if def, ok := props[name].(map[string]any); ok {
			out = append(out, fieldOf(says, name, def, required[name]))
		}
	}
	order.Stable(out, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return out, nil
}

func fieldOf(says, name string, def map[string]any, required bool) field {
	text := func(key string) string { s, _ := def[key].(string); return s }
	f := field{name: name, kind: text("type"), required: required, initial: def["default"], values: map[string]any{}}
	title := clean(cmp.Or(text("title"), name), 60)
	f.question = lathe.Question{Header: title, Text: says + "\n" + title}
	if d := clean(text("description"), 400); d != "" {
		f.question.Text += ": " + d
	}
	choices := def
	if f.kind == "array" {
		f.many = true
		if items, ok := def["items"].(map[string]any); ok {
			choices = items
		}
	}
	f.offer(choices)
	if f.kind == "boolean" {
		f.choice("Yes", true)
		f.choice("No", false)
	}
	f.question.Multiple = f.many
	f.question.Custom = len(f.values) == 0
	switch {
	case f.initial != nil:
		f.question.Text += fmt.Sprintf(" (unanswered: %v)", f.initial)
	case !required:
		f.question.Text += " (may stay unanswered)"
	}
	return f
}

// offer reads what there is to choose from, in any of the protocol's forms.
func (f *field) offer(def map[string]any) {
	enum, _ := def["enum"].([]any)
	names, _ := def["enumNames"].([]any)
	for i, v := range enum {
		label := fmt.Sprint(v)
		if i < len(names) {
			label = fmt.Sprint(names[i])
		}
		f.choice(label, v)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := def[key].([]any)
		for _, e := range list {
			if o, ok := e.(map[string]any); ok && o["const"] != nil {
				label, _ := o["title"].(string)
				f.choice(cmp.Or(label, fmt.Sprint(o["const"])), o["const"])
			}
		}
	}
}

func (f *field) choice(label string, value any) {
	label = clean(label, 200)
	if _, taken := f.values[label]; taken || len(f.values) > 200 {
		return
	}
	f.values[label] = value
	f.question.Options = append(f.question.Options, lathe.QuestionOption{Label: label})
}

// value is the meaning of an answer; nil if it was left out.
func (f *field) value(given []string) (any, error) {
	given = slices.DeleteFunc(slices.Clone(given), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(given) == 0 {
		if f.initial != nil || !f.required {
			return f.initial, nil
		}
		return nil, errors.New("an answer is needed")
	}
	if f.many {
		list := []any{}
		for _, label := range given {
			v, ok := f.values[label]
			if !ok {
				v = label
			}
			list = append(list, v)
		}
		return list, nil
	}
	if len(f.values) > 0 {
		if v, ok := f.values[given[0]]; ok {
			return v, nil
		}
		return nil, errors.New("choose one of the options")
	}
	switch text := strings.TrimSpace(given[0]); f.kind {
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errors.New("a whole number is needed")
		}
		return n, nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errors.New("a number is needed")
		}
		return n, nil
	}
	return given[0], nil
}

// sample lets the session's model answer a server, if the person allows it.
func (c *conn) sample(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	f := c.newest()
	host := c.server.set.o.Host
	if f == nil || host == nil {
		return nil, errors.New("no session is running whose model could answer")
	}
	defer f.hold()()
	name := clean(c.server.conf.Name, 80)
	in := sampling(req.Params)
	if err := f.call.Ask(ctx, tool.Request{
		Permission: "mcp_sampling", Patterns: []string{name}, Always: []string{name},
		Metadata: map[string]any{
			tool.MetaProtected: true, tool.MetaNamed: name, "server": name, "prompt": in.preview(),
			"reason": "the MCP server " + name + " wants your model to answer it, at your cost",
		},
		Doing: "the MCP server " + name + " wants the model to answer something",
	}); err != nil {
		return nil, fmt.Errorf("sampling was refused: %w", err)
	}
	out, err := host.Sample(ctx, f.call, in)
	if err != nil {
		return nil, err
	}
	stop := "endTurn"
	if out.Cut {
		stop = "maxTokens"
	}
	return &mcp.CreateMessageResult{Role: "assistant", Model: out.Model, StopReason: stop, Content: &mcp.TextContent{Text: out.Text}}, nil
}

func sampling(p *mcp.CreateMessageParams) Sampling {
	in := Sampling{System: p.SystemPrompt, MaxTokens: int(p.MaxTokens), Temperature: p.Temperature}
	for _, m := range p.Messages {
		if m == nil {
			continue
		}
		var g gather
		g.add(m.Content)
		said := Said{Model: m.Role == "assistant", Text: strings.Join(g.texts, "\n\n")}
		if len(g.files) > 0 {
			said.File = &g.files[0]
		}
		in.Messages = append(in.Messages, said)
	}
	return in
}

// preview is the beginning of what the model would be sent, for the person who decides.
func (in Sampling) preview() string {
	var b strings.Builder
	if in.System != "" {
		b.WriteString(in.System + "\n")
	}
	for _, m := range in.Messages {
		b.WriteString(m.Text + "\n")
	}
	return cleanText(b.String(), 2000)
}
