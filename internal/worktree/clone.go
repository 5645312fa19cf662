package worktree

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/workspace"
)

// Source is a repository elsewhere that git fetches from.
type Source struct {
	Address   string        // as git takes it
	Protocols string        // that git may use, separated by colons
	Limit     time.Duration // for all of it
	// Progress gets what git says of its progress, a line at a time; nil: nothing does.
	Progress io.Writer
}

// Clone makes dir, which must not exist, a clone of a repository elsewhere. Git asks nobody
// for anything: credentials come from its helpers and from ssh's agent and keys. If it fails
// it may leave a part of the clone behind.
func Clone(ctx context.Context, from Source, dir string, environ []string) error {
	program, err := gitProgram()
	if err != nil {
		return err
	}
	r := &Repo{o: Options{Environ: environ}, git: program, from: &from}
	_, err = r.exec(ctx, filepath.Dir(dir), from.Limit, steady, []string{"clone", "--progress", "--no-hardlinks", "--no-recurse-submodules", "--origin=origin", "--", from.Address, dir})
	return err
}

// steady ends a transfer that has come to a standstill.
var steady = []string{"-c", "http.lowSpeedLimit=100", "-c", "http.lowSpeedTime=60"}

// Origin returns the address that the repository was cloned from, or nothing.
func (r *Repo) Origin(ctx context.Context) (string, error) {
	out, err := r.line(ctx, r.o.Root.CommonDir, "config", "--local", "--get", "remote.origin.url")
	if exitCode(err) == 1 {
		return "", nil
	}
	return out, err
}

// Fetch brings what is known of the branches of a repository elsewhere up to date. No branch
// of this one changes, and no files. It fails if the repository's own configuration says more
// than a clone's does, since that could have git run any program.
func (r *Repo) Fetch(ctx context.Context, from Source) error {
	if err := r.plain(ctx); err != nil {
		return err
	}
	one := *r
	one.from = &from
	_, err := one.exec(ctx, r.o.Root.CommonDir, from.Limit, steady, []string{
		"fetch", "--quiet", "--no-recurse-submodules", "--no-write-fetch-head", "--upload-pack=git-upload-pack", "--",
		from.Address, "+refs/heads/*:refs/remotes/origin/*",
	})
	return err
}

// Advance moves a checkout of the default branch on to what was last fetched, and returns
// what keeps it from that: nothing is changed where something could be lost.
func (r *Repo) Advance(ctx context.Context) (why string, err error) {
	root := r.o.Root
	ref := defaultRef(root)
	if !strings.HasPrefix(ref, "refs/remotes/") {
		return "", nil // an empty repository
	}
	target, err := r.commit(ctx, root.TopLevel, ref)
	if err != nil {
		return "", err
	}
	head, err := r.commit(ctx, root.TopLevel, "HEAD")
	if err != nil || target == "" || head == target {
		return "", err
	}
	if branch := Branch(root); branch != DefaultBranch(root) {
		return "another branch is checked out", nil
	}
	if status, err := r.runFiles(ctx, root.TopLevel, "status", "--porcelain=v1", "--untracked-files=all"); err != nil || status != "" {
		return "it has changes that are not committed", err
	}
	if _, err := r.run(ctx, root.TopLevel, "merge-base", "--is-ancestor", head, target); exitCode(err) == 1 {
		return "it has commits of its own", nil
	} else if err != nil {
		return "", err
	}
	_, err = r.runFiles(ctx, root.TopLevel, "merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-edit", target)
	return "", err
}

// beginning returns the commit that new worktrees begin at, or nothing.
func (r *Repo) beginning(ctx context.Context) (string, error) {
	root := r.o.Root
	head, err := r.commit(ctx, root.TopLevel, "HEAD")
	ref := defaultRef(root)
	if err != nil || head == "" || !r.o.Newest || !strings.HasPrefix(ref, "refs/remotes/") || Branch(root) != DefaultBranch(root) {
		return head, err
	}
	target, err := r.commit(ctx, root.TopLevel, ref)
	if err != nil || target == "" {
		return head, err
	}
	_, err = r.run(ctx, root.TopLevel, "merge-base", "--is-ancestor", head, target)
	switch exitCode(err) {
	case 0:
		return target, nil
	case 1:
		return head, nil
	}
	return "", err
}

// plainKeys are what the configuration of a clone may say: what git writes by itself, and what
// people set that has no program run. A "*" stands for the name of a branch or remote.
var plainKeys = []string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
	"extensions.objectformat", "extensions.refstorage", "remote.*.url", "remote.*.pushurl", "remote.*.fetch", "branch.*.remote", "branch.*.merge",
	"branch.*.rebase", "branch.*.description", "user.name", "user.email", "user.signingkey", "push.default", "push.autosetupremote", "pull.rebase", "pull.ff",
	"lfs.repositoryformatversion", "lfs.*.access",
}

// plain returns an error if the repository's own configuration says anything else.
func (r *Repo) plain(ctx context.Context) error {
	out, err := r.run(ctx, r.o.Root.CommonDir, "config", "--local", "--no-includes", "--null", "--name-only", "--list")
	if err != nil {
		return err
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if key != "" && !isPlain(key) {
			return lathe.Errorf(lathe.CodeInvalid, "remove it with: git config --local --unset-all "+key,
				"the clone's own configuration has %q, which could have git run a program", key)
		}
	}
	return nil
}

func isPlain(key string) bool {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first != last {
		name := key[first+1 : last]
		if key[:first] == "remote" && strings.ContainsAny(name, ":/") { // it may be an address that is fetched from
			return false
		}
		key = key[:first] + ".*" + key[last:]
	}
	return slices.Contains(plainKeys, key)
}

// fetching is the environment of a git that fetches: it may use the network, and asks nobody.
func (s *Source) fetching() []string {
	return []string{"GIT_ALLOW_PROTOCOL=" + s.Protocols, "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
}

// progress separates what git says of its progress from what goes wrong.
type progress struct {
	to   io.Writer
	errs *workspace.Limited
	line []byte
}

const longestLine = 4 << 10

// Write implements [io.Writer].
func (p *progress) Write(data []byte) (int, error) {
	for _, b := range data {
		if b != '\r' && b != '\n' {
			if len(p.line) < longestLine {
				p.line = append(p.line, b)
			}
			continue
		}
		p.flush()
	}
	return len(data), nil
}

// flush is called at the end of a line, and of all.
func (p *progress) flush() {
	line := append(p.line, '\n')
	p.line = p.line[:0]
	if bytes.Contains(line, []byte("% (")) {
		if p.to != nil {
			_, _ = p.to.Write(line) // it is only told
		}
		return
	}
	_, _ = p.errs.Write(line) // never fails
}
