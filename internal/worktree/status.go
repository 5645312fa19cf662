package worktree

import (
	"context"
	"strings"
)

// Dirty lists the files below the root's Dir that are changed and not committed,
// including staged and untracked ones, as git status does: at most max of them, and
// how many there are in all.
func (r *Repo) Dirty(ctx context.Context, max int) (files []string, all int, err error) {
	with := *r
	with.options = []string{"--no-optional-locks"}
	out, err := with.runFiles(ctx, r.o.Root.Dir, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty", "--", ".")
	if err != nil {
		return nil, 0, err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(entry) < 4 {
			continue
		}
		if all++; len(files) < max {
			files = append(files, entry[3:])
		}
	}
	return files, all, nil
}

// Uncommitted reports whether a worktree holds a file that no commit has, whether git
// ignores it or not.
func (r *Repo) Uncommitted(ctx context.Context, dir string) (bool, error) {
	others, err := r.runFiles(ctx, dir, "ls-files", "-z", "--others", "--directory", "--no-empty-directory")
	if err != nil || others != "" {
		return others != "", err
	}
	changed, err := r.runFiles(ctx, dir, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=none")
	return changed != "", err
}
