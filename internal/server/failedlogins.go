package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/people"
	"lathe/internal/say"
	"lathe/internal/store"
)

const (
	// failedSoon is how long a failed login waits for others of the same address, and failedEvery
	// how long the next entries wait for more.
	failedSoon, failedEvery = 2 * time.Second, 10 * time.Minute
	// mostFailed is how many addresses are named each time, and mostFailedNames how many names of
	// each: a flood fills no table.
	mostFailed, mostFailedNames = 20, 5
	// failedTime bounds the recording.
	failedTime = 10 * time.Second
)

// failedLogins records in the audit who tried in vain to come in, and from where: an entry for
// each address now and then, with how often it tried. The zero value without an audit records
// nothing. Close it.
type failedLogins struct {
	audit  store.Audit
	people store.People // whose names are told; nil: nobody has one
	log    *slog.Logger
	now    func() time.Time

	wg     sync.WaitGroup
	mu     sync.Mutex
	by     map[string]*failedLogin // by address
	others int                     // attempts of addresses that found no place there
	timer  *time.Timer             // nil: nothing waits
	last   time.Time               // when entries were recorded
	closed bool
}

func newFailedLogins(o Options) *failedLogins {
	f := &failedLogins{log: o.Log, now: o.Now}
	if o.Store != nil && !o.Trusted {
		f.audit, f.people = o.Store.Audit, o.Store.People
	}
	return f
}

// failedLogin is what came from one address.
type failedLogin struct {
	times int
	why   string
	names []string
}

// note takes a failed login. Name is the one that came with it, which may be anything.
func (f *failedLogins) note(r *http.Request, name, why string) {
	if f.audit == nil {
		return
	}
	from := r.RemoteAddr
	if at, err := netip.ParseAddrPort(from); err == nil {
		from = at.Addr().Unmap().String() // which of its connections says nothing
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.by[from]
	switch {
	case one != nil:
	case len(f.by) >= mostFailed:
		f.others++
	default:
		if f.by == nil {
			f.by = map[string]*failedLogin{}
		}
		one = &failedLogin{}
		f.by[from] = one
	}
	if one != nil {
		one.times++
		one.why = why
		if people.IsName(name) && len(one.names) < mostFailedNames && !slices.Contains(one.names, name) {
			one.names = append(one.names, name)
		}
	}
	if f.timer == nil && !f.closed {
		f.wg.Add(1)
		f.timer = time.AfterFunc(max(failedSoon, f.last.Add(failedEvery).Sub(f.now())), f.record)
	}
}

// record adds the entries of what waits.
func (f *failedLogins) record() {
	defer f.wg.Done()
	f.mu.Lock()
	by, others := f.by, f.others
	f.by, f.others, f.timer, f.last = nil, 0, nil, f.now()
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), failedTime)
	defer cancel()
	for _, from := range slices.Sorted(maps.Keys(by)) {
		one := by[from]
		f.add(ctx, from, fmt.Sprintf("%s: %s%s", say.Plural(one.times, "time"), one.why, f.as(ctx, one.names)))
	}
	if others > 0 {
		f.add(ctx, "", fmt.Sprintf("%s from other addresses", say.Plural(others, "time")))
	}
}

func (f *failedLogins) add(ctx context.Context, from, about string) {
	if err := f.audit.Record(ctx, store.Change{From: from, What: "login failed", About: about, Refused: true}); err != nil {
		f.log.Warn("failed logins could not be recorded", "from", from, "about", about, "err", err)
	}
}

// as tells the names of people who are known here. Any other may be a password in the wrong place.
func (f *failedLogins) as(ctx context.Context, names []string) string {
	var known []string
	for _, name := range names {
		if f.people == nil {
			break
		}
		if _, err := f.people.Person(ctx, name); err == nil {
			known = append(known, name)
		}
	}
	if len(known) == 0 {
		return ""
	}
	return ", as " + strings.Join(known, ", ")
}

// Close records what waits. It may be called twice.
func (f *failedLogins) Close() {
	f.mu.Lock()
	f.closed = true
	timer := f.timer
	f.mu.Unlock()
	if timer != nil && timer.Stop() {
		f.record()
	}
	f.wg.Wait()
}
