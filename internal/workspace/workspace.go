// Package workspace knows where a project is and touches its files: it finds
// the checkout and its identity, decides whether a path lies inside, reads only
// regular files, writes atomically, and keeps a text's encoding and line ends.
//
// # Paths
//
// A path is judged by where it really leads. [Resolve] follows every symbolic
// link as the kernel would, so callers resolve once, judge the result, and open
// that result. Containment compares whole elements: /repo-evil is not in /repo.
//
// Case and normalisation: on Linux two spellings are two files. On macOS and
// Windows a path that differs from the root in case or in Unicode form is
// compared by file identity, so it counts as inside exactly if its directory
// is; [Root.Rel] still returns the spelling it was given for names that differ.
package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxPointer bounds .git and commondir files, which hold one path.
const maxPointer = 64 << 10

// Root says where a session works. All directories are absolute and resolved.
type Root struct {
	// Dir is the directory the session runs in.
	Dir string
	// Worktree is the main checkout of the project: the same for all linked
	// worktrees of a repository. It is "/" outside git. Things that belong to a
	// place, such as approvals, are stored under it, so a directory that only
	// claims to be a linked worktree counts as a place of its own: the repository
	// must point back at it.
	Worktree string
	// TopLevel is the top of the checkout that Dir is in, "/" outside git. It
	// differs from Worktree only in a linked worktree. Path rules use this one.
	TopLevel string
	// GitDir is the git directory of this checkout, CommonDir the one its
	// linked worktrees share. Both are empty outside git.
	GitDir, CommonDir string
	// VCS is "git" or "".
	VCS string
}

// Find returns the root for a directory: the nearest checkout at or above it.
// It runs no program; a .git that is not a repository is passed over.
func Find(ctx context.Context, dir string) (Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Root{}, fmt.Errorf("directory %q: %w", dir, err)
	}
	real, err := Resolve(abs)
	if err != nil {
		return Root{}, fmt.Errorf("directory %q: %w", dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return Root{}, fmt.Errorf("directory %q: %w", dir, err)
	}
	if !info.IsDir() {
		return Root{}, fmt.Errorf("directory %q: is a file; name the directory that holds it", dir)
	}
	root := Root{Dir: real, Worktree: "/", TopLevel: "/"}
	for top := real; ; top = filepath.Dir(top) {
		if ctx.Err() != nil {
			return Root{}, context.Cause(ctx)
		}
		if gitDir, commonDir, ok := repository(top); ok {
			root.VCS, root.TopLevel, root.Worktree = "git", top, top
			root.GitDir, root.CommonDir = gitDir, commonDir
			if linkedFrom(gitDir, commonDir, top) {
				root.Worktree = filepath.Dir(commonDir)
			}
			return root, nil
		}
		if filepath.Dir(top) == top {
			return root, nil
		}
	}
}

// repository returns the git directories of a checkout whose top is dir.
func repository(dir string) (gitDir, commonDir string, ok bool) {
	gitDir = filepath.Join(dir, ".git")
	info, err := os.Stat(gitDir)
	if err != nil {
		return "", "", false
	}
	if !info.IsDir() {
		to, err := readPointer(gitDir)
		to, found := strings.CutPrefix(to, "gitdir: ")
		if err != nil || !found {
			return "", "", false
		}
		gitDir = join(dir, to)
	}
	if gitDir, err = Resolve(gitDir); err != nil {
		return "", "", false
	}
	commonDir = gitDir
	if to, err := readPointer(filepath.Join(gitDir, "commondir")); err == nil {
		if commonDir, err = Resolve(join(gitDir, to)); err != nil {
			return "", "", false
		}
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "HEAD")); err != nil {
		return "", "", false
	}
	return gitDir, commonDir, isDir(filepath.Join(commonDir, "objects")) && isDir(filepath.Join(commonDir, "refs"))
}

// linkedFrom reports whether a checkout is a linked worktree that its repository
// knows: its git directory is one of the repository's, where only those can write
// who may write to the repository, and it points back at the checkout. What the
// checkout itself says proves nothing.
func linkedFrom(gitDir, commonDir, top string) bool {
	if filepath.Dir(gitDir) != filepath.Join(commonDir, "worktrees") {
		return false
	}
	if info, err := os.Lstat(filepath.Join(top, ".git")); err != nil || !info.Mode().IsRegular() {
		return false
	}
	to, err := readPointer(filepath.Join(gitDir, "gitdir"))
	if err != nil || filepath.Base(to) != ".git" {
		return false
	}
	back, err := Resolve(filepath.Dir(join(gitDir, to)))
	return err == nil && back == top
}

func readPointer(path string) (string, error) {
	data, err := ReadFile(path, maxPointer)
	return string(bytes.TrimRight(data, "\r\n")), err
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Contains reports whether a path lies in Dir or in the checkout (outside git:
// in Dir only), judged after resolution. A relative path is taken from Dir. What
// cannot be resolved is outside.
func (r Root) Contains(path string) bool {
	real, err := r.Resolve(path)
	if err != nil {
		return false
	}
	return Within(r.Dir, real) || r.TopLevel != "/" && Within(r.TopLevel, real)
}

// Resolve is [Resolve] for a path that may be relative to Dir. It joins without
// cleaning, so that "link/.." leads where the kernel would go.
func (r Root) Resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("path is empty")
	}
	if !filepath.IsAbs(path) {
		path = r.Dir + string(filepath.Separator) + path
	}
	return Resolve(path)
}

// Rel returns the path relative to the checkout ("/" outside git), resolved and
// with forward slashes, as permission patterns are written: "../x" for what lies
// outside, "." for the top itself.
func (r Root) Rel(path string) string {
	real, err := r.Resolve(path)
	if err != nil {
		real = join(r.Dir, path)
	}
	rel, err := filepath.Rel(r.TopLevel, real)
	if err != nil { // another volume
		return filepath.ToSlash(real)
	}
	return filepath.ToSlash(rel)
}

// Name returns the path as shown to a person: relative to the checkout, outside git to
// the session's directory, and absolute if it is not below that.
func (r Root) Name(path string) string {
	top := r.Dir
	if r.VCS != "" {
		top = r.TopLevel
	}
	real, err := r.Resolve(path)
	if err != nil {
		real = join(r.Dir, path)
	}
	if rel, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(real)
}

// Within reports whether a path is a directory or lies in it; both are resolved.
func Within(dir, path string) bool {
	if dir == path {
		return true
	}
	prefix := dir
	if !os.IsPathSeparator(prefix[len(prefix)-1]) {
		prefix += string(filepath.Separator)
	}
	return strings.HasPrefix(path, prefix) || foldsNames && sameAncestor(dir, path)
}

// sameAncestor reports whether dir, under any spelling, is an ancestor of path.
func sameAncestor(dir, path string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if got, err := os.Lstat(path); err == nil && os.SameFile(want, got) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

// readAll reads at most limit bytes and fails with ErrTooLarge if there are more.
func readAll(r io.Reader, limit int64, size int64) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), limit)+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, ErrTooLarge
	}
	return buf.Bytes(), nil
}
