package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// FileOptions say which files a search covers. Version control data (.git) never
// is.
type FileOptions struct {
	// Hidden includes files and directories whose name starts with a dot.
	Hidden bool
	// NoIgnore disregards all ignore files.
	NoIgnore bool
	// GlobalIgnore is the user's ignore file, see [GlobalIgnore]; may be empty.
	GlobalIgnore string
	// Excludes are more rules in the syntax of .gitignore, relative to the
	// directory; nothing takes back what they exclude.
	Excludes []string
	// Skip, if set, leaves out the files that it reports, by their path relative to
	// the directory. Several goroutines call it at once.
	Skip func(path string) bool
	// Glob selects files, see [Glob]; empty selects all.
	Glob string
	// Follow follows symbolic links; without it they are skipped. A directory
	// outside the tree is covered once however many links lead there; a link to a
	// directory in the tree, or to one that holds it, adds nothing. Check the
	// permission first: links may lead anywhere.
	Follow bool
	// FileLinks yields links to files without following those to directories.
	FileLinks bool
	// Dirs yields directories as well; Glob does not apply to them.
	Dirs bool
	// Sorted yields in the order of names, directory by directory, and is slower.
	Sorted bool
	// Stat fills in Size and ModTime.
	Stat bool
	// MaxDepth is how many levels of directories are covered; 0 means all.
	MaxDepth int
	// Limit is how many files are yielded; 0 means all.
	Limit int
	// Workers is the number of goroutines; 0 means one per processor.
	Workers int
	// Skipped, if set, counts files and directories that could not be read.
	Skipped *atomic.Int64
}

// File is a file or directory that was found.
type File struct {
	Path    string // relative to the searched directory, with forward slashes
	Dir     bool
	Link    bool // reached through a symbolic link of its own
	Size    int64
	ModTime time.Time
}

// ErrGlob means a glob is malformed.
var ErrGlob = errors.New("malformed glob")

// Files yields the files below a directory. The only errors are a directory that
// cannot be read, a malformed glob and the context's cause; each ends the
// sequence. Breaking out of the loop stops the walk first.
func Files(ctx context.Context, dir string, opt FileOptions) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		w, err := newWalker(dir, opt)
		if err != nil {
			yield(File{}, err)
			return
		}
		if opt.Sorted {
			w.workers = 1
		}
		out := make(chan []File, 2*w.workers)
		batches := make([][]File, w.workers)
		send := func(worker int) {
			if len(batches[worker]) > 0 {
				select {
				case out <- batches[worker]:
				case <-ctx.Done():
				}
				batches[worker] = nil
			}
		}
		w.visit = func(worker int, f *File) {
			if batches[worker] = append(batches[worker], *f); len(batches[worker]) >= 128 {
				send(worker)
			}
		}
		w.idle = send
		var wg sync.WaitGroup
		wg.Go(func() {
			err = w.run(ctx)
			close(out)
		})
		defer wg.Wait()
		defer cancel(nil)
		left := opt.Limit
		for batch := range out {
			for _, f := range batch {
				if ctx.Err() != nil {
					yield(File{}, context.Cause(ctx))
					return
				}
				if !yield(f, nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
		}
		if err != nil { // set before out was closed
			yield(File{}, err)
		}
	}
}

// walker walks a tree with several workers.
type walker struct {
	dir     string // as given, made absolute
	start   string // dir relative to the top of its checkout, "" or "a/b/"
	opt     FileOptions
	glob    *Matcher
	exclude []pattern
	global  []pattern
	workers int
	// visit gets each file, from several goroutines but never two with the same
	// worker number. idle is called when a worker has finished a directory.
	visit func(worker int, f *File)
	idle  func(worker int)

	mu      sync.Mutex
	wake    *sync.Cond
	jobs    []job
	busy    int
	links   []link
	seen    []string // real paths of trees that were covered
	stopped bool
}

// job is a directory to read. Its name is relative to the searched directory, ""
// or "a/b/". If open is set, the rest of the directory has to be read; if
// entries is set, those have to be visited, and level includes the directory's
// own rules.
type job struct {
	name    string
	depth   int
	level   *level
	open    *os.File
	entries []fs.DirEntry
}

// link is a symbolic link to a directory outside the tree.
type link struct {
	job
	real string
}

func newWalker(dir string, opt FileOptions) (*walker, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", dir, err)
	}
	w := &walker{dir: abs, opt: opt, workers: opt.Workers, idle: func(int) {}}
	if w.workers <= 0 {
		w.workers = max(2, runtime.GOMAXPROCS(0))
	}
	w.wake = sync.NewCond(&w.mu)
	if opt.Glob != "" {
		if w.glob, err = NewMatcher(trimBase(opt.Glob, abs)); err != nil {
			return nil, err
		}
	}
	w.exclude = parsePatterns(strings.Join(opt.Excludes, "\n"))
	return w, nil
}

