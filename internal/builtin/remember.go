package builtin

import (
	"context"
	_ "embed" // the description
	"path/filepath"

	"lathe/internal/diff"
	lessons "lathe/internal/learn"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

//go:embed remember.md
var rememberText string

type rememberInput struct {
	Line string `json:"line"`
}

func (e editTools) rememberTool() tool.Tool {
	s := spec("remember", rememberText, `{"type":"object","properties":{`+
		`"line":{"type":"string","description":"One short rule, in the user's language"}},`+
		`"required":["line"],"additionalProperties":false}`)
	s.Permission = "edit"
	return typed(s, e.remember)
}

// remember adds a line to the project's instructions. The person is asked every time, whatever
// is allowed: a line there steers all later work.
func (e editTools) remember(ctx context.Context, call *tool.Call, in rememberInput) (tool.Result, error) {
	line, err := lessons.Line(in.Line)
	if err != nil {
		return tool.Result{}, failf("%v", err)
	}
	named, err := e.Notes()
	if err != nil {
		return tool.Result{}, failf("%v", err)
	}
	path, err := e.target(named)
	if err != nil {
		return tool.Result{}, err
	}
	from, free, err := e.hold(ctx, call, path)
	if err != nil {
		return tool.Result{}, err
	}
	defer free()
	have, err := workspace.Decode(from.data)
	if err != nil || have.Encoding == workspace.Bytes {
		return tool.Result{}, failf("%s is not text.", from.name)
	}
	if lessons.Has(have.Content, line) {
		return tool.Result{Title: from.name, Output: "The instructions say that already."}, nil
	}
	c := change{from: from, after: rewritten(from, lessons.Add(have.Content, line))}
	req := e.changeRequest(from)
	req.Always = nil
	req.Metadata["diff"], req.Metadata["description"] = diff.Dedent(c.unified()), "remember: "+line
	req.Metadata[tool.MetaProtected], req.Metadata["reason"] = true, "a line in "+filepath.Base(from.path)+" steers all later work in this project"
	if err := ask(ctx, call, req); err != nil {
		return tool.Result{}, err
	}
	if _, err := e.store(ctx, call, c); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Title: from.name, Output: "Written to " + from.name + ". It counts from the next session on; go by it in this one, too."}, nil
}
