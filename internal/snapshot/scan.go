package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"lathe/internal/workspace"
)

const maxExclude = 1 << 20 // bytes of the project's own info/exclude

// never has patterns for what is never part of a snapshot, in a project or outside.
const never = `.git
node_modules/
bower_components/
__pycache__/
.venv/
.tox/
.mypy_cache/
.pytest_cache/
.ruff_cache/
.gradle/
.DS_Store
`

const gitConfig = `[core]
	repositoryformatversion = 0
	bare = false
	logAllRefUpdates = false
[gc]
	auto = 0
`

// prepare makes the store, or brings its settings up to date. It is cheap once
// done.
func (s *Store) prepare(ctx context.Context) error {
	if s.closed {
		return errors.New("the store is closed")
	}
	if s.ready {
		return nil
	}
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "info", "partial"} {
		if err := os.MkdirAll(filepath.Join(s.dir, filepath.FromSlash(d)), 0o700); err != nil {
			return err
		}
	}
	alternates := ""
	if s.common != "" {
		alternates = filepath.Join(s.common, "objects") + "\n"
	}
	for name, want := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": gitConfig, "objects/info/alternates": alternates,
		"info/attributes": "* -text -eol -filter -ident -working-tree-encoding -export-subst\n",
		"info/exclude":    s.excludes(), worktreeFile: s.top + "\n",
	} {
		path := filepath.Join(s.dir, filepath.FromSlash(name))
		if have, err := os.ReadFile(path); err == nil && string(have) == want {
			continue
		}
		if err := s.replaceFile(path, []byte(want), 0o600); err != nil {
			return err
		}
	}
	if err := s.tidy(); err != nil {
		return err
	}
	s.lost.read(&s.gitDir)
	s.ready = true
	return nil
}

// excludes are the ignore rules in addition to those in the worktree.
func (g *gitDir) excludes() string {
	rules := never
	if rel, err := filepath.Rel(g.top, g.data); err == nil && filepath.IsLocal(rel) {
		rules += "/" + filepath.ToSlash(rel) + "/\n"
	}
	if g.common != "" {
		if own, err := workspace.ReadFile(filepath.Join(g.common, "info", "exclude"), maxExclude); err == nil {
			rules += string(own)
		}
	}
	return rules
}

// scan asks git what changed and brings the store's index up to date.
func (s *Store) scan(ctx context.Context) (string, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	old, stamp := s.index, s.stamp()
	if err := s.load(ctx); err != nil {
		return "", err
	}
	s.startWatch(ctx)
	modes := s.readPerms()
	changed, gone, err := s.status(ctx)
	found := <-modes
	if err != nil {
		return "", err
	}
	if err := s.updateIndex(ctx, changed, gone); err != nil {
		return "", err
	}
	tree, err := s.settleIndex(ctx, len(changed)+len(gone) > 0)
	if err != nil {
		return "", err
	}
	s.notePerms(found)
	if s.watch != nil {
		s.index.perms.bare = s.findBare(ctx, s.watch.watched())
	}
	if tree, err = s.name(tree); err != nil {
		return "", err
	}
	s.noteStamp(stamp)
	return s.settle(tree, changesBetween(old, s.index)), nil
}

