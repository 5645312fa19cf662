package builtin

import (
	"context"
	"encoding/json"

	"lathe/internal/tool"
)

// Skill is something the skill tool can load.
type Skill struct{ Name, Description, Path, Content string }

// SearchService is where web and code searches go.
type SearchService struct{ URL, Key string }

func stub(name string) tool.Tool {
	return typed[json.RawMessage]{spec(name, name, `{"type":"object"}`), func(context.Context, *tool.Call, json.RawMessage) (tool.Result, error) {
		return tool.Failf("%s is not available", name), nil
	}}
}
func (e *Env) questionTool() tool.Tool        { return stub("question") }
func (e *Env) patchTool() tool.Tool           { return stub("apply_patch") }
func (e *Env) websearchTool() tool.Tool       { return stub("websearch") }
func (e *Env) codesearchTool() tool.Tool      { return stub("codesearch") }
func (e *Env) skillTool() tool.Tool           { return stub("skill") }
func (e *Env) batchTool() tool.Tool           { return stub("batch") }
func (e *Env) planTool(name string) tool.Tool { return stub(name) }
