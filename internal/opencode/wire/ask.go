package wire

import (
	"encoding/json"
	"fmt"

	"lathe"
)

type ask struct {
	ID         lathe.AskID     `json:"id"`
	SessionID  lathe.SessionID `json:"sessionID"`
	Permission string          `json:"permission"`
	Patterns   []string        `json:"patterns"`
	Metadata   map[string]any  `json:"metadata"`
	Always     []string        `json:"always"`
	Tool       *toolRef        `json:"tool,omitempty"`
}

type toolRef struct {
	MessageID lathe.MessageID `json:"messageID"`
	CallID    string          `json:"callID"`
}

// EncodeAsk returns a question about whether a tool may do something.
func EncodeAsk(a lathe.Ask) any {
	return ask{
		ID: a.ID, SessionID: a.SessionID, Permission: a.Permission, Patterns: list(a.Patterns),
		Metadata: object(a.Metadata), Always: list(a.Always), Tool: (*toolRef)(a.Tool),
	}
}

// EncodeAsks returns a list of them.
func EncodeAsks(all []lathe.Ask) []any {
	out := make([]any, 0, len(all))
	for _, a := range all {
		out = append(out, EncodeAsk(a))
	}
	return out
}

// DecodeReply reads the answer to an ask, from the body {reply, message?} or the
// older {response}. A "reject" may have alone, see [lathe.Reply]. An "always" may have project, which makes it last, and
// patterns in place of those that were offered.
func DecodeReply(data []byte) (lathe.Reply, error) {
	var in struct {
		Reply    lathe.ReplyKind `json:"reply"`
		Response lathe.ReplyKind `json:"response"`
		Message  string          `json:"message"`
		Project  bool            `json:"project"`
		Patterns []string        `json:"patterns"`
		Alone    bool            `json:"alone"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return lathe.Reply{}, fmt.Errorf("decode reply: %w", err)
	}
	kind := in.Reply
	if kind == "" {
		kind = in.Response
	}
	switch kind {
	case lathe.Always:
		return lathe.Reply{Kind: kind, Message: in.Message, Project: in.Project, Patterns: in.Patterns}, nil
	case lathe.Reject:
		return lathe.Reply{Kind: kind, Message: in.Message, Alone: in.Alone}, nil
	case lathe.Once:
		return lathe.Reply{Kind: kind, Message: in.Message}, nil
	}
	return lathe.Reply{}, fmt.Errorf("decode reply: %q is not one of %q, %q and %q", kind, lathe.Once, lathe.Always, lathe.Reject)
}

type questionAsk struct {
	ID        lathe.AskID     `json:"id"`
	SessionID lathe.SessionID `json:"sessionID"`
	Questions []question      `json:"questions"`
	Tool      *toolRef        `json:"tool,omitempty"`
}

// question leaves custom out when it is true, which is the default.
type question struct {
	Question string           `json:"question"`
	Header   string           `json:"header"`
	Options  []questionOption `json:"options"`
	Multiple bool             `json:"multiple,omitempty"`
	Custom   *bool            `json:"custom,omitempty"`
}

type questionOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// EncodeQuestions returns a set of questions waiting for answers.
func EncodeQuestions(q lathe.QuestionAsk) any {
	out := questionAsk{ID: q.ID, SessionID: q.SessionID, Questions: []question{}, Tool: (*toolRef)(q.Tool)}
	for _, in := range q.Questions {
		e := question{Question: in.Text, Header: in.Header, Options: []questionOption{}, Multiple: in.Multiple}
		if !in.Custom {
			e.Custom = &in.Custom
		}
		for _, o := range in.Options {
			e.Options = append(e.Options, questionOption(o))
		}
		out.Questions = append(out.Questions, e)
	}
	return out
}

// EncodeQuestionAsks returns a list of them.
func EncodeQuestionAsks(all []lathe.QuestionAsk) []any {
	out := make([]any, 0, len(all))
	for _, q := range all {
		out = append(out, EncodeQuestions(q))
	}
	return out
}

// DecodeAnswers reads the body {answers}: labels or free text for each question.
func DecodeAnswers(data []byte) ([][]string, error) {
	var in struct {
		Answers [][]string `json:"answers"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode answers: %w", err)
	}
	if in.Answers == nil {
		return nil, fmt.Errorf("decode answers: no answers")
	}
	return in.Answers, nil
}
