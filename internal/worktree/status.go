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
