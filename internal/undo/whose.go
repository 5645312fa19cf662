package undo

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/snapshot"
	"lathe/internal/workspace"
)

// Sessions working in one worktree at the same time see each other's changes in
// their trees. A change belongs to whoever's tool names the file it writes. If a
// command may have changed a file, nobody can tell: the file is marked as shared,
// and a revert leaves it alone unless forced, so that no session undoes what
// another one did.

// Patch returns what the session's newest answer changed since a tree, and the
// current tree.
func (u *Changes) Patch(ctx context.Context, store *snapshot.Store, from string) (p lathe.Patch, now string, err error) {
	p, now, err = store.Patch(ctx, from)
	if err != nil {
		return p, now, err
	}
	u.seen(ctx, store, now, false)
	if len(p.Files) == 0 {
		return p, now, nil
	}
	jobs := u.writingJobs(store.Top())
	beside, err := u.store.Beside(ctx, u.current().ID)
	if err != nil {
		u.log.Warn("what other sessions changed meanwhile is not known", "session", u.current().ID, "err", err)
		return p, now, nil
	}
	if len(beside.Others) == 0 && !beside.More && len(jobs) == 0 {
		return p, now, nil
	}
	if len(jobs) > 0 && beside.Answer.ID == "" { // not read if there are no other sessions
		if beside.Answer, err = u.answer(ctx); err != nil {
			return p, now, err
		}
	}
	w := writers{own: wroteBy(u.inst, u.inst.Root.Dir, inForeground(beside.Answer)), more: beside.More}
	for _, o := range beside.Others {
		if workspace.Within(store.Top(), o.Directory) {
			w.others = append(w.others, wroteBy(u.inst, o.Directory, o.Message))
		}
	}
	p.Files, p.Shared = w.sort(p.Files)
	if len(jobs) > 0 {
		p.Shared = append(p.Shared, w.sortJobs(p.Files, jobs, u.now())...)
		slices.Sort(p.Shared)
		p.Shared = slices.Compact(p.Shared)
	}
	return p, now, nil
}

// wrote is what the tools of one answer did to files.
type wrote struct {
	named   map[string]time.Time // files that tools wrote by name, and when last
	writing map[string]bool      // files named by calls that have not ended well
	unnamed bool                 // a tool may have changed any file
	patched map[string]bool      // what the answer is known to have changed; nil while that is unknown
}

// writers are the answers that may have changed a file.
type writers struct {
	own    wrote
	others []wrote
	more   bool // there are more than these
}

// sort leaves out the files that others wrote, and says which ones they may have written.
func (w writers) sort(files []string) (ours, shared []string) {
	for _, f := range files {
		end, mine := w.own.named[f]
		theirs, maybe := false, w.more
		for _, o := range w.others {
			_, named := o.named[f]
			theirs = theirs || named
			maybe = maybe || o.patched[f] || o.writing[f] || o.patched == nil && o.unnamed && !(mine && unchangedSince(f, end))
		}
		switch {
		case theirs && !mine:
			continue
		case theirs || maybe:
			shared = append(shared, f)
		}
		ours = append(ours, f)
	}
	return ours, shared
}

// unchangedSince reports whether a file has not changed since a time.
func unchangedSince(path string, end time.Time) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.ModTime().After(end)
}

// wroteBy tells from an answer's parts what its tools did.
func wroteBy(i *instance.Instance, dir string, m lathe.Message) wrote {
	w := wrote{named: map[string]time.Time{}, writing: map[string]bool{}}
	a, _ := m.Info.(*lathe.Assistant)
	known, patched := a != nil && !a.Completed.IsZero(), map[string]bool{}
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.ToolCall:
			called(i, &w, dir, b)
		case *lathe.StepStart:
			known = known && b.Snapshot == "" // otherwise its end says so; there is none if it was killed
		case *lathe.StepFinish, *lathe.SnapshotMark:
			known = true
		case *lathe.Patch:
			known = true
			for _, f := range b.Files {
				patched[f] = true
			}
		}
	}
	if known {
		w.patched = patched
	}
	return w
}

func called(i *instance.Instance, w *wrote, dir string, call *lathe.ToolCall) {
	var input json.RawMessage
	end, done := time.Time{}, false
	switch st := call.State.(type) {
	case *lathe.ToolPending:
		return
	case *lathe.ToolRunning:
		input = st.Input
	case *lathe.ToolDone:
		input, end, done = st.Input, st.Time.End, true
	case *lathe.ToolFailed:
		input, end = st.Input, st.Time.End
	}
	if t, ok := i.Tools.Lookup(call.Tool); call.Tool == "task" || ok && t.Spec().ReadOnly {
		return // what a subagent does is recorded in its own session
	}
	files, named := writes(call.Tool, dir, input)
	switch {
	case !named:
		w.unnamed = true
	case done:
		for _, f := range files {
			w.named[f] = end
		}
	default:
		for _, f := range files {
			w.writing[f] = true
		}
	}
}

// writes returns the files that a call names, if it can change no others.
func writes(tool, dir string, input json.RawMessage) (files []string, named bool) {
	var in struct{ FilePath, PatchText string }
	if json.Unmarshal(input, &in) != nil {
		return nil, false
	}
	switch tool {
	case "edit", "write", "multiedit":
		files = []string{in.FilePath}
	case "apply_patch":
		for line := range strings.Lines(in.PatchText) {
			for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
				if f, ok := strings.CutPrefix(line, mark); ok {
					files = append(files, strings.TrimSpace(f))
				}
			}
		}
	default:
		return nil, false
	}
	for i, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		if real, err := workspace.Resolve(f); err == nil {
			f = real
		}
		files[i] = f
	}
	return slices.Compact(slices.Sorted(slices.Values(files))), true
}
