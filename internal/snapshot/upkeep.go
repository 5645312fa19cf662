package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lathe/internal/workspace"
)

const (
	// staleAfter is the age at which a temporary file has no owner any more.
	staleAfter = time.Hour
	// keepFor is how long objects are kept when the quota is used up.
	keepFor = 7 * 24 * time.Hour
)

// tidy removes what a process that died left behind.
func (g *gitDir) tidy() error {
	partial, err := os.ReadDir(g.tempDir())
	if err != nil {
		return err
	}
	for _, e := range partial {
		path := filepath.Join(g.tempDir(), e.Name())
		if pid, _, _ := strings.Cut(e.Name(), "-"); lives(pid) {
			removeStale(path)
			continue
		}
		_ = os.Remove(path)
	}
	pack := filepath.Join(g.dir, "objects", "pack")
	entries, err := os.ReadDir(pack)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "tmp_") || strings.HasPrefix(e.Name(), ".tmp-") {
			removeStale(filepath.Join(pack, e.Name()))
		}
	}
	return nil
}

// lives reports whether a process with this number exists.
func lives(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && workspace.Lives(n)
}

func removeStale(path string) {
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > staleAfter {
		_ = os.Remove(path)
	}
}

// lostFile lists borrowed objects that are to be kept, for the next process if
// this one dies.
const lostFile = "lost"

// maxLost bounds what is read of that list.
const maxLost = 4 << 20

// lost are borrowed objects that should be kept, by hash.
type lost map[string]bool

// note adds objects of the project that a file no longer has, so that the store
// copies them before the project drops them.
func (l lost) note(g *gitDir, changed map[string]change) {
	if g.common == "" {
		return
	}
	var fresh strings.Builder
	for _, c := range changed {
		if c.before.mode == 0 || c.before.mode == modeRepo || c.before == bareDir || exists(g.objectPath(c.before.oid)) {
			continue
		}
		if id := c.before.oid.String(); !l[id] {
			l[id] = true
			fresh.WriteString(id + "\n")
		}
	}
	if fresh.Len() == 0 {
		return
	}
	f, err := os.OpenFile(filepath.Join(g.dir, lostFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(fresh.String())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		g.log.Warn("what is borrowed from the project could not be noted", "err", err)
	}
}

// read takes over what a process that died had noted.
func (l lost) read(g *gitDir) {
	data, err := workspace.ReadFile(filepath.Join(g.dir, lostFile), maxLost)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		if id := strings.TrimSuffix(line, "\n"); checkTrees(id) == nil {
			l[id] = true
		}
	}
}

// anchor copies the noted objects into the store.
func (l lost) anchor(ctx context.Context, g *gitDir) error {
	if len(l) == 0 {
		return nil
	}
	var in bytes.Buffer
	for id := range l {
		fmt.Fprintln(&in, id)
	}
	there, err := g.run(ctx, in.Bytes(), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return fmt.Errorf("keep the project's versions of changed files: %w", err)
	}
	in.Reset()
	for line := range strings.Lines(string(there)) {
		if id, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); kind == "blob" {
			fmt.Fprintln(&in, id)
		}
	}
	_, err = g.run(ctx, in.Bytes(), "pack-objects", "-q", "--non-empty", "--threads=1", "--window=0", filepath.Join(g.dir, "objects", "pack", "pack"))
	if err != nil {
		return fmt.Errorf("keep the project's versions of changed files: %w", err)
	}
	clear(l)
	if err := os.Remove(filepath.Join(g.dir, lostFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// eachLoose calls f with each loose object; id is empty for other files.
func (g *gitDir) eachLoose(f func(path, id string, info fs.FileInfo)) {
	objects := filepath.Join(g.dir, "objects")
	for i := range 256 {
		prefix := fmt.Sprintf("%02x", i)
		entries, err := os.ReadDir(filepath.Join(objects, prefix))
		if err != nil {
			continue
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue
			}
			id := prefix + e.Name()
			if _, err := parseOID(id); err != nil {
				id = ""
			}
			f(filepath.Join(objects, prefix, e.Name()), id, info)
		}
	}
}

// limit drops the oldest packs while the store is over its quota. The last
// week's snapshots stay, however large they are.
func (s *Store) limit() error {
	size, err := Size(s.dir)
	if err != nil || size <= s.quota {
		return err
	}
	packs, err := filepath.Glob(filepath.Join(s.dir, "objects", "pack", "*.pack"))
	if err != nil {
		return err
	}
	bits, _ := filepath.Glob(s.permsFile("*"))
	for _, p := range bits {
		if info, err := os.Stat(p); err == nil && time.Since(info.ModTime()) >= keepFor {
			_ = os.Remove(p)
		}
	}
	for _, p := range packs {
		info, err := os.Stat(p)
		if err != nil || time.Since(info.ModTime()) < keepFor {
			continue
		}
		s.log.Warn("the snapshot store is over its quota; snapshots over a week old are dropped", "size", size, "path", p)
		// The index names what goes; it is made again with what is there.
		s.index, s.known, s.steps = nil, false, nil
		if err := os.Remove(s.indexFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = os.Remove(strings.TrimSuffix(p, ".pack") + ".idx")
		if err := os.Remove(p); err != nil {
			return err
		}
		if size -= info.Size(); size <= s.quota {
			break
		}
	}
	return nil
}

// worktreeFile names the worktree that a store is for.
const worktreeFile = "worktree"

// Collected says what [Collect] removed.
type Collected struct {
	Stores int
	Bytes  int64
}

// Collect removes the stores of worktrees that are gone. If the directory came
// back, what sessions did there could no longer be undone, so a person has to
// ask for it.
func Collect(dataDir string) (out Collected, err error) {
	names, err := filepath.Glob(filepath.Join(dataDir, "snapshot", "*", "*", worktreeFile))
	if err != nil {
		return out, err
	}
	for _, name := range names {
		top, err := os.ReadFile(name)
		if err != nil {
			return out, err
		}
		if _, err := os.Lstat(strings.TrimSuffix(string(top), "\n")); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		dir := filepath.Dir(name)
		size, _ := Size(dir)
		if err := os.RemoveAll(dir); err != nil {
			return out, fmt.Errorf("remove the snapshots of %s: %w", top, err)
		}
		out.Stores, out.Bytes = out.Stores+1, out.Bytes+size
	}
	return out, nil
}

// Size returns the bytes below a directory, such as that of all stores.
func Size(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}
