package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxWatched bounds the directories that are watched.
const maxWatched = 50_000

const watchMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF |
	unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK

// watcher knows which paths of a worktree changed. The kernel queues an event
// before the system call that causes it returns, so there is no waiting:
// everything that happened can be read. It runs nothing in the background.
type watcher struct {
	top    string
	fd     int
	dirs   map[int32]string // watched directories, relative to top
	byPath map[string]int32
	buf    []byte
}

// newWatcher watches the worktree. ignored says which of some directories are
// not ours.
func newWatcher(top string, ignored func(dirs []string) (map[string]bool, error)) (*watcher, error) {
	w, err := openWatcher(top)
	if err != nil {
		return nil, err
	}
	if err := w.addTree("", ignored); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// openWatcher returns a watcher that watches nothing yet.
func openWatcher(top string) (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &watcher{top: top, fd: fd, dirs: map[int32]string{}, byPath: map[string]int32{}, buf: make([]byte, 64<<10)}, nil
}

func (w *watcher) close() {
	_ = unix.Close(w.fd)
}

// addTree watches a directory and what is below it, level by level. Each is
// watched before it is read, so that nothing appears unseen in between.
func (w *watcher) addTree(dir string, ignored func([]string) (map[string]bool, error)) error {
	for level := []string{dir}; len(level) > 0; {
		var next []string
		for _, d := range level {
			below, err := w.add(d)
			if err != nil {
				return err
			}
			next = append(next, below...)
		}
		if len(next) > 0 && ignored != nil {
			skip, err := ignored(next)
			if err != nil {
				return err
			}
			kept := next[:0]
			for _, d := range next {
				if !skip[d] {
					kept = append(kept, d)
				}
			}
			next = kept
		}
		level = next
	}
	return nil
}

// add watches one directory and returns those in it.
func (w *watcher) add(dir string) (below []string, err error) {
	full := filepath.Join(w.top, dir)
	if dir != "" && exists(filepath.Join(full, ".git")) {
		return nil, nil
	}
	if len(w.dirs) >= maxWatched {
		return nil, errManyDirs
	}
	wd, err := unix.InotifyAddWatch(w.fd, full, watchMask)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, fs.ErrPermission) && dir != "":
		return nil, nil
	case err != nil:
		return nil, err
	}
	w.dirs[int32(wd)], w.byPath[dir] = dir, int32(wd)
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil, nil // it went away, and an event says so
	}
	for _, e := range entries {
		if e.IsDir() && !hidden(e.Name()) {
			below = append(below, join(dir, e.Name()))
		}
	}
	return below, nil
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// watched returns the directories that are watched, "" for the top.
func (w *watcher) watched() iter.Seq[string] { return maps.Keys(w.byPath) }

// remove forgets a directory that was moved away, and those below it.
func (w *watcher) remove(dir string) {
	for p, wd := range w.byPath {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
			delete(w.byPath, p)
			delete(w.dirs, wd)
		}
	}
}

// pending reports whether something changed since the last drain.
func (w *watcher) pending() bool {
	n, err := unix.IoctlGetInt(w.fd, unix.TIOCINQ)
	return err != nil || n > 0
}

// drain returns the paths that changed since the last call. ok is false when
// events were lost; the watcher is of no more use then.
func (w *watcher) drain() (dirty map[string]bool, ok bool) {
	for {
		n, err := unix.Read(w.fd, w.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return dirty, true
		case err != nil || n <= 0:
			return nil, false
		}
		if dirty == nil {
			dirty = map[string]bool{}
		}
		if !w.take(w.buf[:n], dirty) {
			return nil, false
		}
	}
}

// take reads a buffer of events.
func (w *watcher) take(b []byte, dirty map[string]bool) bool {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(b))
		mask, size := binary.NativeEndian.Uint32(b[4:]), int(binary.NativeEndian.Uint32(b[12:]))
		b = b[unix.SizeofInotifyEvent:]
		if size > len(b) {
			return false
		}
		name := string(bytes.TrimRight(b[:size], "\x00"))
		b = b[size:]
		dir, ours := w.dirs[wd]
		switch {
		case mask&unix.IN_Q_OVERFLOW != 0:
			return false
		case !ours:
			continue
		case mask&unix.IN_IGNORED != 0:
			delete(w.dirs, wd)
			if w.byPath[dir] == wd {
				delete(w.byPath, dir)
			}
			continue
		case name == "":
			if dir == "" && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0 {
				return false
			}
			continue
		}
		if !w.note(join(dir, name), name, mask, dirty) {
			return false
		}
	}
	return true
}

// note handles one event.
func (w *watcher) note(p, name string, mask uint32, dirty map[string]bool) bool {
	if mask&unix.IN_ISDIR == 0 {
		dirty[p] = true
		return true
	}
	if hidden(name) {
		return true
	}
	switch {
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		dirty[p] = true
		return w.addTree(p, nil) == nil
	case mask&(unix.IN_MOVED_FROM|unix.IN_DELETE) != 0:
		dirty[p] = true
		w.remove(p)
	}
	return true
}

// startWatch begins to watch the worktree, unless it is watched.
func (s *Store) startWatch(ctx context.Context) {
	if s.watch != nil {
		if _, ok := s.watch.drain(); ok {
			return
		}
		s.watch.close()
		s.watch = nil
	}
	indexed := map[string]bool{}
	for f := range s.index.files {
		for i := strings.LastIndexByte(f, '/'); i > 0 && !indexed[f[:i]]; i = strings.LastIndexByte(f[:i], '/') {
			indexed[f[:i]] = true
		}
	}
	w, err := newWatcher(s.top, func(dirs []string) (map[string]bool, error) { return s.ignoredDirs(ctx, dirs, indexed) })
	if err != nil {
		s.log.Info("the worktree cannot be watched; each snapshot looks through it", "err", err)
		return
	}
	s.watch = w
}

// ignoredDirs asks git about directories without files of the index.
func (g *gitDir) ignoredDirs(ctx context.Context, dirs []string, indexed map[string]bool) (map[string]bool, error) {
	var ask []string
	for _, d := range dirs {
		if !indexed[d] {
			ask = append(ask, d+"/")
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	found, err := g.ignored(ctx, ask)
	if err != nil {
		return nil, err
	}
	skip := map[string]bool{}
	for d := range found {
		skip[strings.TrimSuffix(d, "/")] = true
	}
	return skip, nil
}
