// Package snapshot records the state of a worktree and goes back to it, without touching the
// user's repository.
//
// A store is a git directory of its own below lathe's data directory, one for each project and
// worktree. Snapshots are git trees in it, so any git can read them; the project's objects are
// borrowed through alternates where there is a project, and nothing is ever written to the
// project's .git. Outside git it works the same, with all contents in the store.
//
// # What a snapshot holds
//
// Regular files (content and whether they are executable) and symbolic links, byte for byte:
// line-end and filter attributes are switched off. Permission bits beyond the executable one
// are kept in addition to the tree, so that a file that has to be recreated gets the mode it
// had. Left out are what the project ignores, what nobody wants to keep (node_modules, caches),
// repositories within the worktree, and new files over [MaxNewFile].
//
// # What it costs
//
// On Linux the first Track of a process compares the worktree with what the store's index
// remembers of it, without git and on all processors; the first ever reads every file once.
// After that the kernel says which files changed (inotify delivers an event before the call
// that caused it returns), so a Track in which nothing changed is one system call, and one
// after a change reads the changed files and writes their objects without starting a program.
// Where that is not available, and after thousands of changes at once, git looks through the
// worktree.
//
// What cannot be seen: a change through a hard link outside the worktree, or through a memory
// mapping that outlives the file's close.
//
// # Shape
//
// A [Store] (snapshot.go) keeps an index of the worktree in memory (index.go). The first Track
// compares it with the files (resume_linux.go, verify_linux.go); later ones take in what the
// watcher saw (watch_linux.go, update.go), or ask git (scan.go, git.go). object.go writes blobs
// and trees, perms.go and bare.go what git does not keep: permission bits and empty directories.
// diff.go and patch.go compare snapshots, apply.go changes files back. borrowed_linux.go looks
// after objects of the project, packing.go and upkeep.go after the store's size.
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/workspace"
)

const (
	// MaxNewFile is the size above which a file that appears is left out.
	MaxNewFile = 2 << 20
	// MaxFile is the size above which a change of a known file is left out.
	MaxFile = 64 << 20

	defaultQuota   = 4 << 30
	defaultTimeout = 60 * time.Second
	// maxTracked is the number of files above which a worktree is refused: they are
	// kept in memory, at about 150 bytes each.
	maxTracked = 500_000
	// Outside git everything is copied, so there is a limit to what may be copied.
	maxFirstFiles = 100_000
	maxFirstBytes = 1 << 30
)

var (
	// ErrRefused means that the directory is too large a place to take snapshots of.
	ErrRefused = errors.New("snapshots are not taken here")
	// ErrNoGit means that there is no git program.
	ErrNoGit = errors.New("snapshots need the git program, which was not found")
)

// Options configure [Open]. Root, Project and DataDir are needed.
type Options struct {
	Root    workspace.Root
	Project string // project id; part of the store's path
	DataDir string // lathe's data directory
	Home    string // refused, like everything above it
	Environ []string
	Quota   int64         // bytes that the store may take; 0: 4 GiB
	Timeout time.Duration // longest run of one git process; 0: a minute
	Log     *slog.Logger
}

// Store takes and applies snapshots of one worktree. It is safe for concurrent
// use; other processes may work on the same store. Close it.
type Store struct {
	gitDir
	quota int64

	mu      sync.Mutex // held by every operation
	ready   bool
	closed  bool
	index   *index // nil: the next track asks git
	tree    string // of index, when known is set
	known   bool
	watch   *watcher // nil: each track asks git
	noise   map[string]bool
	lost    lost
	steps   history
	looked  int      // value of writes when the loose objects were last counted
	packing *packing // nil if none is running
}

// history is how the newest trees of this process came about, the oldest first.
type history []transition

// transition is how one tree became the next: what the changed paths were before.
type transition struct {
	from, to string
	changed  map[string]change
}

// add remembers at least the newest 32 steps and at most 64.
func (h *history) add(t transition) {
	*h = append(*h, t)
	if len(*h) > 64 {
		*h = append((*h)[:0], (*h)[32:]...)
	}
}

type change struct{ before, after entry }

// Dir returns where the store of a worktree lies.
func Dir(dataDir, project, top string) string {
	sum := sha256.Sum256([]byte(top))
	return filepath.Join(dataDir, "snapshot", project, hex.EncodeToString(sum[:8]))
}

