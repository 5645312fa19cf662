// Package worktree makes, resets and removes linked worktrees of a git
// repository: checkouts of their own that share its history, so that several
// tasks can be worked on at once.
//
// The worktrees of a [Repo] lie in one directory, which is lathe's, and have
// branches that begin with [BranchPrefix]. Others are listed by [Linked] and
// otherwise left alone. What a removed or reset worktree held is kept: commits
// that are on no other branch, and uncommitted files, are first saved on a
// branch of their own. Ignored files are not kept.
//
// [Repo.Stage] and [Repo.StagePatch] put changes of any checkout into its index.
//
// Git runs without the repository's hooks, without the network but to clone and fetch, and,
// in a repository that is not trusted, without the filters of its own configuration.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"lathe"
	"lathe/internal/workspace"
)

const (
	// BranchPrefix begins the names of the branches that worktrees are made with.
	BranchPrefix = "lathe/"
	// KeptPrefix begins the names of the branches that keep what a removed or
	// reset worktree held.
	KeptPrefix = "lathe-kept/"

	maxName   = 64   // bytes of a name
	maxLinked = 1000 // most worktrees of a repository that are looked at
	attempts  = 20   // to find a name that is free

	lockPause = 20 * time.Millisecond // between looks at a lock that others hold
)

// Errors that callers tell apart.
var (
	ErrNotGit = lathe.Errorf(lathe.CodeInvalid, "make one with: git init", "worktrees need a git repository, and this directory is in none")
	ErrName   = errors.New("no usable name")
)

// Worktree is a linked worktree that lathe made.
type Worktree struct {
	Name      string
	Branch    string
	Directory string // absolute and resolved
}

// Options configure [Open]. Root and Dir are needed.
type Options struct {
	Root    workspace.Root // any checkout of the repository; new worktrees begin at its commit
	Dir     string         // where the worktrees lie; made when it is needed
	Environ []string       // of git
	// Trusted lets filters run that the repository's own configuration names.
	Trusted bool
	// Newest has worktrees begin at what was last fetched of the default branch, where that is
	// ahead of a root that has it checked out.
	Newest bool
	Now    func() time.Time // nil: the clock
	Name   func() string    // makes a name for a worktree that was given none
}

// Repo is a repository whose worktrees can be managed. It holds nothing open and
// is safe for concurrent use, by several processes too.
type Repo struct {
	o     Options
	git   string  // the program
	index string  // instead of the checkout's own
	input string  // what git reads; empty: nothing
	from  *Source // that is fetched from

	options []string // of every git
}

