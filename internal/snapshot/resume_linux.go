package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"lathe/internal/workspace"
)

// resume takes the first snapshot of a process without git: it compares what the
// store's index remembers of each file with what lstat says now, watches the
// directories on the way, and updates what differs. done is false if git has to
// look through the worktree instead.
func (s *Store) resume(ctx context.Context) (tree string, done bool, err error) {
	if s.index != nil || s.watch != nil || !s.begun(ctx) {
		return "", false, nil
	}
	r, err := s.newResumer()
	if errors.Is(err, ErrRefused) {
		return "", false, err
	} else if err != nil {
		return "", false, nil // scan will say what is wrong with the index
	}
	if err := s.checkBorrowed(ctx, r.records); errors.Is(err, errGone) {
		s.log.Warn("the snapshot index is made again", "err", err)
		return "", false, os.Remove(s.indexFile())
	} else if err != nil {
		return "", false, nil
	}
	w, err := openWatcher(s.top)
	if err != nil {
		return "", false, nil
	}
	defer func() {
		if !done {
			w.close()
			s.index, s.watch = nil, nil
		}
	}()
	if err := r.walk(ctx, w); err != nil {
		s.log.Info("git looks through the worktree", "err", err)
		return "", false, nil
	}
	s.index, s.watch = r.index(), w
	dirty := r.dirty()
	fresh, err := s.unignored(ctx, r.news)
	if err != nil || len(dirty)+len(fresh) > maxDirty || r.size > maxDirtyBytes {
		return "", false, nil
	}
	for _, p := range fresh {
		dirty[p] = true
	}
	s.index.perms.bare = s.findBare(ctx, slices.Values(r.bare))
	top, known := s.index.trees[""]
	if len(dirty) > 0 || !known {
		for _, d := range r.bare { // whose files are gone
			dirty[d] = true
		}
		return s.update(ctx, dirty)
	}
	if tree, err = s.name(top.String()); err != nil {
		return "", false, err
	}
	return s.settle(tree, nil), true, nil
}

// begun reports whether the store has an index, and makes one from the project's
// newest commit where it has none.
func (s *Store) begun(ctx context.Context) bool {
	if exists(s.indexFile()) {
		return true
	}
	if s.project == "" {
		return false
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return false
	}
	defer unlock()
	stamp := s.stamp()
	if !exists(s.indexFile()) && s.seed(ctx) == nil {
		s.noteStamp(stamp)
	}
	return exists(s.indexFile())
}

// unignored returns the paths that the project does not ignore.
func (s *Store) unignored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	ignored, err := s.ignored(ctx, paths)
	if err != nil {
		return nil, err
	}
	for p := range ignored {
		if len(s.noise) < 10*maxDirty {
			s.noise[p] = true
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return ignored[p] }), nil
}

// resumer compares an index with a worktree.
type resumer struct {
	store   *Store
	records []record
	trees   map[string]oid
	racy    int64              // a file touched at or after this time may differ unnoticed
	dirs    map[string][]int32 // the records of each directory's files
	known   map[string]bool    // directories that files of the index are in

	found []bool        // by record: it is there, unchanged or not
	odd   []bool        // by record: it may have changed
	perm  []fs.FileMode // by record: bits of a regular file

	watched atomic.Int32
	mu      sync.Mutex
	queue   []string
	parked  []string // directories without files of the index: git is asked first
	busy    int
	wake    *sync.Cond
	failed  error
	news    []string // files that the index does not know
	bare    []string // empty ones
	size    int64    // bytes of files that are new or may have changed
	watches []watch
}

type watch struct {
	wd  int32
	dir string
}

func (s *Store) newResumer() (*resumer, error) {
	f, err := os.Open(s.indexFile())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(s.indexFile())
	if err != nil {
		return nil, err
	}
	r := &resumer{store: s, racy: info.ModTime().UnixNano(), dirs: map[string][]int32{}, known: map[string]bool{}}
	if r.records, r.trees, err = parseRecords(data); err != nil {
		return nil, err
	}
	r.found, r.odd = make([]bool, len(r.records)), make([]bool, len(r.records))
	r.perm = make([]fs.FileMode, len(r.records))
	r.wake = sync.NewCond(&r.mu)
	r.group()
	return r, nil
}

