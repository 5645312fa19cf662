package postgres

import (
	"sync"
	"time"
)

// awayAfter is how long the database has to have been silent for this server to count as cut off
// from it. It looks every [lookEvery].
const awayAfter = 2 * lookEvery

// absence is how this server judges others after a time in which it could not reach the database
// itself: they could say as little that they live. Whoever was living when that began is taken for
// living until each had the time to say so. It is safe for concurrent use.
type absence struct {
	life time.Duration // how long a server counts as living after it was last heard of

	mu    sync.Mutex
	seen  time.Time // when the database answered last; zero as long as this server does not look regularly
	from  time.Time // when the newest absence began
	until time.Time // when others are judged by what the database says again
	since time.Time // when it was first found to be away; zero: it is not
}

// begin notes that this server looks every few seconds from now on.
func (a *absence) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = time.Now()
}

// answered notes that the database answers.
func (a *absence) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = time.Time{}
	if a.seen.IsZero() {
		return
	}
	now := time.Now()
	if now.Sub(a.seen) > awayAfter {
		if a.seen.After(a.until) { // else it was back for too short a time for the others
			a.from = a.seen
		}
		a.until = now.Add(a.life)
	}
	a.seen = now
}

// silent notes that the database does not answer, and returns for how long that is so.
func (a *absence) silent() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = time.Now()
	}
	return time.Since(a.since)
}

// recent reports whether this server is back for so short a time that others may not be. The answer
// that it judges by has come before.
func (a *absence) recent() bool {
	a.answered()
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.until)
}

// gone reports whether a server is gone whose time was over so many microseconds ago, below 0 if it is
// not; nil: it is not known at all.
func (a *absence) gone(late *int64) bool {
	excused := a.recent()
	switch {
	case late == nil:
		return true
	case *late < 0:
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return !excused || time.Duration(*late)*time.Microsecond > time.Since(a.from)
}

// lateness is for how many microseconds the time of owner o is over.
const lateness = `(extract(epoch FROM clock_timestamp() - o.expires) * 1000000)::bigint`
