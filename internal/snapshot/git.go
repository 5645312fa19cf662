package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"lathe/internal/workspace"
)

// maxOutput limits how much output is read from one git process.
const maxOutput = 512 << 20

// gitDir is the git directory of a store, and how git is run on it. It knows nothing
// of what the store holds in memory.
type gitDir struct {
	worktree
	dir     string // the directory itself
	project string // the project's git directory, or empty
	common  string // the one with the project's objects
	data    string // lathe's data directory
	env     []string
	timeout time.Duration
	log     *slog.Logger
	git     string // the program

	writes int // objects written; the store's lock guards it
}

// gitEnv is an environment in which git knows the store and the worktree, and
// nothing of the user's or the repository's settings.
func gitEnv(environ []string, dir, top string) []string {
	if environ == nil {
		environ = os.Environ()
	}
	env := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	return append(env,
		"GIT_DIR="+dir, "GIT_WORK_TREE="+top,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1", "LC_ALL=C",
	)
}

// safe switches off what a configuration could make git run.
var safe = []string{
	"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "core.quotePath=false", "-c", "core.longpaths=true",
	"-c", "core.untrackedCache=false", "-c", "core.splitIndex=false", "-c", "index.version=2", "-c", "index.skipHash=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.allow=never", "-c", "core.alternateRefsCommand=true",
	"-c", "core.fsync=none", "-c", "core.preloadIndex=true",
}

// gitError is a git process that failed.
type gitError struct {
	args []string
	code int
	msg  string
	err  error
}

func (e *gitError) Error() string {
	if e.msg == "" {
		return fmt.Sprintf("git %s: %v", e.args[0], e.err)
	}
	return fmt.Sprintf("git %s: %v: %s", e.args[0], e.err, e.msg)
}
func (e *gitError) Unwrap() error { return e.err }

// run runs git on the store and returns what it printed.
func (g *gitDir) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return g.runIn(ctx, g.top, g.env, stdin, args...)
}

func (g *gitDir) runIn(ctx context.Context, dir string, env []string, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.timeout, fmt.Errorf("no end within %v", g.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, g.git, append(slices.Clone(safe), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	out, errs := &workspace.Limited{Max: maxOutput}, &workspace.Limited{Max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && out.Cut() {
		err = fmt.Errorf("more than %d bytes of output", maxOutput)
	}
	if err != nil {
		e := &gitError{args: args, msg: firstLine(errs.String()), err: err}
		if x, ok := errors.AsType[*exec.ExitError](err); ok {
			e.code = x.ExitCode()
		}
		return out.Bytes(), e
	}
	return out.Bytes(), nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// exitCode returns the exit code of a git process that ran, or -1.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*gitError](err); ok && e.code > 0 {
		return e.code
	}
	return -1
}

// zsplit cuts NUL-terminated output.
func zsplit(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func zjoin(paths []string) []byte {
	var b bytes.Buffer
	for _, p := range paths {
		b.WriteString(p)
		b.WriteByte(0)
	}
	return b.Bytes()
}