// Open returns the store of a worktree. It does no work yet: all preparation
// waits for the first Track. The error is [ErrRefused] for the root of the file
// system, the home directory and what is above it.
func Open(_ context.Context, o Options) (*Store, error) {
	top := o.Root.TopLevel
	if o.Root.VCS == "" {
		top = o.Root.Dir
	}
	if why := tooWide(top, o.Home); why != "" {
		return nil, fmt.Errorf("%s: %w: %s", top, ErrRefused, why)
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	project := o.Project
	if project == "" || strings.ContainsAny(project, `/\`) || strings.HasPrefix(project, ".") {
		project = workspace.GlobalID
	}
	s := &Store{
		gitDir: gitDir{
			worktree: worktree{top}, dir: Dir(o.DataDir, project, top), project: o.Root.GitDir, common: o.Root.CommonDir, data: o.DataDir,
			timeout: o.Timeout, log: o.Log, git: program,
		},
		quota: o.Quota, noise: map[string]bool{}, lost: lost{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.quota == 0 {
		s.quota = defaultQuota
	}
	if s.timeout == 0 {
		s.timeout = defaultTimeout
	}
	s.env = gitEnv(o.Environ, s.dir, s.top)
	return s, nil
}

func tooWide(top, home string) string {
	if home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	switch {
	case top == "" || filepath.Dir(top) == top:
		return "it is the root of the file system"
	case home != "" && top == home:
		return "it is the home directory; start in a project below it"
	case home != "" && strings.HasPrefix(home, top+string(filepath.Separator)):
		return "it holds the home directory"
	}
	return ""
}

// Close ends the watch and keeps what was borrowed from the project and has
// changed since. It may be called twice.
func (s *Store) Close() error {
	if !s.end() {
		return nil
	}
	s.endPacking()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.watch.close()
		s.watch = nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	return errors.Join(s.lost.anchor(ctx, &s.gitDir), s.pack(ctx))
}

// end marks the store as closed; false means that it was closed before.
func (s *Store) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.closed
	s.closed = true
	return !before
}

// Track returns the tree of the worktree as it is now.
func (s *Store) Track(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.track(ctx)
}

func (s *Store) track(ctx context.Context) (string, error) {
	if err := s.prepare(ctx); err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", s.top, err)
	}
	tree, err := s.refresh(ctx)
	if exitCode(err) > 0 {
		// The index may name what the project has pruned since: it is rebuilt.
		s.log.Warn("the snapshot index is made again", "err", err)
		s.index, s.known = nil, false
		if err = os.Remove(s.indexFile()); err == nil || errors.Is(err, fs.ErrNotExist) {
			tree, err = s.refresh(ctx)
		}
	}
	if err != nil {
		s.index, s.known = nil, false
		return "", fmt.Errorf("snapshot of %s: %w", s.top, err)
	}
	s.packSoon()
	return tree, nil
}

// Known returns the tree of the last Track if it is known without any work that
// nothing has changed since.
func (s *Store) Known() (string, bool) {
	if !s.mu.TryLock() {
		return "", false
	}
	defer s.mu.Unlock()
	if !s.known || s.watch == nil || s.closed || s.watch.pending() {
		return "", false
	}
	return s.tree, true
}

func (s *Store) refresh(ctx context.Context) (string, error) {
	if tree, done, err := s.resume(ctx); done || err != nil {
		return tree, err
	}
	if s.index != nil && s.watch != nil {
		dirty, ok := s.watch.drain()
		if ok && len(dirty) == 0 && s.known {
			return s.tree, nil
		}
		if ok {
			if tree, done, err := s.update(ctx, dirty); done || err != nil {
				return tree, err
			}
		}
	}
	return s.scan(ctx)
}

// settle makes the index's tree the known one, and remembers what changed.
func (s *Store) settle(tree string, changed map[string]change) string {
	if s.known && tree != s.tree && changed != nil {
		s.steps.add(transition{from: s.tree, to: tree, changed: changed})
		s.lost.note(&s.gitDir, changed)
	} else if tree != s.tree {
		s.steps = nil
	}
	s.tree, s.known = tree, true
	return tree
}

// Patch returns the files that differ between a tree and the worktree as it is
// now, and the current tree. The patch has no files when nothing changed.
func (s *Store) Patch(ctx context.Context, hash string) (p lathe.Patch, now string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, err = s.track(ctx); err != nil {
		return p, "", err
	}
	p.Hash = hash
	paths, err := s.between(ctx, hash, now)
	for _, path := range paths {
		p.Files = append(p.Files, s.full(path))
	}
	return p, now, err
}

// Changed returns the files that differ between two snapshots, as absolute paths,
// including those that differ only in permission bits.
func (s *Store) Changed(ctx context.Context, from, to string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	paths, err := s.between(ctx, from, to)
	for i, path := range paths {
		paths[i] = s.full(path)
	}
	return paths, err
}

// Top returns the worktree's directory, to which the files of diffs are relative.
func (s *Store) Top() string { return s.top }

// lockFile keeps other processes from the store's index.
func (g *gitDir) lockFile() string { return filepath.Join(g.dir, "lathe.lock") }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
