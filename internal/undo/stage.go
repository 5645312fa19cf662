package undo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/diff"
	"lathe/internal/snapshot"
	"lathe/internal/worktree"
)

// stageContext is how many lines around a change git compares with its index.
const stageContext = 3

// Stage puts what a session changed into git's index: files as they are now, or one hunk. The
// session itself takes no note of it. A hunk is staged only as long as the file has it, and
// where the index has the lines that it replaces; otherwise nothing is changed.
func (u *Changes) Stage(ctx context.Context, sess lathe.Session, in api.Stage) (out api.Staged, err error) {
	files, err := u.asked(ctx, sess, in)
	if err != nil {
		return out, err
	}
	trees, err := u.inst.Snapshots()
	if err != nil {
		return out, fmt.Errorf("stage changes: %w", err)
	}
	repo, err := worktree.Open(worktree.Options{Root: u.inst.Root, Environ: u.inst.Shell.Env, Trusted: u.inst.Trust.Given})
	if err != nil {
		return out, lathe.Errorf(lathe.CodeInvalid, "make one with: git init", "there is nothing to stage in: this directory is in no git repository")
	}
	for _, f := range files {
		out.Files = append(out.Files, f.File)
	}
	if in.Hunk == 0 || files[0].Status != "modified" {
		out.Whole = in.Hunk > 0
		return out, repo.Stage(ctx, trees.Top(), out.Files)
	}
	s := staging{repo: repo, top: trees.Top(), file: files[0], hunk: in.Hunk}
	out.Already, err = s.stage(ctx)
	return out, err
}

// asked returns the changes that a request is about, each file once.
func (u *Changes) asked(ctx context.Context, sess lathe.Session, in api.Stage) ([]api.ReviewedFile, error) {
	if in.Hunk > 0 && len(in.Files) != 1 || in.Hunk < 0 {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "a hunk is one of one file, counted from 1")
	}
	all, err := u.changesAt(ctx, sess, in)
	if err != nil {
		return nil, err
	}
	wanted := in.Files
	if len(wanted) == 0 {
		for _, f := range all {
			wanted = append(wanted, f.File)
		}
	}
	var files []api.ReviewedFile
	for _, name := range wanted {
		i := slices.IndexFunc(all, func(f api.ReviewedFile) bool {
			return f.File == name && filepath.IsLocal(filepath.FromSlash(name)) && (in.Hunk == 0 || f.Key() == in.Change && in.Hunk <= len(diff.Hunks(f.Before, f.After, 0)))
		})
		known := slices.ContainsFunc(files, func(f api.ReviewedFile) bool { return f.File == name })
		switch {
		case i >= 0 && !known:
			files = append(files, all[i])
		case i < 0 && in.Hunk > 0:
			return nil, lathe.Errorf(lathe.CodeInvalid, "look at it again", "the session has no such change of %q any more", name)
		case i < 0:
			return nil, lathe.Errorf(lathe.CodeNotFound, "list what it changed with: lathe review", "the prompt changed nothing in %q", name)
		}
	}
	if len(files) == 0 {
		return nil, lathe.Errorf(lathe.CodeNotFound, "", "this prompt changed no files")
	}
	return files, nil
}

// changesAt returns the changes among which a request chooses.
func (u *Changes) changesAt(ctx context.Context, sess lathe.Session, in api.Stage) (all []api.ReviewedFile, err error) {
	if in.Until != "" {
		return u.Between(ctx, sess, in.Message, in.Until)
	}
	list, err := u.Review(ctx, sess)
	found := false
	for _, r := range list {
		if r.Message == in.Message {
			all, found = append(all, r.Files...), true
		}
	}
	if err == nil && !found {
		err = lathe.Errorf(lathe.CodeNotFound, "list them with: lathe review", "the session has no prompt %q", in.Message)
	}
	return all, err
}

// staging puts one hunk of a file into the index.
type staging struct {
	repo *worktree.Repo
	top  string
	file api.ReviewedFile
	hunk int
}

// stage reports whether the index had the hunk already.
func (s staging) stage(ctx context.Context) (already bool, err error) {
	name, before, after := s.file.File, s.file.Before, s.file.After
	now, err := s.now()
	if err != nil {
		return false, err
	}
	if _, ok := unpatch(now, before, after, s.hunk); !ok {
		return false, lathe.Errorf(lathe.CodeInvalid, "look at what it is now, or stage the file", "these lines of %q were changed again since", name)
	}
	in, err := s.repo.Indexed(ctx, s.top, name)
	switch {
	case err != nil:
		return false, err
	case in.Mode == "" || in.Link():
		return false, lathe.Errorf(lathe.CodeInvalid, "stage the file", "git has no text of %q in which a hunk could be staged", name)
	}
	if strings.Contains(before, "\r\n") && !strings.Contains(in.Text, "\r\n") {
		// Git keeps other line ends than the directory has.
		all := len(diff.Hunks(before, after, 0))
		before, after = strings.ReplaceAll(before, "\r\n", "\n"), strings.ReplaceAll(after, "\r\n", "\n")
		if len(diff.Hunks(before, after, 0)) != all {
			return false, lathe.Errorf(lathe.CodeInvalid, "stage the file", "some of the changes of %q are line ends that git does not keep", name)
		}
	}
	with, ok := patch(in.Text, before, after, s.hunk)
	if !ok {
		if _, has := unpatch(in.Text, before, after, s.hunk); has {
			return true, nil
		}
		return false, lathe.Errorf(lathe.CodeInvalid, "stage what came before it, or the whole file", "git has other lines in %q where this hunk belongs", name)
	}
	return false, s.repo.StagePatch(ctx, s.top, diff.Unified("a/"+name, "b/"+name, in.Text, with, stageContext))
}

// now returns what the file is now. Links are not followed out of the project.
func (s staging) now() (string, error) {
	root, err := os.OpenRoot(s.top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := filepath.FromSlash(s.file.File)
	info, err := root.Lstat(name)
	switch {
	case os.IsNotExist(err):
		return "", lathe.Errorf(lathe.CodeInvalid, "stage the file", "%q is gone since", s.file.File)
	case err != nil:
		return "", fmt.Errorf("stage a hunk: %w", err)
	case !info.Mode().IsRegular() || info.Size() > snapshot.MaxFile:
		return "", lathe.Errorf(lathe.CodeInvalid, "", "%q is no file with lines any more", s.file.File)
	}
	f, err := root.Open(name)
	if err != nil {
		return "", fmt.Errorf("stage a hunk: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, snapshot.MaxFile))
	if err != nil {
		return "", fmt.Errorf("stage a hunk: %w", err)
	}
	return string(raw), nil
}

// patch makes one hunk of a change, counted from 1, in a text that is otherwise as it was before
// or different elsewhere. It reports false where the text has other lines than those that the
// hunk replaces.
func patch(text, before, after string, hunk int) (string, bool) {
	change := diff.Hunks(before, after, 0)
	if hunk < 1 || hunk > len(change) {
		return text, false
	}
	h := change[hunk-1]
	back := diff.Hunk{OldStart: h.NewStart, OldLines: h.NewLines, NewStart: h.OldStart, NewLines: h.OldLines}
	from, ok := moved(diff.Hunks(before, text, 0), back)
	lines := strings.SplitAfter(text, "\n")
	till := from + h.OldLines
	if !ok || till > len(lines) {
		return text, false
	}
	var put []string
	for _, l := range h.Lines {
		if l.Op == diff.Insert {
			put = append(put, l.Text)
		}
	}
	return strings.Join(slices.Concat(lines[:from], put, lines[till:]), ""), true
}