// group sorts the records by directory.
func (r *resumer) group() {
	last, files := "", []int32(nil)
	for i, rec := range r.records {
		dir := parent(rec.path)
		if dir != last {
			r.dirs[last] = files
			last, files = dir, r.dirs[dir]
		}
		files = append(files, int32(i))
	}
	r.dirs[last] = files
	for dir := range r.dirs {
		for ; dir != "" && !r.known[dir]; dir = parent(dir) {
			r.known[dir] = true
		}
	}
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// walk looks at every directory that belongs to the worktree, with one
// goroutine per processor, and returns when all have ended.
func (r *resumer) walk(ctx context.Context, w *watcher) error {
	defer context.AfterFunc(ctx, func() { r.fail(context.Cause(ctx)) })()
	r.queue = []string{""}
	for len(r.queue) > 0 && r.failed == nil {
		var wg sync.WaitGroup
		for range max(2, runtime.GOMAXPROCS(0)) {
			wg.Go(func() { r.work(w.fd) })
		}
		wg.Wait()
		if err := r.unpark(ctx); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.watches {
		w.dirs[x.wd], w.byPath[x.dir] = x.dir, x.wd
	}
	return r.failed
}

// unpark queues those directories without files of the index that are not
// ignored.
func (r *resumer) unpark(ctx context.Context) error {
	dirs := r.parked
	r.parked = nil
	skip, err := r.store.ignoredDirs(ctx, dirs, nil)
	if err != nil {
		return err
	}
	r.queue = slices.DeleteFunc(dirs, func(d string) bool { return skip[d] })
	return nil
}

func (r *resumer) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = errors.Join(r.failed, err)
	r.wake.Broadcast()
}

// work looks at directories until none are left or looked at.
func (r *resumer) work(inotify int) {
	d := dirReader{resumer: r, inotify: inotify, buf: make([]byte, 32<<10), names: map[string]int32{}}
	defer d.hand()
	for {
		r.mu.Lock()
		for len(r.queue) == 0 && r.busy > 0 && r.failed == nil {
			r.wake.Wait()
		}
		if len(r.queue) == 0 || r.failed != nil {
			r.mu.Unlock()
			r.wake.Broadcast()
			return
		}
		dir := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		r.busy++
		r.mu.Unlock()

		below, parked, err := d.read(dir)

		r.mu.Lock()
		r.busy--
		r.queue, r.parked = append(r.queue, below...), append(r.parked, parked...)
		if err != nil && r.failed == nil {
			r.failed = err
		}
		r.mu.Unlock()
		r.wake.Broadcast()
	}
}

// dirty returns the paths of the index that may have changed or are gone.
func (r *resumer) dirty() map[string]bool {
	out := map[string]bool{}
	for i, found := range r.found {
		if !found || r.odd[i] {
			out[r.records[i].path] = true
		}
	}
	return out
}

// index returns the files as the index has them, with the permission bits that
// were found.
func (r *resumer) index() *index {
	count := map[fs.FileMode]int{}
	for i := range r.records {
		rec := &r.records[i]
		if rec.perm = r.perm[i]; rec.mode == modeFile && rec.perm != 0 {
			count[rec.perm]++
		}
	}
	x := &index{trees: r.trees, perms: perms{usual: most(count)}}
	for i := range r.records {
		switch rec := &r.records[i]; {
		case rec.mode != modeFile && rec.mode != modeExec:
			rec.perm = 0
		case rec.perm == 0:
			rec.perm = x.perms.expect(rec.mode)
		case rec.perm != x.perms.expect(rec.mode):
			x.perms.note(rec.path, rec.entry)
		}
	}
	x.files = filesOf(r.records)
	return x
}

// dirReader reads one directory after another for one goroutine.
type dirReader struct {
	*resumer
	inotify int
	buf     []byte
	list    []string
	names   map[string]int32 // of the current directory: its records
	st      unix.Stat_t

	news, bare []string
	size       int64
	watches    []watch
}

// hand passes what was found to the resumer.
func (d *dirReader) hand() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resumer.news = append(d.resumer.news, d.news...)
	d.resumer.bare = append(d.resumer.bare, d.bare...)
	d.resumer.size += d.size
	d.resumer.watches = append(d.resumer.watches, d.watches...)
}

