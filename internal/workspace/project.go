package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// GlobalID is the project of directories that are not in git, or in a
// repository without commits.
const GlobalID = "global"

// idTimeout limits the walk over a repository's whole history.
const idTimeout = 30 * time.Second

// errNoGit means that git ran too long or printed nonsense.
var errNoGit = errors.New("git gave no usable answer")

// ProjectID returns the identity of the root's project: the first, in
// alphabetical order, of the commits without parents that any ref leads to. It
// is the same in all clones and worktrees of a repository.
//
// The id is kept in cacheDir (empty: nowhere) under the repository's path and
// birth, and a known one costs two small reads; git runs once per repository. An
// id that another program left in the git directory's "opencode" file is used
// as it is. A repository without commits is [GlobalID], which is never kept.
func ProjectID(ctx context.Context, root Root, cacheDir string) (string, error) {
	if root.VCS == "" {
		return GlobalID, nil
	}
	for _, dir := range slices.Compact([]string{root.GitDir, root.CommonDir}) {
		if data, err := ReadFile(filepath.Join(dir, "opencode"), 1<<10); err == nil && isHash(strings.TrimSpace(string(data))) {
			return strings.TrimSpace(string(data)), nil
		}
	}
	cache, stamp := "", birth(root.CommonDir)+"\n"+root.CommonDir+"\n"
	if cacheDir != "" {
		sum := sha256.Sum256([]byte(root.CommonDir))
		cache = filepath.Join(cacheDir, hex.EncodeToString(sum[:12]))
		if data, err := ReadFile(cache, 2*maxPath); err == nil {
			id, rest, _ := strings.Cut(string(data), "\n")
			if rest == stamp && isHash(id) {
				return id, nil
			}
		}
	}
	if !hasRefs(root.CommonDir) {
		return GlobalID, nil
	}
	id, err := firstCommit(ctx, root.GitDir)
	if err != nil || id == GlobalID {
		return id, err
	}
	if cache != "" {
		// A cache that cannot be written costs time, not correctness.
		_ = WriteFile(cache, []byte(id+"\n"+stamp), 0o600)
	}
	return id, nil
}

// isHash accepts only a commit id, so that a foreign file cannot put anything else into a path.
func isHash(s string) bool {
	return len(s) >= 40 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// hasRefs reports whether a repository may have commits, without running git.
func hasRefs(commonDir string) bool {
	for _, name := range []string{"packed-refs", "reftable"} {
		if _, err := os.Lstat(filepath.Join(commonDir, name)); err == nil {
			return true
		}
	}
	found := false
	err := filepath.WalkDir(filepath.Join(commonDir, "refs"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found || err != nil
}

func firstCommit(ctx context.Context, gitDir string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, idTimeout, fmt.Errorf("no answer within %v", idTimeout))
	defer cancel()
	cmd := gitCommand(ctx, gitDir, "rev-list", "--max-parents=0", "--all")
	out, errs := &Limited{Max: 1 << 20}, &Limited{Max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if msg := strings.TrimSpace(errs.String()); msg != "" {
			err = fmt.Errorf("%w: %s", err, msg)
		}
		return "", fmt.Errorf("list the root commits of %s: %w", gitDir, err)
	}
	ids := strings.Fields(out.String())
	if len(ids) == 0 {
		return GlobalID, nil
	}
	slices.Sort(ids)
	if !isHash(ids[0]) {
		return "", fmt.Errorf("list the root commits of %s: %w", gitDir, errNoGit)
	}
	return ids[0], nil
}

// gitCommand is a git that only reads the repository: the user's and system's
// configuration is left out, and what the repository's own configuration could
// make git run (a file monitor, hooks, a pager, a remote helper that fetches
// missing objects) is switched off.
func gitCommand(ctx context.Context, gitDir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"--git-dir=" + gitDir, "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
		"-c", "protocol.allow=never", "-c", "core.alternateRefsCommand=true",
	}, args...)...)
	cmd.Dir = gitDir
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	cmd.Env = append(cmd.Env,
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
	)
	return cmd
}
