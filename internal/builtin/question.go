package builtin

import (
	"context"
	_ "embed" // the description
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

//go:embed question.md
var questionText string

// Dismissed is the error of a question that the user did not want to answer. It
// counts as a rejected permission: the turn stops.
type Dismissed struct{}

// Error is what the model is told.
func (*Dismissed) Error() string { return "The user dismissed this question" }

// Unwrap makes it a rejection.
func (*Dismissed) Unwrap() error { return &permission.Rejected{} }

type questionInput struct {
	Questions []struct {
		Question string `json:"question"`
		Header   string `json:"header"`
		Options  []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"options"`
		Multiple bool `json:"multiple"`
	} `json:"questions"`
}

func (e sessionTools) questionTool() tool.Tool {
	s := spec("question", questionText, `{"type":"object","properties":{`+
		`"questions":{"type":"array","minItems":1,"items":{"type":"object","properties":{`+
		`"question":{"type":"string","description":"The whole question"},`+
		`"header":{"type":"string","description":"Very short label, at most 30 characters"},`+
		`"options":{"type":"array","description":"What the user can choose","items":{"type":"object","properties":{`+
		`"label":{"type":"string","description":"1 to 5 words"},`+
		`"description":{"type":"string","description":"What choosing it means"}},"required":["label","description"],"additionalProperties":false}},`+
		`"multiple":{"type":"boolean","description":"Whether several options may be chosen"}},`+
		`"required":["question","header","options"],"additionalProperties":false}}},`+
		`"required":["questions"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.question)
}

func (e sessionTools) question(ctx context.Context, call *tool.Call, in questionInput) (tool.Result, error) {
	questions := make([]lathe.Question, len(in.Questions))
	for i, q := range in.Questions {
		questions[i] = lathe.Question{Text: q.Question, Header: q.Header, Multiple: q.Multiple, Custom: true}
		for _, o := range q.Options {
			questions[i].Options = append(questions[i].Options, lathe.QuestionOption{Label: o.Label, Description: o.Description})
		}
	}
	began := e.now()
	answers, err := e.Ask(ctx, call, questions)
	if err != nil {
		return tool.Result{}, &refused{err}
	}
	var said []string
	shown := make([]any, len(questions))
	for i, q := range questions {
		answer := "Unanswered"
		labels := []any{}
		if i < len(answers) && len(answers[i]) > 0 {
			answer = strings.Join(answers[i], ", ")
			for _, a := range answers[i] {
				labels = append(labels, a)
			}
		}
		shown[i] = labels
		said = append(said, fmt.Sprintf("%q=%q", q.Text, answer))
	}
	waited := e.now().Sub(began)
	plural := "s"
	if len(questions) == 1 {
		plural = ""
	}
	return tool.Result{
		Title: fmt.Sprintf("Asked %d question%s", len(questions), plural),
		Output: "User has answered your questions: " + strings.Join(said, ", ") +
			". You can now continue with the user's answers in mind.",
		Metadata: map[string]any{"answers": shown, lathe.MetaWaited: waited.Milliseconds()},
	}, nil
}