// lock keeps other processes from the store's index until unlock is called.
func (g *gitDir) lock(ctx context.Context) (unlock func(), err error) {
	lock := flock.New(g.lockFile(), flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeoutCause(ctx, g.timeout, errors.New("another process holds the snapshot store"))
	defer cancel()
	if _, err := lock.TryLockContext(wait, 5*time.Millisecond); err != nil {
		if cause := context.Cause(wait); cause != nil {
			err = cause
		}
		return nil, err
	}
	// Whoever held the lock before and died left git's own lock behind.
	_ = os.Remove(filepath.Join(g.dir, "index.lock"))
	return func() { _ = lock.Close() }, nil
}

// changesBetween lists what differs; nil means that it is not known.
func changesBetween(old, now *index) map[string]change {
	if old == nil {
		return nil
	}
	changed := map[string]change{}
	for path, e := range now.files {
		if b := old.files[path]; b != e {
			changed[path] = change{b, e}
		}
	}
	for path, b := range old.files {
		if _, ok := now.files[path]; !ok {
			changed[path] = change{before: b}
		}
	}
	bareChanges(old.perms.bare, now.perms.bare, changed)
	return changed
}

// settleIndex reads the index that git wrote and returns its tree.
func (s *Store) settleIndex(ctx context.Context, reread bool) (string, error) {
	if id, ok := s.index.trees[""]; ok && !reread {
		return id.String(), nil
	}
	out, err := s.run(ctx, nil, "write-tree")
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	if _, err := parseOID(tree); err != nil {
		return "", err
	}
	return tree, s.read()
}

// load reads the store's index, making it from the project's newest commit if
// there is none.
func (s *Store) load(ctx context.Context) error {
	if exists(s.indexFile()) {
		err := s.read()
		if err == nil || errors.Is(err, ErrRefused) {
			return err
		}
		s.log.Warn("the snapshot index is damaged and is made again", "err", err)
		if err := os.Remove(s.indexFile()); err != nil {
			return err
		}
	}
	if err := s.seed(ctx); errors.Is(err, ErrRefused) {
		return err
	} else if err != nil {
		s.log.Info("a snapshot store starts without the project's commits", "err", err)
		if _, err := s.run(ctx, nil, "read-tree", "--empty"); err != nil {
			return err
		}
	}
	return s.read()
}

func (g *gitDir) indexFile() string { return filepath.Join(g.dir, "index") }

func (s *Store) read() error {
	data, err := os.ReadFile(s.indexFile())
	if err != nil {
		return err
	}
	x := &index{}
	if x.files, x.trees, err = parseIndex(data); err != nil {
		return err
	}
	if s.index != nil {
		x.perms = s.index.perms
	}
	s.index = x
	return nil
}

// seed fills a new index with the tree of the project's HEAD, so that unchanged
// files cost no space.
func (g *gitDir) seed(ctx context.Context) error {
	if g.project == "" {
		return errors.New("there is no project")
	}
	env := append(gitEnv(g.env, g.project, g.top), "GIT_OPTIONAL_LOCKS=0")
	out, err := g.runIn(ctx, g.top, env, nil, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
	if err != nil {
		return err
	}
	tree := strings.TrimSpace(string(out))
	if _, err := parseOID(tree); err != nil {
		return err
	}
	if _, err := g.run(ctx, nil, "read-tree", tree); err != nil {
		return err
	}
	return g.verifyIndex(ctx)
}

// updateIndex updates git's index with files that changed and removes those that are gone.
func (g *gitDir) updateIndex(ctx context.Context, changed, gone []string) error {
	if len(gone) > 0 {
		if _, err := g.run(ctx, zjoin(gone), "update-index", "-z", "--force-remove", "--stdin"); err != nil {
			return err
		}
	}
	if len(changed) > 0 {
		if _, err := g.run(ctx, zjoin(changed), "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}

// status returns the paths that belong in a snapshot and whose index entries
// are out of date, and those that are gone.
func (s *Store) status(ctx context.Context) (paths, gone []string, err error) {
	out, err := s.run(ctx, nil, "ls-files", "-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	var bytes, files int64
	seen := map[string]bool{}
	for _, line := range zsplit(out) {
		tag, path, ok := strings.Cut(line, " ")
		if !ok || seen[path] || strings.HasSuffix(path, "/") || !filepath.IsLocal(path) {
			continue
		}
		seen[path] = true
		if tag == "?" && workspace.IsTemp(path) { // even if a .gitignore includes it
			workspace.RemoveStaleTemp(s.full(path))
			continue
		}
		limit := int64(MaxFile)
		if tag == "?" {
			limit = MaxNewFile
		}
		switch size, fate := s.takes(path, limit); fate {
		case fateGone:
			gone = append(gone, path)
		case fateTaken:
			paths, bytes, files = append(paths, path), bytes+size, files+1
		}
	}
	if files > maxFirstFiles || bytes > maxFirstBytes {
		return nil, nil, fmt.Errorf("%w: %d files with %d MiB would have to be copied; ignore some of them in .gitignore, or set snapshot to false",
			ErrRefused, files, bytes>>20)
	}
	return paths, gone, nil
}

// fate is what happens to a path that changed.
type fate int

const (
	fateLeft fate = iota
	fateTaken
	fateGone
)

// takes says what becomes of a path that changed.
func (s *Store) takes(path string, limit int64) (size int64, f fate) {
	full := s.full(path)
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return 0, fateGone
	case err != nil:
		return 0, fateLeft
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, fateTaken
	case info.IsDir():
		// A file that became a directory goes; a repository of its own stays out.
		if e := s.index.files[path]; e.mode == modeRepo || e == (entry{}) {
			return 0, fateLeft
		}
		return 0, fateGone
	case !info.Mode().IsRegular():
		return 0, fateGone
	case info.Size() > limit || !readable(full):
		return 0, fateLeft
	}
	return info.Size(), fateTaken
}

// readPerms reads the permission bits of the files in the index while git is running.
func (s *Store) readPerms() <-chan map[string]fs.FileMode {
	files, done := s.index.files, make(chan map[string]fs.FileMode, 1)
	go func() {
		found := make(map[string]fs.FileMode, len(files))
		for path := range files {
			if perm, ok := s.perm(path); ok {
				found[path] = perm
			}
		}
		done <- found
	}()
	return done
}

// notePerms notes the bits that were found, and those of files that are new
// since. The bits that most files have are the usual ones.
func (s *Store) notePerms(found map[string]fs.FileMode) {
	x := s.index
	count := map[fs.FileMode]int{}
	for path, e := range x.files {
		if e.mode != modeFile && e.mode != modeExec {
			continue
		}
		perm, ok := found[path]
		if !ok {
			perm, ok = s.perm(path)
		}
		if !ok {
			perm = x.perms.of(path, e.mode)
		}
		e.perm = perm
		x.files[path] = e
		if e.mode == modeFile {
			count[perm]++
		}
	}
	x.perms = perms{usual: most(count)}
	for path, e := range x.files {
		x.perms.note(path, e)
	}
}

// most returns the most frequent bits, and the higher ones if two are equally frequent.
func most(count map[fs.FileMode]int) (usual fs.FileMode) {
	best := 0
	for m, n := range count {
		if n > best || n == best && m > usual {
			usual, best = m, n
		}
	}
	return usual
}
