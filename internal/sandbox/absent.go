package sandbox

import (
	"os"
	"path/filepath"
	"sync"
	"time"
)

// absences remember which of a policy's paths are not there: most programs that it names
// are not installed, and looking for each of their files took a third of a start. A path
// stays absent as long as the nearest directory above it that is there has not changed,
// which only needs one look at that directory. It is safe for concurrent use; nil
// remembers nothing.
type absences struct {
	mu    sync.Mutex
	under map[string]string    // the nearest directory, by absent path
	dirs  map[string]directory // as they were
	// settled is how long a directory must not have changed: what changed a moment ago may
	// change again within the same tick of the file system's clock.
	settled time.Duration
}

// directory is what shows that something was made in one.
type directory struct {
	id      [2]uint64
	changed time.Time
}

// look is one pass over paths, during which each directory is looked at once.
type look struct {
	a    *absences
	seen map[string]directory // zero: it is not there, or says nothing
}

func newAbsences() *absences {
	return &absences{under: map[string]string{}, dirs: map[string]directory{}, settled: 50 * time.Millisecond}
}

func (a *absences) look() *look { return &look{a: a, seen: map[string]directory{}} }

// gone reports whether a path is known to be absent.
func (l *look) gone(path string) bool {
	if l == nil || l.a == nil {
		return false
	}
	l.a.mu.Lock()
	dir, ok := l.a.under[path]
	was := l.a.dirs[dir]
	l.a.mu.Unlock()
	if !ok {
		return false
	}
	if now := l.at(dir); now == was && now != (directory{}) {
		return true
	}
	l.a.mu.Lock()
	delete(l.a.under, path)
	l.a.mu.Unlock()
	return false
}

// missed notes that a path was not found.
func (l *look) missed(path string) {
	if l == nil || l.a == nil {
		return
	}
	missing, dir := path, filepath.Dir(path)
	for l.at(dir) == (directory{}) {
		if dir == filepath.Dir(dir) {
			return
		}
		missing, dir = dir, filepath.Dir(dir)
	}
	now := l.at(dir)
	if time.Since(now.changed) < l.a.settled {
		return
	}
	if _, err := os.Lstat(missing); !os.IsNotExist(err) {
		return // a link that leads nowhere yet
	}
	l.a.mu.Lock()
	defer l.a.mu.Unlock()
	l.a.under[path], l.a.dirs[dir] = dir, now
}

func (l *look) at(dir string) directory {
	now, ok := l.seen[dir]
	if !ok {
		now = directoryAt(dir)
		l.seen[dir] = now
	}
	return now
}
