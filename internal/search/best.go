package search

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// best keeps the matches of the newest files: as many files as are needed to
// reach the limit of lines.
type best struct {
	limit int
	// full is set once more lines than the limit were seen. From then on files
	// older than oldest change nothing.
	full atomic.Bool

	mu    sync.Mutex
	files []fileMatches // newest first
	lines int
	more  bool
}

type fileMatches struct {
	mod     time.Time
	name    string
	matches []Match
}

// tooOld reports whether a file need not be searched.
func (b *best) tooOld(mod time.Time, name string) bool {
	if !b.full.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.files[len(b.files)-1]
	return byAge(last.mod, mod, last.name, name) < 0
}

// add takes the matches of one file; more says that the file has further matches.
func (b *best) add(mod time.Time, name string, matches []Match, more bool) {
	if len(matches) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f := fileMatches{mod, name, matches}
	at, _ := slices.BinarySearchFunc(b.files, f, func(x, y fileMatches) int { return byAge(x.mod, y.mod, x.name, y.name) })
	b.files = slices.Insert(b.files, at, f)
	b.lines += len(matches)
	b.more = b.more || more || b.lines > b.limit
	for len(b.files) > 0 {
		last := len(b.files[len(b.files)-1].matches)
		if b.lines-last < b.limit {
			break
		}
		b.lines -= last
		b.files = slices.Delete(b.files, len(b.files)-1, len(b.files))
	}
	if b.more && b.lines >= b.limit {
		b.full.Store(true)
	}
}

func (b *best) result() GrepResult {
	var out GrepResult
	for _, f := range b.files {
		out.Matches = append(out.Matches, f.matches...)
	}
	out.Truncated = b.more
	if len(out.Matches) > b.limit {
		out.Matches = slices.Clip(out.Matches[:b.limit])
	}
	return out
}
