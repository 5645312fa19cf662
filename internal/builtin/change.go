package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"lathe"
	"lathe/internal/diff"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// maxWhole is the size up to which a change carries the whole texts in its
// metadata, for clients that draw the difference themselves.
const maxWhole = 64 << 10

// fileState is a file as it is on disk.
type fileState struct {
	path   string // resolved
	rel    string // the form used in permission patterns
	name   string // the form shown to people
	exists bool
	info   fs.FileInfo
	data   []byte
}

func (e editTools) place(path string) fileState {
	return fileState{path: path, rel: e.Root.Rel(path), name: e.Root.Name(path)}
}

// look reads the file that a change is about. It needs no permission.
func (e editTools) look(ctx context.Context, call *tool.Call, path string) (fileState, error) {
	s := e.place(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, explain("read", path, err)
	case info.IsDir():
		return s, failf("Path is a directory, not a file: %s", path)
	}
	if s.data, err = workspace.ReadReal(path, 0); err != nil {
		return s, explain("read", path, err)
	}
	s.exists, s.info = true, info
	if text, ok := e.unsaved(ctx, call, path, s.data); ok {
		s.data = text
	}
	return s, nil
}

// hold locks the file that a change is about and reads it. The caller gives it free.
func (e editTools) hold(ctx context.Context, call *tool.Call, path string) (from fileState, free func(), err error) {
	free, err = e.Locks.Lock(ctx, path)
	if err != nil {
		return fileState{}, nil, err
	}
	if from, err = e.look(ctx, call, path); err != nil {
		free()
		return fileState{}, nil, err
	}
	return from, free, nil
}

// change is one file before and after.
type change struct {
	from  fileState
	after []byte
}

// reserve resolves the path of a file that will be changed and asks to leave the
// workspace, if need be, and for the change in the same breath. Paths that no tool writes
// are refused. The ticket is for [editTools.approve].
func (e editTools) reserve(ctx context.Context, call *tool.Call, path string) (string, *tool.Next, error) {
	real, err := e.target(path)
	if err != nil {
		return "", nil, err
	}
	ticket, err := e.leave(ctx, call, real)
	return real, ticket, err
}

// target resolves the path of a file that will be changed.
func (e editTools) target(path string) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", failf("filePath is required")
	}
	real, err := e.resolve(path)
	if err != nil {
		return "", err
	}
	if e.closed(real) {
		return "", failf("%s belongs to lathe itself and cannot be changed by tools.", real)
	}
	return real, nil
}

// leave asks once to change targets outside the workspace, if there are any, and for the
// change of all targets.
func (e editTools) leave(ctx context.Context, call *tool.Call, targets ...string) (ticket *tool.Next, err error) {
	places := make([]fileState, len(targets))
	for i, path := range targets {
		places[i] = e.place(path)
	}
	ticket = &tool.Next{Request: e.changeRequest(places...)}
	return ticket, e.externalAll(ctx, call, targets, ticket)
}

// texts returns both sides for a diff: no byte order mark, LF line ends.
func (c change) texts() (before, after string) {
	return plainText(c.from.path, c.from.data), plainText(c.from.path, c.after)
}

func plainText(path string, data []byte) string {
	if workspace.IsBinary("", data) {
		return fmt.Sprintf("(binary, %d bytes)\n", len(data))
	}
	t, err := workspace.Decode(data)
	if err != nil {
		return fmt.Sprintf("(not text, %d bytes)\n", len(data))
	}
	if !utf8.ValidString(t.Content) {
		return strings.ToValidUTF8(t.Content, "\ufffd")
	}
	return t.Content
}

// unified returns the diff of a change as clients show it.
func (c change) unified() string {
	before, after := c.texts()
	return diff.Unified(c.from.path, c.from.path, before, after, diff.Context)
}

