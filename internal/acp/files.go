package acp

import (
	"context"

	"lathe"
)

// editorFiles gives access to files as the editor has them.
type editorFiles struct {
	a  *agent
	id lathe.SessionID
}

// ReadText asks the editor for the text of a file.
func (f *editorFiles) ReadText(ctx context.Context, path string) (string, error) {
	var out struct {
		Content string `json:"content"`
	}
	in := struct {
		SessionID lathe.SessionID `json:"sessionId"`
		Path      string          `json:"path"`
	}{f.id, path}
	err := f.a.call(ctx, "fs/read_text_file", in, &out)
	return out.Content, err
}

// WriteText gives the editor the new text of a file.
func (f *editorFiles) WriteText(ctx context.Context, path, text string) error {
	in := struct {
		SessionID lathe.SessionID `json:"sessionId"`
		Path      string          `json:"path"`
		Content   string          `json:"content"`
	}{f.id, path, text}
	return f.a.call(ctx, "fs/write_text_file", in, nil)
}
