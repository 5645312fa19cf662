package builtin

import (
	"context"
	_ "embed" // the description

	"lathe/internal/tool"
)

//go:embed invalid.md
var invalidText string

type invalidInput struct {
	Tool  string `json:"tool"`
	Error string `json:"error"`
}

// invalidTool answers the calls that no tool can take, so that the turn goes on.
func invalidTool() tool.Tool {
	s := spec(tool.InvalidName, invalidText, `{"type":"object","properties":{`+
		`"tool":{"type":"string"},"error":{"type":"string"}},"required":["tool","error"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed[invalidInput]{s, func(_ context.Context, _ *tool.Call, in invalidInput) (tool.Result, error) {
		return tool.Result{
			Title:    "Invalid Tool",
			Output:   "The arguments provided to the tool are invalid: " + in.Error,
			Metadata: map[string]any{},
		}, nil
	}}
}
