package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/workspace"
)

const (
	maxMerged   = 16 << 20 // bytes of a file that is merged
	maxConflict = 32 << 10 // bytes of both sides that a conflict shows
)

// MergeInput says what to merge.
type MergeInput struct {
	Base string // the commit that both sides began with
	From string // the commit with the changes
	Name string // what that side is called where the two conflict
}

// Merged is what became of a merge.
type Merged struct {
	Changed   []string // files of the checkout that were written or removed, relative to its top
	Conflicts []Conflict
}

// Conflict is a file that both sides changed. It stays as it is in the checkout, and as it
// is on the branch.
type Conflict struct {
	Path string
	Why  string
	Text string // the file with both sides marked, where it is text and short enough
}

// Merge changes the files of the root's checkout as the commits between base and from
// changed theirs. It touches neither its commit nor its index, and what is uncommitted in
// it counts: files that both sides changed in the same places are left alone and returned as
// conflicts. Merging again changes nothing more.
func (r *Repo) Merge(ctx context.Context, in MergeInput) (out Merged, err error) {
	release, err := r.alone(ctx)
	if err != nil {
		return out, err
	}
	defer release()
	list, err := r.run(ctx, r.o.Root.TopLevel, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", in.Base, in.From)
	if err != nil {
		return out, err
	}
	dir, err := os.MkdirTemp("", "lathe-merge-")
	if err != nil {
		return out, fmt.Errorf("merge: %w", err)
	}
	defer os.RemoveAll(dir)
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		m := merging{r: r, in: in, dir: dir, path: fields[i+1], modes: strings.Fields(strings.TrimPrefix(fields[i], ":"))}
		changed, conflict, err := m.file(ctx)
		switch {
		case err != nil:
			return out, fmt.Errorf("merge %s: %w", m.path, err)
		case conflict != nil:
			out.Conflicts = append(out.Conflicts, *conflict)
		case changed:
			out.Changed = append(out.Changed, m.path)
		}
	}
	return out, nil
}

// merging is one file of a merge.
type merging struct {
	r     *Repo
	in    MergeInput
	dir   string   // for temporary files
	path  string   // relative to the checkout's top, with slashes
	modes []string // before, after, and the hashes of both
}

// side is a file on one side; missing where it is nil.
type side []byte

func (m *merging) conflict(format string, args ...any) *Conflict {
	return &Conflict{Path: m.path, Why: fmt.Sprintf(format, args...)}
}

func (m *merging) file(ctx context.Context) (changed bool, _ *Conflict, err error) {
	if len(m.modes) < 2 {
		return false, nil, errors.New("git said what is not understood")
	}
	for _, mode := range m.modes[:2] {
		if mode == "120000" || mode == "160000" {
			return false, m.conflict("it is a symbolic link or a submodule, which is not merged; take it with: git checkout %s -- %s", m.in.Name, m.path), nil
		}
	}
	real := filepath.Join(m.r.o.Root.TopLevel, filepath.FromSlash(m.path))
	if now, err := workspace.Resolve(real); err != nil || now != real {
		return false, m.conflict("a symbolic link is in its place here"), nil
	}
	ours, err := m.ours(real)
	if err != nil {
		return false, m.conflict("it cannot be read here: %v", err), nil
	}
	base, err := m.blob(ctx, m.in.Base, m.modes[0])
	if err != nil {
		return false, nil, err
	}
	theirs, err := m.blob(ctx, m.in.From, m.modes[1])
	if err != nil {
		return false, nil, err
	}
	if !same(ours, base) && !same(ours, theirs) {
		if theirs, err = m.both(ctx, base, ours, theirs); err != nil {
			c, ok := errors.AsType[*bothChanged](err)
			if !ok {
				return false, nil, err
			}
			return false, &c.Conflict, nil
		}
	}
	return m.write(real, ours, theirs)
}

