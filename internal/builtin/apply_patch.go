package builtin

import (
	"context"
	_ "embed" // the description
	"slices"
	"strings"

	"lathe"
	"lathe/internal/diff"
	"lathe/internal/lsp"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

//go:embed apply_patch.md
var patchText string

type patchInput struct {
	PatchText string `json:"patchText"`
}

func (e editTools) patchTool() tool.Tool {
	s := spec("apply_patch", patchText, `{"type":"object","properties":{`+
		`"patchText":{"type":"string","description":"The whole patch, markers included"}},`+
		`"required":["patchText"],"additionalProperties":false}`)
	s.Permission, s.PathArg = "edit", "*"
	return typed(s, e.applyPatch)
}

// patchChange is one file of a patch. After a move, to is where it went.
type patchChange struct {
	change
	kind string // add, update, delete or move
	to   *fileState
}

// written is the file that holds the new content.
func (c patchChange) written() fileState {
	if c.to != nil {
		return *c.to
	}
	return c.from
}

func (e editTools) applyPatch(ctx context.Context, call *tool.Call, in patchInput) (tool.Result, error) {
	if strings.TrimSpace(in.PatchText) == "" {
		return tool.Result{}, failf("patchText is required")
	}
	hunks, err := parsePatch(in.PatchText)
	if err != nil {
		return tool.Result{}, failf("apply_patch verification failed: %v", err)
	}
	if len(hunks) == 0 {
		if strings.TrimSpace(toLF(in.PatchText)) == patchBegin+"\n"+patchEnd {
			return tool.Result{}, failf("patch rejected: empty patch")
		}
		return tool.Result{}, failf("apply_patch verification failed: no hunks found")
	}
	paths, err := e.patchPaths(ctx, call, hunks)
	if err != nil {
		return tool.Result{}, err
	}
	unlock, err := e.Locks.Lock(ctx, slices.Concat(paths.from, paths.to)...)
	if err != nil {
		return tool.Result{}, err
	}
	defer unlock()
	changes, err := e.verify(ctx, call, hunks, paths)
	if err != nil {
		return tool.Result{}, err
	}
	return e.carryOut(ctx, call, paths.ticket, changes)
}

// carryOut asks for permission to make changes of several files, makes them, and tells
// what became of them. The files are locked.
func (e editTools) carryOut(ctx context.Context, call *tool.Call, ticket *tool.Next, changes []patchChange) (tool.Result, error) {
	watch := e.watch(states(changes, false)...)
	defer watch.Drop()
	if err := e.approvePatch(ctx, call, ticket, changes); err != nil {
		return tool.Result{}, err
	}
	if err := e.commitPatch(ctx, call, changes); err != nil {
		return tool.Result{}, err
	}
	var now []lsp.File
	for _, f := range states(changes, true) {
		now = append(now, f.language())
	}
	return e.patchResult(changes, watch.After(ctx, now...)), nil
}

// patchPaths are the resolved paths of the hunks; to holds only those of moves,
// in the order of the hunks that have one.
type patchPaths struct {
	from, to []string
	ticket   *tool.Next // see [editTools.leave]
}

func (e editTools) patchPaths(ctx context.Context, call *tool.Call, hunks []hunk) (patchPaths, error) {
	var p patchPaths
	for _, h := range hunks {
		path, err := e.target(h.target())
		if err != nil {
			return p, err
		}
		if slices.Contains(p.from, path) || slices.Contains(p.to, path) {
			return p, failf("apply_patch verification failed: %s is in the patch twice; put all its changes in one section", h.target())
		}
		p.from = append(p.from, path)
		if u, ok := h.(updateFile); ok && u.moveTo != "" {
			to, err := e.target(u.moveTo)
			if err != nil {
				return p, err
			}
			if to != path && (slices.Contains(p.from, to) || slices.Contains(p.to, to)) {
				return p, failf("apply_patch verification failed: %s is in the patch twice", u.moveTo)
			}
			p.to = append(p.to, to)
		}
	}
	var err error
	p.ticket, err = e.leave(ctx, call, slices.Concat(p.from, p.to)...)
	return p, err
}

// verify works out every file's new content before anything is written.
func (e editTools) verify(ctx context.Context, call *tool.Call, hunks []hunk, paths patchPaths) ([]patchChange, error) {
	var out []patchChange
	for i, h := range hunks {
		from, err := e.look(ctx, call, paths.from[i])
		if err != nil {
			return nil, failf("apply_patch verification failed: %v", err)
		}
		c := patchChange{change: change{from: from}}
		switch h := h.(type) {
		case addFile:
			if from.exists {
				return nil, failf("apply_patch verification failed: %s exists already; use an Update File section to change it", h.path)
			}
			c.kind, c.after = "add", []byte(h.content)
		case deleteFile:
			if !from.exists {
				return nil, failf("apply_patch verification failed: Failed to read %s for deletion: it does not exist%s", h.path, e.meant(ctx, call, from.path))
			}
			c.kind = "delete"
		case updateFile:
			if !from.exists {
				return nil, failf("apply_patch verification failed: Failed to read file to update: %s%s", from.path, e.meant(ctx, call, from.path))
			}
			if err := e.guessable(call, from); err != nil {
				return nil, failf("apply_patch verification failed: %v", err)
			}
			c.kind = "update"
			if c.after, err = h.bytes(from.data); err != nil {
				return nil, failf("apply_patch verification failed: %v", err)
			}
			if h.moveTo != "" {
				var to string
				to, paths.to = paths.to[0], paths.to[1:]
				if to != from.path {
					state, err := e.look(ctx, call, to)
					if err == nil && state.exists {
						err = failf("%s exists already, so nothing can be moved there", h.moveTo)
					}
					if err != nil {
						return nil, failf("apply_patch verification failed: %v", err)
					}
					c.kind, c.to = "move", &state
				}
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// bytes applies the update to a file's content and keeps its style.
func (u updateFile) bytes(data []byte) ([]byte, error) {
	if len(u.chunks) == 0 {
		return data, nil // only moved
	}
	text, err := workspace.Decode(data)
	if err != nil {
		return nil, err
	}
	after, err := u.apply(text.Content)
	if err != nil {
		return nil, err
	}
	return workspace.Encode(text.With(after)), nil
}

// diff returns a file's change as a diff.
func (c patchChange) diff() string {
	before, after := c.texts()
	oldName, newName := c.from.path, c.written().path
	switch c.kind {
	case "add":
		oldName = "/dev/null"
	case "delete":
		newName, after = "/dev/null", ""
	}
	return diff.Unified(oldName, newName, before, after, diff.Context)
}

func (e editTools) approvePatch(ctx context.Context, call *tool.Call, ticket *tool.Next, changes []patchChange) error {
	var plain []change
	var shown strings.Builder
	for _, c := range changes {
		plain = append(plain, c.change)
		if c.to != nil {
			plain = append(plain, change{from: *c.to})
		}
		shown.WriteString(c.diff())
	}
	return e.approve(ctx, call, shown.String(), ticket, plain...)
}

// commitPatch writes the files in order, then formats them all. An error half way
// says what was written before it.
func (e editTools) commitPatch(ctx context.Context, call *tool.Call, changes []patchChange) error {
	var done []string
	var failed error
	var written []*patchChange
	for i := range changes {
		c := &changes[i]
		if failed = e.commitFile(ctx, call, c); failed != nil {
			break
		}
		done = append(done, c.written().path)
		if c.kind != "delete" {
			written = append(written, c)
		}
	}
	plain := make([]change, len(written))
	for n, c := range written {
		plain[n] = change{from: c.written(), after: c.after}
	}
	for n, final := range e.settle(ctx, call, plain...) {
		written[n].after = final.data
	}
	if failed != nil && len(done) > 0 {
		return failf("%v\nThese files were changed before that: %s", failed, strings.Join(done, ", "))
	}
	return failed
}

func (e editTools) commitFile(ctx context.Context, call *tool.Call, c *patchChange) error {
	if c.kind != "delete" {
		if err := e.commit(ctx, call, change{from: c.written(), after: c.after}); err != nil {
			return err
		}
	}
	if c.kind == "delete" || c.kind == "move" {
		if err := workspace.RemoveReal(c.from.path); err != nil {
			return explain("remove", c.from.path, err)
		}
		e.Publish(lathe.FileWatched{File: c.from.path, Op: "unlink"})
		if c.kind == "delete" {
			e.Publish(lathe.FileEdited{File: c.from.path})
		}
	}
	return nil
}

// states are the files of a patch as they were before it, or are after it.
func states(changes []patchChange, after bool) (out []fileState) {
	for _, c := range changes {
		from := c.from
		if !after {
			out = append(out, from)
			if c.to != nil {
				out = append(out, *c.to)
			}
			continue
		}
		if c.kind == "delete" || c.to != nil {
			from.exists, from.data = false, nil
			out = append(out, from)
		}
		if c.kind != "delete" {
			w := c.written()
			w.exists, w.data = true, c.after
			out = append(out, w)
		}
	}
	return out
}

func (e editTools) patchResult(changes []patchChange, found lsp.Report) tool.Result {
	lines := []string{"Success. Updated the following files:"}
	var paths []string
	var files []any
	var all strings.Builder
	for _, c := range changes {
		letter := map[string]string{"add": "A", "delete": "D"}[c.kind]
		if letter == "" {
			letter = "M"
		}
		lines = append(lines, summary(letter, c.written().name))
		if c.kind != "delete" {
			paths = append(paths, c.written().path)
		}
		files = append(files, c.meta())
		all.WriteString(c.diff())
	}
	out := strings.Join(lines, "\n")
	for _, c := range changes {
		w := c.written()
		out = withErrors(out, "\n\nLSP errors detected in "+w.name+", please fix:\n", errorBlock(w.path, found.New[w.path]))
	}
	out = e.withRest(out, found, paths...)
	return tool.Result{Title: out, Output: out, Metadata: map[string]any{
		"diff": all.String(), "files": files, "diagnostics": diagnosticsMeta(found.All), "truncated": false,
	}}
}

func (c patchChange) meta() map[string]any {
	before, after := c.texts()
	if c.kind == "delete" {
		after = ""
	}
	added, removed := diff.Count(before, after)
	file := map[string]any{
		"filePath": c.from.path, "relativePath": c.written().name, "type": c.kind,
		"patch": c.diff(), "additions": added, "deletions": removed,
	}
	if c.to != nil {
		file["movePath"] = c.to.path
	}
	return file
}