var errManyDirs = errors.New("the worktree has too many directories to watch")

// read watches a directory, compares its files, and returns the directories in
// it: those to go on with, and those of which it is not known whether they are
// ignored. A repository within the worktree is not ours, and what goes away in
// the meantime is told by an event.
func (d *dirReader) read(dir string) (below, parked []string, err error) {
	if d.watched.Add(1) > maxWatched {
		return nil, nil, errManyDirs
	}
	full := filepath.Join(d.store.top, dir)
	wd, err := unix.InotifyAddWatch(d.inotify, full, watchMask)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, fs.ErrPermission) && dir != "":
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	fd, err := unix.Open(full, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		d.watches = append(d.watches, watch{int32(wd), dir})
		return nil, nil, nil
	}
	defer unix.Close(fd)
	if err := d.readNames(fd); err != nil {
		return nil, nil, err
	}
	if dir != "" && slices.Contains(d.list, ".git") {
		_, err := unix.InotifyRmWatch(d.inotify, uint32(wd))
		return nil, nil, err
	}
	d.watches = append(d.watches, watch{int32(wd), dir})
	if len(d.list) == 0 && dir != "" {
		d.bare = append(d.bare, dir)
	}
	clear(d.names)
	for _, i := range d.dirs[dir] {
		d.names[d.records[i].path[len(dir)+min(1, len(dir)):]] = i
	}
	for _, name := range d.list {
		if sub, isDir := d.entry(fd, dir, name); isDir && d.known[sub] {
			below = append(below, sub)
		} else if isDir {
			parked = append(parked, sub)
		}
	}
	return below, parked, nil
}

func (d *dirReader) readNames(fd int) error {
	d.list = d.list[:0]
	for {
		n, err := unix.ReadDirent(fd, d.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		_, _, d.list = unix.ParseDirent(d.buf[:n], -1, d.list)
	}
}

// entry compares what has a name; it returns the path of a directory that may
// belong to the worktree.
func (d *dirReader) entry(fd int, dir, name string) (sub string, isDir bool) {
	if err := unix.Fstatat(fd, name, &d.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return "", false
	}
	kind := d.st.Mode & unix.S_IFMT
	i, known := d.names[name]
	if known {
		d.compare(i, kind)
	}
	switch {
	case kind == unix.S_IFDIR:
		return join(dir, name), !hidden(name)
	case known || kind != unix.S_IFREG && kind != unix.S_IFLNK || name == ".git" || name == ".DS_Store":
	case workspace.IsTemp(name): // even if a .gitignore includes it
		workspace.RemoveStaleTemp(filepath.Join(d.store.top, dir, name))
	default:
		d.news = append(d.news, join(dir, name))
		d.size += d.st.Size
	}
	return "", false
}

// compare notes whether a file of the index may have changed.
func (d *dirReader) compare(i int32, kind uint32) {
	rec, st := &d.records[i], &d.st
	d.found[i] = true
	switch {
	case kind == unix.S_IFDIR:
		d.odd[i] = rec.mode != modeRepo
		return
	case kind == unix.S_IFREG:
		d.perm[i] = fs.FileMode(st.Mode & 0o777)
	}
	if d.odd[i] = statOf(st) != rec.seen || modeOf(kind, st.Mode) != rec.mode || st.Mtim.Nano() >= d.racy; d.odd[i] {
		d.size += st.Size
	}
}

// modeOf is the mode that git gives a file.
func modeOf(kind, mode uint32) uint32 {
	switch {
	case kind == unix.S_IFLNK:
		return modeLink
	case kind != unix.S_IFREG:
		return 0
	case mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}