// approve asks for permission to make the changes, unless it was given with the ticket.
// The diff is what the user sees.
func (e editTools) approve(ctx context.Context, call *tool.Call, shown string, ticket *tool.Next, changes ...change) error {
	if ticket.Given {
		return nil
	}
	var files []fileState
	for _, c := range changes {
		files = append(files, c.from)
	}
	req := e.changeRequest(files...)
	req.Metadata["diff"] = shown
	return ask(ctx, call, req)
}

// changeRequest is the request to change files.
func (e editTools) changeRequest(files ...fileState) tool.Request {
	req := tool.Request{Permission: "edit", Always: []string{"*"}, Doing: "this would change " + files[0].name}
	var paths []string
	for _, f := range files {
		req.Patterns = append(req.Patterns, f.rel)
		paths = append(paths, f.path)
	}
	req.Metadata = map[string]any{"filepath": strings.Join(paths, ", ")}
	for _, f := range files {
		if why := e.protected(f.path); why != "" {
			req.Always = nil
			req.Metadata[tool.MetaProtected] = true
			req.Metadata["reason"] = f.name + ": " + why
			break
		}
	}
	return req
}

// store writes a change, reports it and settles it.
func (e editTools) store(ctx context.Context, call *tool.Call, c change) (fileState, error) {
	if err := e.commit(ctx, call, c); err != nil {
		return fileState{}, err
	}
	return e.settle(ctx, call, c)[0], nil
}

// commit writes a change and reports it. The file must still be as it was when the
// change was prepared: the user may have taken a while to answer.
func (e editTools) commit(ctx context.Context, call *tool.Call, c change) error {
	now, err := e.look(ctx, call, c.from.path)
	if err != nil {
		return err
	}
	if now.exists != c.from.exists || !bytes.Equal(now.data, c.from.data) {
		return failf("%s changed while the change was being prepared; read it again.", c.from.path)
	}
	if err := e.put(ctx, call, c.from.path, c.after); err != nil {
		return explain("write", c.from.path, err)
	}
	e.Publish(lathe.FileEdited{File: c.from.path})
	op := "add"
	if c.from.exists {
		op = "change"
	}
	e.Publish(lathe.FileWatched{File: c.from.path, Op: op})
	return nil
}

// settle formats the files that were written, all at once, and returns and records
// what they then hold. A formatter that fails leaves a file as the tool wrote it.
func (e editTools) settle(ctx context.Context, call *tool.Call, changes ...change) []fileState {
	if e.Format != nil && len(changes) > 0 {
		paths := make([]string, len(changes))
		for n, c := range changes {
			paths[n] = c.from.path
		}
		e.Format(ctx, paths) // it reports its own failures; the changes stand
	}
	out := make([]fileState, len(changes))
	for n, c := range changes {
		out[n] = e.final(ctx, call, c)
		e.Seen.Record(call.SessionID, out[n].path, out[n].info, out[n].data)
	}
	return out
}

// final is what a file holds after it was written and formatted. It keeps its byte order
// mark.
func (e editTools) final(ctx context.Context, call *tool.Call, c change) fileState {
	final := fileState{path: c.from.path, rel: c.from.rel, name: c.from.name, exists: true, data: c.after}
	if e.Format != nil {
		if now, err := e.look(ctx, call, c.from.path); err == nil && now.exists {
			final = now
			if mark := []byte("\ufeff"); bytes.HasPrefix(c.after, mark) && !bytes.HasPrefix(now.data, mark) {
				final.data = append(mark, now.data...)
				if e.put(ctx, call, final.path, final.data) != nil {
					final.data = now.data
				}
			}
		}
	}
	final.info, _ = os.Stat(final.path)
	return final
}

// describe is the metadata of a change: what it was in the end. Patch is its
// unified diff.
func (c change) describe(patch string) map[string]any {
	before, after := c.texts()
	added, removed := diff.Count(before, after)
	file := map[string]any{"file": c.from.path, "patch": patch, "additions": added, "deletions": removed}
	if len(before) <= maxWhole && len(after) <= maxWhole {
		file["before"], file["after"] = before, after
	}
	return map[string]any{"diff": diff.Dedent(patch), "filediff": file}
}
