package builtin

import (
	"context"
	_ "embed" // the description
	"strings"

	"lathe/internal/tool"
)

//go:embed invalid.md
var invalidText string

type invalidInput struct {
	Tool  string `json:"tool"`
	Error string `json:"error"`
}

// invalidTool answers calls that no tool accepts, so that the turn goes on.
func invalidTool() tool.Tool {
	s := spec(tool.InvalidName, invalidText, `{"type":"object","properties":{`+
		`"tool":{"type":"string"},"error":{"type":"string"}},"required":["tool","error"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, func(_ context.Context, _ *tool.Call, in invalidInput) (tool.Result, error) {
		return tool.Result{
			Title:    "Invalid Tool",
			Output:   in.told(),
			Metadata: map[string]any{},
		}, nil
	})
}

// told says what was wrong with a call, and what to do instead of a tool that is
// offered only when a person is present.
func (in invalidInput) told() string {
	switch {
	case !strings.HasPrefix(in.Error, "there is no tool"):
		return "The arguments provided to the tool are invalid: " + in.Error
	case asksPerson(in.Tool):
		return "Nobody is there to answer: decide yourself, go on, and say in your answer what you assumed."
	}
	return "The call was not understood: " + in.Error
}

// asksPerson reports whether a tool of this name asks a person, here or in other agents.
func asksPerson(name string) bool {
	switch tool.Canonical(name) {
	case "question", "askuserquestion", "askfollowupquestion", "askuser", "askhuman", "requestuserinput":
		return true
	}
	return false
}
