package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/workspace"
)

// Change is a file that differs from a commit.
type Change struct {
	File           string // relative to the root's Dir, with slashes
	Status         string // "added", "deleted" or "modified"
	Added, Removed int    // lines; 0 for what is not text
	Patch          string // a git patch of this file, if patches were asked for
}

// Since says what a checkout is compared with, and how.
type Since struct {
	Branch  bool // where it left the default branch, instead of its last commit
	Patches bool
	Context int // lines around a change in a patch
}

// bigFile is the size from which files are not compared line by line.
const bigFile = "4m"

// Changes lists the files below the root's Dir that differ from a commit,
// including those that git does not know yet, in the order of their names.
// There are none if there is no default branch to compare with.
func (r *Repo) Changes(ctx context.Context, since Since) ([]Change, error) {
	base, err := r.base(ctx, since.Branch)
	if err != nil || base == "" {
		return nil, err
	}
	return r.changes(ctx, base, since)
}

// Beyond is Changes since a commit, without patches.
func (r *Repo) Beyond(ctx context.Context, base string) ([]Change, error) {
	return r.changes(ctx, base, Since{})
}

func (r *Repo) changes(ctx context.Context, base string, since Since) ([]Change, error) {
	with, done, err := r.withUntracked(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	with.options = []string{"-c", "core.bigFileThreshold=" + bigFile}
	diff := func(form ...string) (string, error) {
		return with.runFiles(ctx, r.o.Root.Dir, slices.Concat([]string{
			"diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--ignore-submodules=dirty", "--submodule=short",
			"--relative", "--src-prefix=a/", "--dst-prefix=b/",
		}, form, []string{base, "--", "."})...)
	}
	list, err := diff("--raw", "--numstat", "-z")
	if err != nil {
		return nil, err
	}
	changes := parseChanges(list)
	if !since.Patches || len(changes) == 0 {
		return changes, nil
	}
	text, err := diff("--patch", "--unified="+strconv.Itoa(since.Context))
	if err != nil {
		return nil, err
	}
	patches := splitPatches(text)
	for i, c := range changes {
		changes[i].Patch = patches[header(c.File)]
	}
	return changes, nil
}

// base returns the commit to compare with; an empty tree before the first one.
func (r *Repo) base(ctx context.Context, branch bool) (string, error) {
	head, err := r.commit(ctx, r.o.Root.Dir, "HEAD")
	if err != nil {
		return "", err
	}
	if !branch {
		if head == "" {
			return r.line(ctx, r.o.Root.Dir, "hash-object", "-t", "tree", "--stdin")
		}
		return head, nil
	}
	ref := defaultRef(r.o.Root)
	if ref == "" || head == "" {
		return "", nil
	}
	base, err := r.line(ctx, r.o.Root.Dir, "merge-base", head, ref)
	if exitCode(err) > 0 { // the histories have nothing in common, or the ref leads nowhere
		return "", nil
	}
	return base, err
}

// withUntracked returns the repository with an index of its own, in which the
// files that git does not know are to be added, and a function that removes
// that index again.
func (r *Repo) withUntracked(ctx context.Context) (*Repo, func(), error) {
	fresh, err := r.runFiles(ctx, r.o.Root.Dir, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, nil, err
	}
	names := slices.DeleteFunc(strings.Split(fresh, "\x00"), func(s string) bool {
		return s == "" || strings.HasSuffix(s, "/") // repositories of their own
	})
	with := *r
	if len(names) == 0 {
		return &with, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "lathe-index-")
	if err != nil {
		return nil, nil, fmt.Errorf("list changes: %w", err)
	}
	done := func() { _ = os.RemoveAll(dir) }
	with.index = filepath.Join(dir, "index")
	list := filepath.Join(dir, "names")
	err = copyIndex(with.index, filepath.Join(r.o.Root.GitDir, "index"))
	if err == nil {
		err = os.WriteFile(list, []byte(strings.Join(names, "\x00")), 0o600)
	}
	if err == nil {
		_, err = with.runFiles(ctx, r.o.Root.Dir, "add", "--intent-to-add", "--ignore-errors", "--pathspec-from-file="+list, "--pathspec-file-nul")
		if exitCode(err) > 0 { // a file went away, or cannot be read: the others count
			err = nil
		}
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("list changes: %w", err)
	}
	return &with, done, nil
}

// copyIndex copies an index, which may be missing, with its time: git compares it
// with those of files, to see which may have changed unnoticed.
func copyIndex(to, from string) error {
	in, info, err := workspace.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// parseChanges reads what git diff --raw --numstat -z prints: for each file
// ":modes hashes status NUL path NUL", then for each "added TAB removed TAB path
// NUL". A file whose merge has conflicts may come twice.
func parseChanges(out string) []Change {
	var changes []Change
	at := map[string]int{}
	fields := strings.Split(out, "\x00")
	i := 0
	for ; i+1 < len(fields) && strings.HasPrefix(fields[i], ":"); i += 2 {
		name := fields[i+1]
		if _, again := at[name]; again {
			continue
		}
		status := "modified"
		switch {
		case strings.HasSuffix(fields[i], " A"):
			status = "added"
		case strings.HasSuffix(fields[i], " D"):
			status = "deleted"
		}
		at[name] = len(changes)
		changes = append(changes, Change{File: name, Status: status})
	}
	for _, field := range fields[i:] {
		f := strings.SplitN(field, "\t", 3)
		if len(f) != 3 {
			continue
		}
		if n, ok := at[f[2]]; ok {
			changes[n].Added, _ = strconv.Atoi(f[0]) // "-" for what is not text
			changes[n].Removed, _ = strconv.Atoi(f[1])
		}
	}
	return changes
}

const patchBegins = "diff --git "

// splitPatches cuts a patch into those of its files, by their headers. No line of
// a file's content can look like a header, because each has a mark in front. A
// file that became a link, or the other way round, has two patches.
func splitPatches(text string) map[string]string {
	out := map[string]string{}
	for len(text) > 0 {
		next := strings.Index(text[1:], "\n"+patchBegins)
		one := text
		if next >= 0 {
			one = text[:next+2]
		}
		text = text[len(one):]
		first, _, _ := strings.Cut(one, "\n")
		if strings.HasPrefix(first, patchBegins) {
			out[first] += one
		}
	}
	return out
}

// header is the line with which a file's patch begins.
func header(name string) string {
	return patchBegins + quoted("a/"+name) + " " + quoted("b/"+name)
}

// quoted writes a path as git does: plain, or as a C string where it has
// characters that need it.
func quoted(path string) string {
	short := map[byte]byte{'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}
	var b strings.Builder
	plain := true
	for i := range len(path) {
		c := path[i]
		switch e, ok := short[c]; {
		case ok:
			b.WriteByte('\\')
			b.WriteByte(e)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
			continue
		}
		plain = false
	}
	if plain {
		return path
	}
	return `"` + b.String() + `"`
}