// top returns the rules above the searched directory.
func (w *walker) top() *level {
	if w.opt.NoIgnore {
		return nil
	}
	w.global = readPatterns(w.opt.GlobalIgnore, nil)
	tops := []string{w.dir}
	for at := w.dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			break
		}
		up := filepath.Dir(at)
		if up == at {
			tops = tops[:1] // not in a checkout
			break
		}
		at = up
		tops = append(tops, at)
	}
	slices.Reverse(tops)
	var l *level
	for _, dir := range tops {
		base, _ := filepath.Rel(tops[0], dir)
		if base = filepath.ToSlash(base) + "/"; base == "./" {
			base = ""
		}
		if w.start = base; dir != w.dir { // its own ignore files are read by the walk
			l = newLevel(l, dir, base, w.global, probe)
		}
	}
	return l
}

// run covers the tree and returns when all workers have stopped.
func (w *walker) run(ctx context.Context) error {
	info, err := os.Stat(w.dir)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("search %s: not a directory", w.dir)
	}
	if f, err := os.Open(w.dir); err != nil {
		return fmt.Errorf("search: %w", err)
	} else {
		f.Close()
	}
	if real, err := filepath.EvalSymlinks(w.dir); err == nil {
		w.seen = append(w.seen, real)
	}
	defer context.AfterFunc(ctx, w.stop)()
	w.jobs = []job{{level: w.top()}}
	for len(w.jobs) > 0 && ctx.Err() == nil {
		var wg sync.WaitGroup
		for i := range w.workers {
			wg.Go(func() { w.work(ctx, i) })
		}
		wg.Wait()
		for _, j := range w.jobs { // left over when stopped
			if j.open != nil {
				j.open.Close()
			}
		}
		w.jobs = w.nextLinks()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (w *walker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.wake.Broadcast()
}

// work reads directories until none are left or being read.
func (w *walker) work(ctx context.Context, worker int) {
	for {
		w.mu.Lock()
		for len(w.jobs) == 0 && w.busy > 0 && !w.stopped {
			w.wake.Wait()
		}
		if len(w.jobs) == 0 || w.stopped {
			w.mu.Unlock()
			w.wake.Broadcast()
			return
		}
		j := w.jobs[len(w.jobs)-1]
		w.jobs = w.jobs[:len(w.jobs)-1]
		w.busy++
		w.mu.Unlock()

		w.read(ctx, worker, j)
		w.idle(worker)

		w.mu.Lock()
		w.busy--
		w.mu.Unlock()
		w.wake.Broadcast()
	}
}

// push queues directories.
func (w *walker) push(jobs ...job) {
	w.mu.Lock()
	w.jobs = append(w.jobs, jobs...)
	w.mu.Unlock()
	w.wake.Broadcast()
}

// nextLinks returns the links found so far whose targets are not covered yet. The
// choice does not depend on the order in which they were found.
func (w *walker) nextLinks() []job {
	slices.SortFunc(w.links, func(a, b link) int { return cmp.Compare(a.name, b.name) })
	var out []job
	for _, l := range w.links {
		if !slices.ContainsFunc(w.seen, func(s string) bool { return below(s, l.real) || below(l.real, s) }) {
			w.seen = append(w.seen, l.real)
			out = append(out, l.job)
		}
	}
	w.links = nil
	return out
}

func below(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// chunk is how many entries of a directory are held at a time.
const chunk = 4096

// share is how many of these entries one worker takes.
const share = 256

// read visits the entries of one directory, or of a part of one.
func (w *walker) read(ctx context.Context, worker int, j job) {
	abs := w.dir + string(filepath.Separator) + filepath.FromSlash(j.name)
	if j.entries != nil {
		w.entries(ctx, worker, j, abs, j.entries)
		return
	}
	f := j.open
	if f == nil {
		var err error
		if f, err = os.Open(abs); err != nil {
			w.skip()
			return
		}
	}
	if w.opt.Sorted {
		w.readSorted(ctx, worker, j, abs, f)
		return
	}
	entries, err := f.ReadDir(chunk)
	if err != nil && err != io.EOF {
		w.skip()
	}
	more := err == nil && len(entries) == chunk
	if j.open == nil {
		j.level = w.levelOf(j, abs, entries, more)
	}
	rest := j
	if rest.open = nil; more {
		// The rest is read when this part is done: the last job queued is taken
		// first, so a directory of a million files is never held whole.
		rest.open = f
		w.push(rest)
		rest.open = nil
	} else {
		f.Close()
	}
	for w.workers > 1 && len(entries) > share {
		rest.entries = entries[:share:share]
		entries = entries[share:]
		w.push(rest)
	}
	w.entries(ctx, worker, j, abs, entries)
}

// entries visits files and queues directories.
func (w *walker) entries(ctx context.Context, worker int, j job, abs string, entries []fs.DirEntry) {
	var dirs []job
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		if sub, ok := w.entry(worker, j, abs, e); ok {
			dirs = append(dirs, sub)
		}
	}
	if len(dirs) > 0 {
		w.push(dirs...)
	}
}

// readSorted reads a directory and, right away, those below it.
func (w *walker) readSorted(ctx context.Context, worker int, j job, abs string, f *os.File) {
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		w.skip()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	j.level = w.levelOf(j, abs, entries, false)
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		if sub, ok := w.entry(worker, j, abs, e); ok {
			w.read(ctx, worker, sub)
		}
	}
}