// Open returns the repository of a checkout. It fails with [ErrNotGit] outside git.
func Open(o Options) (*Repo, error) {
	if o.Root.VCS != "git" {
		return nil, ErrNotGit
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	program, err := gitProgram()
	if err != nil {
		return nil, err
	}
	return &Repo{o: o, git: program}, nil
}

// Linked returns the tops of the linked worktrees of a root's repository that
// exist, in order. It runs no program.
func Linked(ctx context.Context, root workspace.Root) []string {
	if root.CommonDir == "" {
		return nil
	}
	admin := filepath.Join(root.CommonDir, "worktrees")
	entries, _ := workspace.ReadDir(admin, maxLinked)
	var out []string
	for _, e := range entries {
		dir := filepath.Join(admin, e.Name())
		data, err := workspace.ReadFile(filepath.Join(dir, "gitdir"), 64<<10)
		if err != nil {
			continue
		}
		link := strings.TrimRight(string(data), "\r\n")
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, link)
		}
		got, err := workspace.Find(ctx, filepath.Dir(link))
		if err == nil && got.CommonDir == root.CommonDir && filepath.Base(got.GitDir) == e.Name() && got.GitDir != got.CommonDir {
			out = append(out, got.TopLevel)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Slug turns a requested name into a worktree's name: letters, digits and
// single hyphens, which are safe as a directory, a branch and an argument. An
// error is [ErrName] and says what is wrong.
func Slug(wish string) (string, error) {
	if !utf8.ValidString(wish) {
		return "", badName("the name is not text")
	}
	var b strings.Builder
	for _, r := range wish {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && b.Len() > 0:
			b.WriteRune(unicode.ToLower(r))
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() > 2*maxName {
			break
		}
	}
	name := strings.TrimRight(b.String(), "-")
	switch {
	case name == "":
		return "", badName("the name has no letter or digit")
	case len(name) > maxName:
		return "", badName("the name is longer than %d bytes", maxName)
	}
	return name, nil
}

func badName(format string, args ...any) error {
	return &lathe.Error{Code: lathe.CodeInvalid, Msg: fmt.Sprintf(format, args...), Hint: "leave the name out to get one", Cause: ErrName}
}

// Add makes a worktree at the commit of the root's checkout (see [Options]), on a new branch, and
// without files; [Repo.Fill] puts them there. An empty wish gets a made-up name; a
// name that is taken gets another word. If it fails it leaves nothing behind.
func (r *Repo) Add(ctx context.Context, wish string) (Worktree, error) {
	base := ""
	if strings.TrimSpace(wish) != "" {
		var err error
		if base, err = Slug(wish); err != nil {
			return Worktree{}, err
		}
	}
	commit, err := r.beginning(ctx)
	if err != nil {
		return Worktree{}, err
	}
	if commit == "" {
		return Worktree{}, lathe.Errorf(lathe.CodeInvalid, "make a first one", "the repository has no commit yet")
	}
	release, err := r.alone(ctx)
	if err != nil {
		return Worktree{}, err
	}
	defer release()
	w, err := r.claim(ctx, base)
	if err != nil {
		return Worktree{}, err
	}
	if _, err = r.run(ctx, r.o.Root.TopLevel, "worktree", "add", "--quiet", "--no-checkout", "--no-track", "-b", w.Branch, "--", w.Directory, commit); err != nil {
		r.drop(ctx, w, commit)
		return Worktree{}, err
	}
	return w, nil
}

// alone keeps others from adding and removing worktrees here until release is
// called: git fails if it comes across a worktree that another git has only
// half made.
func (r *Repo) alone(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(r.o.Dir), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of worktrees: %w", err)
	}
	lock := flock.New(r.o.Dir+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return nil, fmt.Errorf("wait for other changes of the worktrees: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// claim finds a free name and makes its directory, so that nobody else gets it.
func (r *Repo) claim(ctx context.Context, base string) (Worktree, error) {
	if err := os.MkdirAll(r.o.Dir, 0o700); err != nil {
		return Worktree{}, fmt.Errorf("make the directory of worktrees: %w", err)
	}
	dir, err := workspace.Resolve(r.o.Dir)
	if err != nil {
		return Worktree{}, fmt.Errorf("directory of worktrees: %w", err)
	}
	for n := range attempts {
		name := base
		switch {
		case base == "":
			name = r.o.Name()
		case n > 0:
			name += "-" + r.o.Name()
		}
		w := Worktree{Name: name, Branch: BranchPrefix + name, Directory: filepath.Join(dir, name)}
		switch err := os.Mkdir(w.Directory, 0o700); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return Worktree{}, fmt.Errorf("make the directory of a worktree: %w", err)
		}
		taken, err := r.branchCommit(ctx, w.Branch)
		if err == nil && taken == "" {
			return w, nil
		}
		_ = os.Remove(w.Directory)
		if err != nil {
			return Worktree{}, err
		}
	}
	return Worktree{}, badName("no free name was found in %d attempts", attempts)
}

// drop takes back a worktree that could not be made. Nobody has worked in it.
func (r *Repo) drop(ctx context.Context, w Worktree, commit string) {
	ctx = context.WithoutCancel(ctx)
	_, _ = r.run(ctx, r.o.Root.TopLevel, "worktree", "remove", "--force", "--force", "--", w.Directory)
	_ = os.Remove(w.Directory)
	_, _ = r.run(ctx, r.o.Root.TopLevel, "update-ref", "-d", "refs/heads/"+w.Branch, commit)
}

// Fill puts the files of its commit into a new worktree.
func (r *Repo) Fill(ctx context.Context, w Worktree) error {
	_, err := r.runFiles(ctx, w.Directory, "reset", "--quiet", "--hard", "--no-recurse-submodules")
	return err
}

// Own returns the checkout of a worktree that lathe made for this repository.
func (r *Repo) Own(ctx context.Context, dir string) (workspace.Root, error) {
	no := lathe.Errorf(lathe.CodeInvalid, "list them with GET /experimental/worktree; others are managed with: git worktree",
		"%q is not a worktree that lathe made for this repository", dir)
	if !filepath.IsAbs(dir) {
		return workspace.Root{}, no
	}
	parent, err := workspace.Resolve(r.o.Dir)
	if err != nil {
		return workspace.Root{}, no
	}
	real, err := workspace.Resolve(filepath.Clean(dir))
	if err != nil || filepath.Dir(real) != parent {
		return workspace.Root{}, no
	}
	root, err := workspace.Find(ctx, real)
	if err != nil || root.TopLevel != real || root.CommonDir != r.o.Root.CommonDir || root.GitDir == root.CommonDir {
		return workspace.Root{}, no
	}
	return root, nil
}

// Remove removes a worktree that lathe made, and its branch if that is lathe's
// too. What would be lost is first saved on a branch, whose name is returned;
// it is empty if nothing would be lost.
func (r *Repo) Remove(ctx context.Context, dir string) (kept string, err error) {
	w, err := r.Own(ctx, dir)
	if err != nil {
		return "", err
	}
	if err := r.removable(w); err != nil {
		return "", err
	}
	branch := Branch(w)
	if !strings.HasPrefix(branch, BranchPrefix) {
		branch = "" // stays, with what it has
	}
	kept, err = r.keep(ctx, w, branch)
	if err != nil {
		return "", err
	}
	release, err := r.alone(ctx)
	if err != nil {
		return kept, err
	}
	defer release()
	if _, err := r.runFiles(ctx, r.o.Root.CommonDir, "worktree", "remove", "--force", "--", w.TopLevel); err != nil || branch == "" {
		return kept, err
	}
	tip, err := r.branchCommit(ctx, branch)
	if err != nil || tip == "" {
		return kept, err
	}
	if safe, err := r.elsewhere(ctx, tip, branch); err != nil || !safe {
		return kept, err
	}
	_, err = r.run(ctx, r.o.Root.CommonDir, "branch", "--quiet", "-D", "--", branch)
	return kept, err
}

// removable returns an error if removing the worktree would lose things that
// cannot be saved.
func (r *Repo) removable(w workspace.Root) error {
	if _, err := os.Lstat(filepath.Join(w.GitDir, "locked")); err == nil {
		return lathe.Errorf(lathe.CodeInvalid, "unlock it with: git worktree unlock", "the worktree is locked")
	}
	if entries, err := os.ReadDir(filepath.Join(w.GitDir, "modules")); err == nil && len(entries) > 0 {
		return lathe.Errorf(lathe.CodeInvalid, "remove it with: git worktree remove", "the worktree has submodules, whose work cannot be kept")
	}
	return nil
}

// Reset sets the branch and files of a worktree that lathe made to those of the
// default branch as it is known here: nothing is fetched. What would be lost is
// first saved on a branch, whose name is returned. Ignored files stay.
func (r *Repo) Reset(ctx context.Context, dir string) (kept string, err error) {
	w, err := r.Own(ctx, dir)
	if err != nil {
		return "", err
	}
	branch := Branch(w)
	if branch != "" && !strings.HasPrefix(branch, BranchPrefix) {
		return "", lathe.Errorf(lathe.CodeInvalid, "switch to another branch first", "the worktree is on branch %q, which is not lathe's to move", branch)
	}
	ref := defaultRef(w)
	target := ""
	if ref != "" {
		if target, err = r.commit(ctx, w.TopLevel, ref); err != nil {
			return "", err
		}
	}
	if target == "" {
		return "", lathe.Errorf(lathe.CodeInvalid, "tell git which it is with: git remote set-head origin --auto", "the repository's default branch is not known")
	}
	if kept, err = r.keep(ctx, w, branch); err != nil {
		return "", err
	}
	if _, err = r.runFiles(ctx, w.TopLevel, "reset", "--quiet", "--hard", "--no-recurse-submodules", target); err == nil {
		_, err = r.runFiles(ctx, w.TopLevel, "clean", "--quiet", "-fd")
	}
	return kept, err
}

// keep makes sure that the commit and the files of a worktree can be found on a
// branch other than the one named, and returns the one it made for that, if any.
func (r *Repo) keep(ctx context.Context, w workspace.Root, branch string) (string, error) {
	head, err := r.commit(ctx, w.TopLevel, "HEAD")
	if err != nil {
		return "", err
	}
	tip, err := r.commitFiles(ctx, w, head, "Work in "+filepath.Base(w.TopLevel)+" that was not committed")
	if err != nil || tip == "" {
		return "", err
	}
	if safe, err := r.elsewhere(ctx, tip, branch); err != nil || safe {
		return "", err
	}
	stamp := r.o.Now().UTC().Format("20060102-150405")
	for n := range attempts {
		name := fmt.Sprintf("%s%s-%s", KeptPrefix, filepath.Base(w.TopLevel), stamp)
		if n > 0 {
			name += fmt.Sprintf("-%d", n+1)
		}
		if taken, err := r.branchCommit(ctx, name); err != nil {
			return "", err
		} else if taken != "" {
			continue
		}
		release, err := r.alone(ctx)
		if err != nil {
			return "", err
		}
		defer release()
		_, err = r.run(ctx, r.o.Root.CommonDir, "branch", "--quiet", "--no-track", "--", name, tip)
		return name, err
	}
	return "", fmt.Errorf("keep the work of %s: no free branch", filepath.Base(w.TopLevel))
}

// commitFiles returns a commit with the files as they are: the one that is checked
// out, or one on top of it that no branch has yet.
func (r *Repo) commitFiles(ctx context.Context, w workspace.Root, head, message string) (string, error) {
	status, err := r.runFiles(ctx, w.TopLevel, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil || status == "" {
		return head, err
	}
	for entry := range strings.SplitSeq(status, "\x00") {
		if path, ok := strings.CutPrefix(entry, "?? "); ok && strings.HasSuffix(path, "/") {
			return "", lathe.Errorf(lathe.CodeInvalid, "move it elsewhere", "the worktree holds a repository of its own, %q, whose work cannot be kept", path)
		}
	}
	if _, err := r.runFiles(ctx, w.TopLevel, "add", "--all", "--", "."); err != nil {
		return "", err
	}
	tree, err := r.runFiles(ctx, w.TopLevel, "write-tree") // also looks at files that changed just now
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", message}
	if head != "" {
		args = append(args, "-p", head)
	}
	return r.line(ctx, w.TopLevel, append(args, strings.TrimSpace(tree))...)
}

// elsewhere reports whether a ref other than the branch leads to a commit.
func (r *Repo) elsewhere(ctx context.Context, commit, branch string) (bool, error) {
	out, err := r.run(ctx, r.o.Root.CommonDir, "for-each-ref", "--contains="+commit, "--count=2", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags")
	for ref := range strings.Lines(out) {
		if strings.TrimSuffix(ref, "\n") != "refs/heads/"+branch {
			return true, err
		}
	}
	return false, err
}
