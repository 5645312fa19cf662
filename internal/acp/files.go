package acp

import (
	"context"
	"errors"

	"lathe"
)

// ErrNotShown means that an editor does not have a file open for us: the disk has it.
var ErrNotShown = errors.New("the editor does not show the file")

// Files are the files of a session as its editor has them, with what is not saved.
type Files interface {
	// ReadText returns the text of a file, by its absolute path.
	ReadText(ctx context.Context, path string) (string, error)
	// WriteText makes the text of a file what is given. Whether it is saved at once is
	// the editor's.
	WriteText(ctx context.Context, path, text string) error
}

// editorFiles asks the editor.
type editorFiles struct {
	a  *agent
	id lathe.SessionID
}

// ReadText asks for the text of a file.
func (f editorFiles) ReadText(ctx context.Context, path string) (string, error) {
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

// WriteText hands over the new text of a file.
func (f editorFiles) WriteText(ctx context.Context, path, text string) error {
	in := struct {
		SessionID lathe.SessionID `json:"sessionId"`
		Path      string          `json:"path"`
		Content   string          `json:"content"`
	}{f.id, path, text}
	return f.a.call(ctx, "fs/write_text_file", in, nil)
}
