package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/workspace"
)

// Indexed is a file as git's index has it.
type Indexed struct {
	Mode string // such as 100644; empty: git does not know the file
	Text string
}

// Link reports whether it is a symbolic link or a repository of its own, which have no lines.
func (i Indexed) Link() bool { return i.Mode != "" && !strings.HasPrefix(i.Mode, "100") }

// Indexed returns what the index of a checkout has of a file. The name is one below the top,
// with slashes; here and below it is a name whatever signs are in it, and no pattern.
func (r *Repo) Indexed(ctx context.Context, top, name string) (Indexed, error) {
	out, err := r.run(ctx, top, "ls-files", "--stage", "-z", "--", name)
	if err != nil {
		return Indexed{}, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(about)
		if path != name || len(f) != 3 { // below a directory of that name
			continue
		}
		if f[2] != "0" {
			return Indexed{}, lathe.Errorf(lathe.CodeInvalid, "resolve it, then stage it with: git add", "%q has conflicts of a merge", name)
		}
		in := Indexed{Mode: f[0]}
		if !in.Link() {
			in.Text, err = r.run(ctx, top, "cat-file", "blob", f[1])
		}
		return in, err
	}
	return Indexed{}, nil
}

// Stage puts files of a checkout into its index as they are now; those that are gone leave it.
// One that git never heard of and that is gone is none of its business.
func (r *Repo) Stage(ctx context.Context, top string, names []string) error {
	if err := r.unfiltered(ctx, top, names); err != nil {
		return err
	}
	return r.toIndex(ctx, top, strings.Join(names, "\x00")+"\x00", "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
}

// StagePatch applies a patch to the index alone: all of it, or none where the index has other
// lines than it expects.
func (r *Repo) StagePatch(ctx context.Context, top, patch string) error {
	exact := *r
	exact.options = append(slices.Clone(r.options), "-c", "apply.ignoreWhitespace=no")
	return exact.toIndex(ctx, top, patch, "apply", "--cached", "--whitespace=nowarn", "-")
}

// unfiltered refuses files that would get into the index as they are not meant to: the
// repository names a filter for them which may not run.
func (r *Repo) unfiltered(ctx context.Context, top string, names []string) error {
	off, err := r.withoutFilters(ctx, top)
	if err != nil || len(off) == 0 {
		return err
	}
	out, err := r.with(strings.Join(names, "\x00")+"\x00").run(ctx, top, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	for f := strings.Split(out, "\x00"); len(f) > 3; f = f[3:] {
		if name := f[2]; name != "unspecified" && name != "unset" {
			return lathe.Errorf(lathe.CodeInvalid, "trust it with: lathe trust add", "%q needs the filter %q of the repository, which is not trusted", f[0], name)
		}
	}
	return nil
}

// toIndex runs a git that changes the index.
func (r *Repo) toIndex(ctx context.Context, top, input string, args ...string) error {
	_, err := r.with(input).runFiles(ctx, top, args...)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if root, found := workspace.Find(ctx, top); found == nil {
		lock := filepath.Join(root.GitDir, "index.lock")
		if _, gone := os.Lstat(lock); !errors.Is(gone, fs.ErrNotExist) && strings.Contains(err.Error(), "index.lock") {
			return lathe.Errorf(lathe.CodeBusy, "try again when it is done; if no git runs here, one was killed: remove that file", "another git is changing the index of this repository: there is %s", lock)
		}
	}
	return err
}

// with returns a repository whose git reads an input.
func (r *Repo) with(input string) *Repo {
	other := *r
	other.input = input
	return &other
}
