package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/search"
)

const (
	listedFiles = 1_000_000
	// A tree that can be read this fast is read each time.
	filesQuick = 10 * time.Millisecond
	// An older listing is read again in the background, while it still answers.
	filesFresh = 2 * time.Second
	// A listing unused for this long is read again before it answers, and its
	// memory is freed.
	filesKept = time.Minute
)

// listing is what a directory held a moment ago, so that the tree is not read for
// every letter that a person types.
type listing struct {
	mu      sync.Mutex
	dir     string
	paths   *search.Paths // with "/" after directories; those near the top first
	read    time.Time     // when reading began
	took    time.Duration // how long it took
	reading bool
	drop    *time.Timer

	excludes func(dir string) []string // what is left out of a directory; nil: nothing
}

// of returns what a directory holds. Work that goes on after it has returned is
// started with background, under a context that ends with the server.
func (l *listing) of(ctx context.Context, dir string, now func() time.Time, background func(func(context.Context))) (*search.Paths, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := now().Sub(l.read)
	if l.paths == nil || l.dir != dir || age > filesKept || l.took < filesQuick {
		at := now()
		paths, err := l.list(ctx, dir)
		if err != nil {
			return nil, err
		}
		l.set(dir, paths, at, now().Sub(at))
		return paths, nil
	}
	l.drop.Reset(filesKept)
	if age > filesFresh && !l.reading {
		l.reading = true
		background(func(ctx context.Context) { l.renew(ctx, dir, now) })
	}
	return l.paths, nil
}

func (l *listing) set(dir string, paths *search.Paths, at time.Time, took time.Duration) {
	l.dir, l.paths, l.read, l.took = dir, paths, at, took
	if l.drop != nil {
		l.drop.Stop()
	}
	l.drop = time.AfterFunc(filesKept, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.paths == paths {
			l.paths = nil
		}
	})
}

// renew reads a directory again. If that fails, the old listing stays.
func (l *listing) renew(ctx context.Context, dir string, now func() time.Time) {
	at := now()
	paths, err := l.list(ctx, dir)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading = false; err == nil && l.dir == dir && l.paths != nil {
		l.set(dir, paths, at, now().Sub(at))
	}
}

// close ends what would still happen by itself.
func (l *listing) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drop != nil {
		l.drop.Stop()
	}
	l.paths = nil
}

func (l *listing) list(ctx context.Context, dir string) (*search.Paths, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	var names, excludes []string
	if l.excludes != nil {
		excludes = l.excludes(dir)
	}
	for f, err := range search.Files(ctx, dir, search.FileOptions{Hidden: true, Dirs: true, Limit: listedFiles, Excludes: excludes}) {
		if err != nil {
			return nil, err
		}
		name := f.Path
		if f.Dir {
			name = strings.TrimSuffix(name, "/") + "/"
		}
		names = append(names, name)
	}
	slices.SortFunc(names, byDepth)
	return search.NewPaths(names), nil
}

// byDepth sorts paths by depth, then by name.
func byDepth(a, b string) int {
	if d := strings.Count(strings.TrimSuffix(a, "/"), "/") - strings.Count(strings.TrimSuffix(b, "/"), "/"); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
