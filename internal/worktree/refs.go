package worktree

import (
	"context"
	"path/filepath"
	"strings"

	"lathe/internal/workspace"
)

const maxPacked = 16 << 20

// Branch returns the branch that is checked out, or nothing outside git and
// with a detached HEAD.
func Branch(root workspace.Root) string {
	if root.GitDir == "" {
		return ""
	}
	name, _ := strings.CutPrefix(symbolic(root.GitDir, "HEAD"), "refs/heads/")
	return name
}

// DefaultBranch returns the branch that work begins from, without its remote: the
// one that the remote names, or main or master. It is empty if there is none.
func DefaultBranch(root workspace.Root) string {
	ref := defaultRef(root)
	if name, ok := strings.CutPrefix(ref, "refs/remotes/origin/"); ok {
		return name
	}
	return strings.TrimPrefix(ref, "refs/heads/")
}

// defaultRef is the full name of the ref that [DefaultBranch] names.
func defaultRef(root workspace.Root) string {
	if root.CommonDir == "" {
		return ""
	}
	if ref := symbolic(root.CommonDir, "refs", "remotes", "origin", "HEAD"); strings.HasPrefix(ref, "refs/remotes/origin/") {
		return ref
	}
	packed, _ := workspace.ReadFile(filepath.Join(root.CommonDir, "packed-refs"), maxPacked)
	for _, ref := range []string{"refs/heads/main", "refs/heads/master"} {
		loose, err := workspace.ReadFile(filepath.Join(root.CommonDir, filepath.FromSlash(ref)), 4096)
		if err == nil && len(loose) > 0 || strings.Contains(string(packed), " "+ref+"\n") {
			return ref
		}
	}
	return ""
}

// symbolic returns what a symbolic ref points to, or nothing.
func symbolic(dir string, name ...string) string {
	data, err := workspace.ReadFile(filepath.Join(append([]string{dir}, name...)...), 4096)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if err != nil || !ok || !strings.HasPrefix(ref, "refs/") || ref == "refs/heads/.invalid" { // refs kept in tables
		return ""
	}
	return ref
}

// commit returns the commit that a name leads to, or nothing.
func (r *Repo) commit(ctx context.Context, dir, name string) (string, error) {
	out, err := r.line(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	return out, err
}

// branchCommit returns the commit of a branch, or nothing if there is no such branch.
func (r *Repo) branchCommit(ctx context.Context, branch string) (string, error) {
	return r.commit(ctx, r.o.Root.CommonDir, "refs/heads/"+branch)
}