func (w *walker) skip() {
	if w.opt.Skipped != nil {
		w.opt.Skipped.Add(1)
	}
}

// levelOf adds the ignore files of a directory to its rules. If not all entries
// are known yet, it looks for the files by name.
func (w *walker) levelOf(j job, abs string, entries []fs.DirEntry, more bool) *level {
	if w.opt.NoIgnore {
		return nil
	}
	has := present{more, more, more}
	for _, e := range entries {
		switch e.Name() {
		case ".gitignore":
			has.gitignore = true
		case ".ignore":
			has.ignore = true
		case ".git":
			has.repo = true
		}
	}
	if !has.gitignore && !has.ignore && !has.repo && j.level != nil {
		return j.level
	}
	return newLevel(j.level, abs, w.start+j.name, w.global, has)
}

// entry visits a file, or returns the job for a directory.
func (w *walker) entry(worker int, j job, abs string, e fs.DirEntry) (sub job, isDir bool) {
	base := e.Name()
	if base == ".git" || base[0] == '.' && !w.opt.Hidden {
		return job{}, false
	}
	mode := e.Type()
	isLink := mode&fs.ModeSymlink != 0
	if isLink {
		if !w.opt.Follow && !w.opt.FileLinks {
			return job{}, false
		}
		info, err := os.Stat(filepath.Join(abs, base))
		if err != nil {
			return job{}, false // a dangling link, or a loop
		}
		mode = info.Mode().Type()
		if mode == fs.ModeDir && !w.opt.Follow {
			return job{}, false
		}
	}
	if mode != 0 && mode != fs.ModeDir {
		return job{}, false
	}
	f := File{Path: j.name + base, Dir: mode == fs.ModeDir, Link: isLink}
	if !f.Dir && w.glob != nil && !w.glob.Match(f.Path) {
		return job{}, false
	}
	if hit := last(w.exclude, f.Path, base, f.Dir); hit != nil && !hit.negate {
		return job{}, false
	}
	if j.level != nil && j.level.ignored(w.start+f.Path, f.Dir) {
		return job{}, false
	}
	if !f.Dir && w.opt.Skip != nil && w.opt.Skip(f.Path) {
		return job{}, false
	}
	if !f.Dir || w.opt.Dirs {
		if w.opt.Stat {
			info, err := os.Stat(filepath.Join(abs, base))
			if err != nil {
				w.skip()
				return job{}, false
			}
			f.Size, f.ModTime = info.Size(), info.ModTime()
		}
		w.visit(worker, &f)
	}
	return w.descend(j, f, filepath.Join(abs, base))
}

func (w *walker) descend(j job, f File, abs string) (sub job, ok bool) {
	if !f.Dir || w.opt.MaxDepth > 0 && j.depth+1 >= w.opt.MaxDepth || w.glob != nil && !w.glob.mayHold(f.Path) {
		return job{}, false
	}
	sub = job{name: f.Path + "/", depth: j.depth + 1, level: j.level}
	if !f.Link {
		return sub, true
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		w.mu.Lock()
		w.links = append(w.links, link{sub, real})
		w.mu.Unlock()
	}
	return job{}, false
}

// readHead reads a regular file, up to limit bytes.
func readHead(file string, limit int64) ([]byte, error) {
	f, err := openRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, min(f.size, limit)+1)
	return appendAll(data, io.LimitReader(f, limit))
}

func appendAll(buf []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

var errNotRegular = errors.New("not a regular file")