// write makes the file what it was merged to.
func (m *merging) write(real string, ours, merged side) (changed bool, _ *Conflict, err error) {
	executable := m.modes[1] == "100755"
	switch {
	case merged == nil && ours == nil:
		return false, nil, nil
	case merged == nil:
		if err := workspace.RemoveReal(real); err != nil {
			return false, m.conflict("it cannot be removed here: %v", err), nil
		}
		return true, nil, nil
	case same(ours, merged) && m.modes[0] == m.modes[1]:
		return false, nil, nil
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	if !same(ours, merged) {
		err = os.MkdirAll(filepath.Dir(real), 0o755)
		if err == nil {
			err = workspace.WriteReal(real, merged, mode)
		}
		if err != nil {
			return false, m.conflict("it cannot be written here: %v", err), nil
		}
		changed = true
	}
	if info, err := os.Lstat(real); err == nil && info.Mode().IsRegular() && m.modes[0] != m.modes[1] && executable != (info.Mode()&0o100 != 0) {
		if err := os.Chmod(real, info.Mode().Perm()&^0o111|mode&0o111); err != nil {
			return changed, m.conflict("its mode cannot be changed here: %v", err), nil
		}
		changed = true
	}
	return changed, nil, nil
}

func same(a, b side) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// ours returns the file as it is in the checkout.
func (m *merging) ours(real string) (side, error) {
	data, err := workspace.ReadReal(real, maxMerged)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return append(side{}, data...), nil
}

// blob returns the file as a commit has it, the way git would check it out.
func (m *merging) blob(ctx context.Context, commit, mode string) (side, error) {
	if strings.Trim(mode, "0") == "" {
		return nil, nil
	}
	out, err := m.r.runFiles(ctx, m.r.o.Root.TopLevel, "cat-file", "--filters", commit+":"+m.path)
	return side(out), err
}

// bothChanged is the conflict of a file that both sides changed.
type bothChanged struct{ Conflict }

func (e *bothChanged) Error() string { return e.Why }

// both merges the changes of both sides line by line.
func (m *merging) both(ctx context.Context, base, ours, theirs side) (side, error) {
	switch {
	case ours == nil:
		return nil, &bothChanged{*m.conflict("it was removed here and changed on %s", m.in.Name)}
	case theirs == nil:
		return nil, &bothChanged{*m.conflict("it was changed here and removed on %s", m.in.Name)}
	case !text(ours) || !text(theirs) || !text(base):
		return nil, &bothChanged{*m.conflict("both sides changed it, and it is not text")}
	}
	var files []string
	for i, data := range []side{ours, base, theirs} {
		name := filepath.Join(m.dir, string(rune('a'+i)))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	out, err := m.r.run(ctx, m.r.o.Root.TopLevel, append([]string{"merge-file", "-p", "-q", "-L", "here", "-L", "before", "-L", m.in.Name}, files...)...)
	if code := exitCode(err); err != nil && (code < 0 || code > 127) {
		return nil, err
	}
	if err == nil {
		return side(out), nil
	}
	c := m.conflict("both sides changed the same lines")
	if base == nil {
		c.Why = "both sides added it"
	}
	if len(out) <= maxConflict {
		c.Text = out
	}
	return nil, &bothChanged{*c}
}

// text reports whether a file can be merged by lines.
func text(data side) bool { return bytes.IndexByte(data, 0) < 0 }

// Commit commits all that is in a worktree that lathe made, as lathe, and returns the commit
// that is checked out then. Git's hooks do not run.
func (r *Repo) Commit(ctx context.Context, dir, message string) (commit string, err error) {
	w, err := r.Own(ctx, dir)
	if err != nil {
		return "", err
	}
	head, err := r.commit(ctx, w.TopLevel, "HEAD")
	if err != nil {
		return "", err
	}
	tip, err := r.commitFiles(ctx, w, head, message)
	if err != nil || tip == head {
		return tip, err
	}
	_, err = r.run(ctx, w.TopLevel, "update-ref", "-m", "lathe: commit", "HEAD", tip, head)
	return tip, err
}

// Since lists what a commit changed since another.
func (r *Repo) Since(ctx context.Context, base, tip string) ([]Change, error) {
	out, err := r.run(ctx, r.o.Root.TopLevel, "diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", base, tip)
	if err != nil {
		return nil, err
	}
	return parseChanges(out), nil
}

// Head returns the commit that is checked out in a directory.
func (r *Repo) Head(ctx context.Context, dir string) (string, error) {
	return r.commit(ctx, dir, "HEAD")
}

// Fork returns the commit where another left that of the root's checkout; itself where the
// two have nothing in common.
func (r *Repo) Fork(ctx context.Context, commit string) (string, error) {
	base, err := r.line(ctx, r.o.Root.TopLevel, "merge-base", "HEAD", commit)
	if exitCode(err) == 1 {
		return commit, nil
	}
	return base, err
}

// At returns the repository as it is seen from another of its checkouts.
func (r *Repo) At(root workspace.Root) *Repo {
	other := *r
	other.o.Root = root
	return &other
}
