package builtin

import (
	"bytes"
	"context"

	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// unsaved returns what an editor holds of a text file of the workspace, if it differs
// from the disk.
func (e *Env) unsaved(ctx context.Context, call *tool.Call, path string, disk []byte) ([]byte, bool) {
	f := e.Buffers.Of(call.SessionID)
	if f == nil || !e.Root.Contains(path) || workspace.IsBinary(path, disk) {
		return nil, false
	}
	text, err := f.ReadText(ctx, path)
	if err != nil || len(text) > workspace.DefaultLimit || text == string(disk) {
		return nil, false
	}
	// Editors may hand lines over without the carriage returns and the mark that the file has.
	if t, err := workspace.Decode(disk); err != nil || t.Content == text || plainLines(t.Content) == text {
		return nil, false
	}
	return []byte(text), true
}

func plainLines(text string) string {
	return string(bytes.ReplaceAll([]byte(text), []byte("\r\n"), []byte("\n")))
}

// put writes a file, through the editor if that has it open. Afterwards it is on disk
// in any case: commands and snapshots do not see the editor.
func (e *Env) put(ctx context.Context, call *tool.Call, path string, data []byte) error {
	if f := e.Buffers.Of(call.SessionID); f != nil && e.Root.Contains(path) && !workspace.IsBinary(path, data) {
		if f.WriteText(ctx, path, string(data)) == nil {
			if now, err := workspace.ReadReal(path, 0); err == nil && bytes.Equal(now, data) {
				return nil
			}
		}
	}
	return workspace.WriteReal(path, data, 0)
}
