package builtin

import (
	"context"
	_ "embed" // the description
	"strings"

	"lathe/internal/diff"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

//go:embed write.md
var writeText string

type writeInput struct {
	FilePath string `json:"filePath"`
	Content  string `json:"content"`
}

func (e editTools) writeTool() tool.Tool {
	s := spec("write", writeText, `{"type":"object","properties":{`+
		`"filePath":{"type":"string","description":"Path of the file to write"},`+
		`"content":{"type":"string","description":"The whole new content"}},`+
		`"required":["filePath","content"],"additionalProperties":false}`)
	s.Permission, s.PathArg = "edit", "filePath"
	return typed(s, e.write)
}

func (e editTools) write(ctx context.Context, call *tool.Call, in writeInput) (tool.Result, error) {
	path, ticket, err := e.reserve(ctx, call, in.FilePath)
	if err != nil {
		return tool.Result{}, err
	}
	from, free, err := e.hold(ctx, call, path)
	if err != nil {
		return tool.Result{}, err
	}
	defer free()
	if from.exists {
		if err := e.Seen.Compare(call.SessionID, path, from.info, from.data); err != nil {
			return tool.Result{}, err
		}
	}
	c := change{from: from, after: rewritten(from, in.Content)}
	watch := e.watch(from)
	defer watch.Drop()
	if err := e.approve(ctx, call, diff.Dedent(c.unified()), ticket, c); err != nil {
		return tool.Result{}, err
	}
	final, err := e.store(ctx, call, c)
	if err != nil {
		return tool.Result{}, err
	}
	found := watch.After(ctx, final.language())
	out := e.withReport("Wrote file successfully."+formatted(c.after, final.data), path, found)
	return tool.Result{Title: final.name, Output: out, Metadata: map[string]any{
		"filepath": path, "exists": from.exists, "diagnostics": diagnosticsMeta(found.All), "truncated": false,
	}}, nil
}

// rewritten returns the bytes of the new content. A file keeps its encoding,
// its byte order mark and, unless the content brings its own, its CRLF line ends.
func rewritten(from fileState, content string) []byte {
	old, err := workspace.Decode(from.data)
	if !from.exists || err != nil || old.Encoding == workspace.Bytes {
		return []byte(content)
	}
	body, marked := strings.CutPrefix(content, "\ufeff")
	utf8 := old.Encoding == workspace.UTF8
	if utf8 && (strings.Contains(body, "\r\n") || old.EOL != workspace.CRLF) {
		if marked || old.BOM {
			body = "\ufeff" + body
		}
		return []byte(body)
	}
	old.BOM = old.BOM || marked
	return workspace.Encode(old.With(body))
}
