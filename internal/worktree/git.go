package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/workspace"
)

// How long git may take: to look at refs, and to go through the files.
const (
	quickly   = time.Minute
	patiently = 15 * time.Minute

	stopTime  = 5 * time.Second // for git to clean up when it is stopped
	maxOutput = 64 << 20
)

func gitProgram() (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", lathe.Errorf(lathe.CodeInvalid, "install git", "this needs the git program, which was not found")
	}
	return program, nil
}

// Init makes a directory a git repository.
func Init(ctx context.Context, dir string, environ []string) error {
	program, err := gitProgram()
	if err != nil {
		return err
	}
	r := &Repo{o: Options{Environ: environ}, git: program}
	_, err = r.run(ctx, dir, "init", "--quiet")
	return err
}

// settings switch off what a repository could make git run, and the network.
var settings = []string{
	"--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.alternateRefsCommand=true",
	"-c", "submodule.recurse=false", "-c", "protocol.allow=never", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "core.quotePath=false",
}

// environment is git's environment. Commits made for safekeeping have lathe as their author.
func environment(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	return append(env,
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=lathe", "GIT_AUTHOR_EMAIL=lathe@localhost", "GIT_COMMITTER_NAME=lathe", "GIT_COMMITTER_EMAIL=lathe@localhost",
	)
}

// run runs a short git command that touches no files of a checkout. It returns
// what git printed.
func (r *Repo) run(ctx context.Context, dir string, args ...string) (string, error) {
	return r.exec(ctx, dir, quickly, nil, args)
}

// line is run for a command that prints one line.
func (r *Repo) line(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := r.run(ctx, dir, args...)
	return strings.TrimSpace(out), err
}

// runFiles is run for a command that goes through the files of a checkout.
func (r *Repo) runFiles(ctx context.Context, dir string, args ...string) (string, error) {
	off, err := r.withoutFilters(ctx, dir)
	if err != nil {
		return "", err
	}
	locks := freeLocks(ctx, dir)
	out, err := r.exec(ctx, dir, patiently, off, args)
	if _, answered := errors.AsType[*failed](err); err != nil && !answered {
		for _, lock := range locks {
			_ = os.Remove(lock)
		}
	}
	return out, err
}

// freeLocks returns the lock files of a linked worktree that nobody holds. A git
// that is stopped just as it takes a lock leaves it behind.
func freeLocks(ctx context.Context, dir string) (free []string) {
	root, err := workspace.Find(ctx, dir)
	if err != nil || root.GitDir == root.CommonDir {
		return nil
	}
	locks := []string{
		filepath.Join(root.GitDir, "index.lock"), filepath.Join(root.GitDir, "HEAD.lock"), filepath.Join(root.GitDir, "ORIG_HEAD.lock"),
	}
	if branch := Branch(root); strings.HasPrefix(branch, BranchPrefix) {
		locks = append(locks, filepath.Join(root.CommonDir, "refs", "heads", filepath.FromSlash(branch)+".lock"))
	}
	for _, path := range locks {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			free = append(free, path)
		}
	}
	return free
}

// withoutFilters returns the options that switch off the filters which an
// untrusted repository's own configuration names.
func (r *Repo) withoutFilters(ctx context.Context, dir string) ([]string, error) {
	if r.o.Trusted || !mayFilter(ctx, dir) {
		return nil, nil
	}
	out, err := r.run(ctx, dir, "config", "--show-scope", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil && exitCode(err) != 1 { // 1 means that there is none
		return nil, err
	}
	var off []string
	seen := map[string]bool{}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope, key := fields[i], fields[i+1]
		dot := strings.LastIndexByte(key, '.')
		if scope != "local" && scope != "worktree" || dot < 0 || seen[key[:dot]] {
			continue
		}
		seen[key[:dot]] = true
		if strings.ContainsRune(key, '=') { // an option could not name it
			return nil, lathe.Errorf(lathe.CodeInvalid, "trust it with: lathe trust add",
				"the repository is not trusted, and its configuration has a filter that cannot be switched off")
		}
		for _, f := range []string{"clean=", "smudge=", "process=", "required=false"} {
			off = append(off, "-c", key[:dot+1]+f)
		}
	}
	return off, nil
}

