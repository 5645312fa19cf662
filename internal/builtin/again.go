package builtin

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/judge"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// anyFile is a file that no rule for some files is about.
const anyFile = "\x00"

// more is what a command may do when it runs once more.
type more struct {
	ok    bool     // it may run once more
	dirs  []string // outside the project, to write in
	reads []string // hidden files and directories, to read
	edits bool     // it may change files of the project that are asked about
	why   error    // the model is told why not; may be nil
}

// allow returns the command with more that it may do.
func (m more) allow(run bashRun, c shell.Command) shell.Command {
	c.Allow.Within, c.Allow.Read = slices.Concat(c.Allow.Within, m.dirs), slices.Concat(c.Allow.Read, m.reads)
	if m.edits {
		c.Confine = run.confine(true)
	}
	return c
}

// tell adds why the command may not do more.
func (m more) tell(res tool.Result) tool.Result {
	if m.why != nil {
		res.Output += "\n\n" + m.why.Error()
	}
	return res
}

// again asks once whether a command that failed may run again with what it was refused.
// Only what it complained about itself counts: many programs try something and do without.
func (e bashRun) again(ctx context.Context, output string, refused []sandbox.Refusal) (m more) {
	outside, inside, files := e.complaints(output, refused)
	m.reads = unreadOf(refused)
	for _, path := range m.reads {
		files = append(files, "read "+path)
	}
	var reqs []tool.Request
	if m.dirs = parents(outside); len(m.dirs) > 0 {
		reqs = append(reqs, judge.External(m.dirs...))
	}
	if len(m.reads) > 0 {
		reqs = append(reqs, judge.External(parents(m.reads)...))
	}
	reason := "the command failed since it may not " + strings.Join(files, ", ") + "; allowed, it runs again"
	if m.edits = len(inside) > 0; m.edits {
		reqs = append(reqs, e.editRequest(inside))
		reason += " and may change files of the project"
	}
	if len(reqs) == 0 || e.call.Ask == nil {
		return more{}
	}
	for i := range reqs {
		reqs[i].Metadata = map[string]any{"command": e.in.Command, "again": true, "refused": files, "reason": reason}
	}
	if len(m.reads) > 0 { // credentials: for this command alone
		reqs[0].Always, reqs[0].Metadata[tool.MetaProtected] = nil, true
	}
	reqs[0].Also = reqs[1:]
	err := ask(ctx, e.call, reqs[0])
	if m.ok = err == nil; m.ok {
		return m
	}
	_, denied := errors.AsType[*permission.Denied](err)
	if _, alone := errors.AsType[*permission.Unanswered](err); denied || alone && m.edits {
		return more{why: err}
	}
	return more{} // the model has the output, which says what was refused
}

// complaints lists what a command was refused and complained about, as paths outside the
// project and in it, and all in words.
func (e bashRun) complaints(output string, refused []sandbox.Refusal) (outside, inside, files []string) {
	said, _, _ := strings.Cut(output, "<bash_metadata>")
	for _, r := range refused {
		if r.Undone != "" || r.Op == readOp || e.closed(r.Path) || !strings.Contains(said, r.Path) && !strings.Contains(said, filepath.Base(r.Path)) {
			continue
		}
		switch {
		case !e.Root.Contains(r.Path):
			outside = append(outside, r.Path)
		case e.edits(r.Path):
			inside = append(inside, r.Path)
		default:
			continue
		}
		files = append(files, r.Op+" "+r.Path)
	}
	return outside, inside, files
}

// edits reports whether a file of the project may not be edited, or not unasked, by the
// rules of the call alone.
func (e bashRun) edits(path string) bool {
	return e.call.Rules != nil && e.protected(path) == "" && e.call.Rules.Action("edit", e.Root.Rel(path)) != lathe.Allow
}

// editRequest asks for files that a command changes.
func (e bashRun) editRequest(paths []string) tool.Request {
	req := tool.Request{Permission: "edit", Always: []string{"*"}, Doing: "this command writes " + e.Root.Name(paths[0]), Instead: "leave it out"}
	for _, path := range paths {
		req.Patterns = append(req.Patterns, e.Root.Rel(path))
	}
	return req
}

// parents lists the directories of files, but not the root of the file system.
func parents(paths []string) (dirs []string) {
	for _, path := range paths {
		if dir := filepath.Dir(path); dir != "/" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
