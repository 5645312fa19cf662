package server

import (
	"cmp"
	"encoding/base64"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/order"
	"lathe/internal/search"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

// files answers requests for the contents of files, and searches in them.
type files struct{ *call }

const (
	contentLimit = 16 << 20
	maxEntries   = 20_000
)

type fileNode struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Absolute string `json:"absolute"`
	Type     string `json:"type"`
	Ignored  bool   `json:"ignored"`
}

type fileContent struct {
	Type     string `json:"type"`
	Content  string `json:"content"`
	Encoding string `json:"encoding,omitempty"`
	MIME     string `json:"mimeType,omitempty"`
}

type fileStatus struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Status  string `json:"status"`
}

// inside returns the real path that a client's path leads to. It is within the
// project, wherever links point.
func (c files) inside() (*instance.Instance, string, error) {
	q := c.r.URL.Query()
	path := q.Get("path")
	switch {
	case !q.Has("path"):
		return nil, "", badQuery("path", "expected a path")
	case len(path) > maxPath || strings.ContainsRune(path, 0):
		return nil, "", badQuery("path", "not a path")
	}
	inst, err := c.project()
	if err != nil {
		return nil, "", err
	}
	if path == "" {
		path = "."
	}
	real, err := inst.Root.Resolve(path)
	if err != nil {
		return nil, "", badQuery("path", "cannot be resolved")
	}
	if !inst.Root.Contains(real) {
		return nil, "", lathe.Errorf(lathe.CodePermission, "", "Access denied: path escapes project directory")
	}
	if c.s.own().hold(real) {
		return nil, "", ownFilesDenied()
	}
	return inst, real, nil
}

func (c files) fileList() (any, error) {
	inst, dir, err := c.inside()
	if err != nil {
		return nil, err
	}
	entries, err := inst.Root.ReadDir(dir, maxEntries)
	if err != nil && len(entries) == 0 {
		return nil, pathError(err)
	}
	top := inst.Root.TopLevel
	if top == "/" {
		top = inst.Root.Dir
	}
	ignore := search.NewIgnore(top, "")
	out := make([]fileNode, 0, len(entries))
	for _, e := range entries {
		if e.Name() == ".git" || e.Name() == ".DS_Store" {
			continue
		}
		abs := filepath.Join(dir, e.Name())
		kind := "file"
		if e.IsDir() {
			kind = "directory"
		}
		out = append(out, fileNode{
			Name: e.Name(), Path: relative(inst.Root.Dir, abs), Absolute: abs, Type: kind,
			Ignored: ignore.Match(relative(top, abs), e.IsDir()),
		})
	}
	order.Stable(out, func(a, b fileNode) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

func relative(from, path string) string {
	rel, err := filepath.Rel(from, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// pathError distinguishes errors in a path from our own failures.
func pathError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("no such file or directory")
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return badQuery("path", "%v", p.Err)
	}
	return badQuery("path", "cannot be read")
}

// fileRead answers a text without the space around it, and an image as base64. A
// file that is not there is empty, as in OpenCode.
func (c files) fileRead() (any, error) {
	inst, path, err := c.inside()
	if err != nil {
		return nil, err
	}
	data, err := inst.Root.ReadFile(path, contentLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileContent{Type: "text"}, nil
	case err != nil:
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "the file cannot be read: %v", bare(err))
	}
	kind := mediaType(path, data)
	if strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" {
		return fileContent{Type: "text", Content: base64.StdEncoding.EncodeToString(data), Encoding: "base64", MIME: kind}, nil
	}
	if workspace.IsBinary(path, data[:min(len(data), 8192)]) {
		return fileContent{Type: "text", MIME: kind}, nil
	}
	text, err := workspace.Decode(data)
	if err != nil {
		return fileContent{Type: "text"}, nil
	}
	return fileContent{Type: "text", Content: strings.TrimSpace(strings.ToValidUTF8(text.Content, "\uFFFD"))}, nil
}

func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return errors.New("it is not a regular file of a sensible size")
}

func mediaType(path string, data []byte) string {
	if kind := workspace.MediaType(data[:min(len(data), 512)]); kind != "" {
		return kind
	}
	kind := mime.TypeByExtension(filepath.Ext(path))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	base, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return "application/octet-stream"
	}
	return base
}

// fileStatus lists what changed since the last commit.
func (c files) fileStatus() (any, error) {
	changes, err := projects(c).changes(worktree.Since{})
	out := []fileStatus{}
	for _, f := range changes {
		out = append(out, fileStatus{Path: f.File, Added: f.Added, Removed: f.Removed, Status: f.Status})
	}
	return out, err
}