// maxConfig bounds the configuration of a repository that is looked at without git.
const maxConfig = 1 << 20

// mayFilter reports whether the own configuration of the repository that a directory is in
// may name filters. A section has to be spelt out, so a text without these words has no
// such section and includes none; git is asked about all others.
func mayFilter(ctx context.Context, dir string) bool {
	root, err := workspace.Find(ctx, dir)
	if err != nil || root.VCS != "git" {
		return true
	}
	for _, path := range []string{filepath.Join(root.CommonDir, "config"), filepath.Join(root.GitDir, "config.worktree")} {
		text, err := workspace.ReadFile(path, maxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text = bytes.ToLower(text)
		if err != nil || bytes.Contains(text, []byte("filter")) || bytes.Contains(text, []byte("include")) {
			return true
		}
	}
	return false
}

// failed is a git that could not do what was asked.
type failed struct {
	what string
	code int
	msg  string
	err  error
}

func (e *failed) Error() string { return fmt.Sprintf("git %s: %v: %s", e.what, e.err, e.msg) }
func (e *failed) Unwrap() error { return e.err }

// exec runs git. If git itself fails, the error tells people what git said.
func (r *Repo) exec(ctx context.Context, dir string, limit time.Duration, options, args []string) (string, error) {
	what := args[0]
	ctx, cancel := context.WithTimeoutCause(ctx, limit, lathe.Errorf(lathe.CodeInvalid, "", "git %s took longer than %v", what, limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, r.git, slices.Concat(settings, r.options, options, args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(r.o.Environ), stopTime
	if r.input != "" {
		cmd.Stdin = strings.NewReader(r.input)
	}
	if r.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+r.index)
	}
	if top := r.checkout(ctx, dir); top != "" {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+top)
	}
	cmd.Cancel = func() error { return stop(cmd.Process) }
	out, errs := &workspace.Limited{Max: maxOutput}, &workspace.Limited{Max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	err := r.start(cmd, errs)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", what, context.Cause(ctx))
	case err == nil && out.Cut():
		return "", lathe.Errorf(lathe.CodeInvalid, "", "git %s printed more than %d bytes", what, maxOutput)
	case err == nil:
		return out.String(), nil
	}
	msg := said(errs.String())
	f := &failed{what: what, code: -1, msg: msg, err: err}
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		f.code = x.ExitCode()
	}
	if msg == "" {
		msg = err.Error()
	}
	return out.String(), &lathe.Error{Code: lathe.CodeInvalid, Msg: "git " + what + ": " + msg, Cause: f}
}

// start runs a git that is ready, with the network if it fetches.
func (r *Repo) start(cmd *exec.Cmd, errs *workspace.Limited) error {
	if r.from == nil {
		return cmd.Run()
	}
	told := &progress{to: r.from.Progress, errs: errs}
	cmd.Env, cmd.Stderr = append(cmd.Env, r.from.fetching()...), told
	apart(cmd)
	err := cmd.Run()
	told.flush()
	return err
}

// checkout returns the top of the checkout that a directory is in, which git is
// told: the repository's own configuration (core.worktree) may name any other
// directory. It is empty in a git directory, where git touches no files. GIT_DIR
// stays unset, since git asks whose a repository is only when it finds it itself.
func (r *Repo) checkout(ctx context.Context, dir string) string {
	if r.o.Root.TopLevel == "" || dir == r.o.Root.CommonDir {
		return ""
	}
	root, err := workspace.Find(ctx, dir)
	if err != nil || root.VCS == "" {
		return ""
	}
	return root.TopLevel
}

// said picks the line that says what is wrong from git's output.
func said(text string) string {
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"fatal: ", "error: "} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				return strings.ToValidUTF8(rest, "\uFFFD")
			}
		}
		if first == "" {
			first = line
		}
	}
	return strings.ToValidUTF8(first, "\uFFFD")
}

// exitCode returns the exit code of a git that ran and failed; 0 without an error.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if f, ok := errors.AsType[*failed](err); ok {
		return f.code
	}
	return -1
}
