package lsp

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
)

// Found is a diagnostic with the line it is in.
type Found struct {
	Diagnostic
	Line string // without blanks around it; may be empty
}

// Report is what servers say after a change.
type Report struct {
	// All has all diagnostics of the changed files, and the errors of others.
	All map[string][]Diagnostic
	// New are the errors that the change introduced, Fixed those that it removed, by file.
	New, Fixed map[string][]Found
	// Older is how many errors the changed files had before and still have, which New
	// leaves out.
	Older int
	// Waiting names servers that have not reported on the change yet. What they find
	// is part of a later report.
	Waiting []string
}

// Change is a change of files that is about to be made.
type Change struct {
	s       *Servers
	members []*member
	over    bool
}

// member is one server's part in a change.
type member struct {
	want   wanted
	files  []File // before
	done   chan struct{}
	client *client // nil: it does not run
	before map[string][]Diagnostic
	known  bool // before has everything that the server had to say
	failed error
}

// Before tells the servers of files their content before a change, so that new errors
// can be distinguished from old ones. It starts servers if need be and does not wait.
// All files of a change go into one call. The caller then calls [Change.After] or
// [Change.Drop].
func (s *Servers) Before(files ...File) *Change {
	if s == nil {
		return nil
	}
	ch := &Change{s: s}
	for _, f := range files {
		for _, w := range s.serving(f.Path) {
			i := slices.IndexFunc(ch.members, func(m *member) bool { return m.want.spec == w.spec && m.want.root == w.root })
			if i < 0 {
				i, ch.members = len(ch.members), append(ch.members, &member{want: w, done: make(chan struct{})})
			}
			ch.members[i].files = append(ch.members[i].files, f)
		}
	}
	for _, m := range ch.members {
		s.wg.Go(func() { m.prepare(s.ctx) })
	}
	return ch
}

// prepare gets the server's diagnostics of the files as they are.
func (m *member) prepare(ctx context.Context) {
	defer close(m.done)
	s := m.want.by
	limited, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	if m.client, m.failed = s.client(limited, m.want); m.failed != nil {
		m.client = nil
		return
	}
	m.client.occupy(m.files, 1)
	m.known = m.client.check(limited, s.wait, m.files) != owing
	m.before = m.client.snapshot()
}

// occupy notes that files are being changed, or no longer are.
func (c *client) occupy(files []File, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range files {
		if c.busy[f.Path] += by; c.busy[f.Path] <= 0 {
			delete(c.busy, f.Path)
		}
	}
}

// Drop ends a change that was not made. After [Change.After] it does nothing.
func (ch *Change) Drop() {
	if ch == nil || ch.over {
		return
	}
	ch.over = true
	for _, m := range ch.members {
		ch.s.wg.Go(func() {
			<-m.done
			if m.client != nil {
				m.client.occupy(m.files, -1)
			}
		})
	}
}

// After tells the servers the new content of the files and returns what they say about
// it. It waits for each server at most for the configured time, and not at all for one
// that has not answered an earlier change.
func (ch *Change) After(ctx context.Context, files ...File) Report {
	r := Report{All: map[string][]Diagnostic{}, New: map[string][]Found{}, Fixed: map[string][]Found{}}
	if ch == nil || ch.over {
		return r
	}
	ch.over = true
	ctx, cancel := context.WithTimeout(ctx, ch.s.wait)
	defer cancel()
	now := map[string]File{}
	for _, f := range files {
		now[f.Path] = f
	}
	answers := make([]answer, len(ch.members))
	var wg sync.WaitGroup
	for n, m := range ch.members {
		wg.Go(func() { answers[n] = m.after(ctx, now) })
	}
	wg.Wait()
	texts := texts{files: now}
	for n, m := range ch.members {
		if a := answers[n]; a.said {
			r.add(m, a.current, now, &texts, ch.s.everything)
		}
		if answers[n].waiting {
			r.Waiting = append(r.Waiting, m.want.spec.ID)
		}
	}
	return r
}

// answer is what a server says after a change.
type answer struct {
	said    bool
	waiting bool
	current map[string][]Diagnostic
}

func (m *member) after(ctx context.Context, now map[string]File) answer {
	files := m.present(now)
	select {
	case <-m.done:
	case <-ctx.Done():
	}
	select {
	case <-m.done:
	default:
		m.want.by.pool.giveUp(m.want)
		m.later(files)
		return answer{waiting: true}
	}
	if m.client == nil {
		if m.failed == errSlow {
			m.later(files)
		}
		return answer{waiting: m.failed == errSlow}
	}
	c := m.client
	defer c.occupy(m.files, -1)
	m.client.renamed(m.files, now)
	came := c.check(ctx, m.want.by.wait, files)
	select {
	case <-c.gone():
		return answer{}
	default:
	}
	current := c.current()
	m.settle(files, came)
	return answer{said: true, waiting: came == owing, current: current}
}

// present are the member's files as they are now.
func (m *member) present(now map[string]File) []File {
	var out []File
	for _, f := range m.files {
		if n, ok := now[f.Path]; ok {
			out = append(out, n)
		}
	}
	return out
}

// later tells a starting server the content of the files once it runs, so that what
// it finds is reported with a later change.
func (m *member) later(files []File) {
	s := m.want.by
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, initLimit)
		defer cancel()
		<-m.done
		e, err := s.pool.get(m.want)
		if err != nil {
			return
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return
		}
		c, err := e.await(ctx, m.want.root)
		if err != nil {
			return
		}
		if m.client != nil {
			c.occupy(m.files, -1)
		}
		c.mu.Lock()
		for _, f := range files {
			if _, ok := c.owed[f.Path]; !ok {
				c.owed[f.Path] = debt{said: c.spoken(f.Path)}
			}
		}
		c.mu.Unlock()
		c.check(ctx, initLimit, files)
	})
}

// News returns what servers found about earlier changes after those were reported,
// and forgets it.
func (s *Servers) News() Report {
	r := Report{New: map[string][]Found{}, Fixed: map[string][]Found{}}
	if s == nil {
		return r
	}
	texts := texts{}
	for _, c := range s.clients() {
		for path, change := range c.answeredLate() {
			brought, _ := compare(change.before, change.now, shift{})
			for _, d := range brought {
				r.New[path] = append(r.New[path], Found{d, texts.line(path, d.Range.Start.Line)})
			}
		}
	}
	return r
}

// lateAnswer is what was known of a file before a change, and what the server said after
// it, too late.
type lateAnswer struct{ before, now []Diagnostic }

// answeredLate returns the answers that came late, and forgets them.
func (c *client) answeredLate() map[string]lateAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out map[string]lateAnswer
	for path, before := range c.owed {
		if c.spoken(path) == before.said || c.busy[path] > 0 || c.asked[path] > 0 {
			continue
		}
		if out == nil {
			out = map[string]lateAnswer{}
		}
		if f := c.files[path]; f != nil {
			out[path] = lateAnswer{before.before, f.all()}
		}
		delete(c.owed, path)
	}
	return out
}

// settle notes which files the server still owes an answer about, with what it said
// about them before.
func (m *member) settle(files []File, came outcome) {
	c := m.client
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, debt := range c.owed {
		if c.spoken(path) > debt.said {
			delete(c.owed, path) // included in this report
		}
	}
	if came == said {
		return
	}
	for _, f := range files {
		if _, ok := c.owed[f.Path]; !ok && !f.Missing {
			c.owed[f.Path] = debt{m.before[f.Path], c.spoken(f.Path)}
		}
	}
}

// renamed closes what is no longer there.
func (c *client) renamed(before []File, now map[string]File) {
	var gone []File
	for _, f := range before {
		if n, ok := now[f.Path]; ok && n.Missing {
			gone = append(gone, n)
		}
	}
	if len(gone) > 0 {
		c.touch(gone)
	}
}

// add adds what one server says.
func (r *Report) add(m *member, current map[string][]Diagnostic, now map[string]File, texts *texts, everything bool) {
	was := map[string]string{}
	for _, f := range m.files {
		was[f.Path] = f.Text
	}
	m.client.mu.Lock()
	busy := make(map[string]bool, len(m.client.busy))
	for path := range m.client.busy {
		busy[path] = true
	}
	m.client.mu.Unlock()
	for path, list := range current {
		file, mine := now[path]
		switch {
		case mine && file.Missing:
			continue
		case mine:
			r.All[path] = append(r.All[path], list...)
		case busy[path]:
			continue // another change reports it
		case len(m.before[path]) == 0 && len(list) == 0:
			continue
		}
		before := m.before[path]
		if mine && everything {
			before = nil
		} else if !m.known && !mine {
			continue // it is not known whether it was there before
		}
		shift := shift{}
		if mine {
			shift = shiftOf(was[path], file.Text)
		}
		brought, fixed := compare(before, list, shift)
		if !mine && len(brought)+len(fixed) > 0 {
			r.All[path] = append(slices.Clip(r.All[path]), errorsOf(list)...)
		}
		if mine {
			r.Older += len(errorsOf(list)) - len(brought)
		}
		if mine && everything {
			_, fixed = compare(m.before[path], list, shift)
		}
		for _, d := range brought {
			r.New[path] = append(r.New[path], Found{d, texts.line(path, d.Range.Start.Line)})
		}
		for _, d := range fixed {
			r.Fixed[path] = append(r.Fixed[path], Found{Diagnostic: d})
		}
	}
}

func errorsOf(list []Diagnostic) (out []Diagnostic) {
	for _, d := range list {
		if d.Severity == Error {
			out = append(out, d)
		}
	}
	return out
}

// shift maps lines of a text to where they are after a change.
type shift struct {
	from, to int // the lines before the change that it replaced
	by       int // how far the lines after it moved
}

// shiftOf compares two texts by their first and last lines.
func shiftOf(before, after string) shift {
	if before == after {
		return shift{}
	}
	a, b := linesOf(before), linesOf(after)
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	end := 0
	for end < min(len(a), len(b))-n && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return shift{from: n, to: len(a) - end, by: len(b) - len(a)}
}

// line returns where a line is now; ok is false where the change replaced it.
func (s shift) line(n int) (int, bool) {
	switch {
	case n < s.from:
		return n, true
	case n >= s.to:
		return n + s.by, true
	}
	return n, false
}

// compare says which errors are new and which are gone. As many errors with the same
// text as before are not new; among several, the one in the place of an old one
// counts as the old one.
func compare(before, after []Diagnostic, s shift) (brought, gone []Diagnostic) {
	old := map[string][]Diagnostic{}
	for _, d := range errorsOf(before) {
		old[d.key()] = append(old[d.key()], d)
	}
	var moved []Diagnostic
	for _, d := range errorsOf(after) {
		list := old[d.key()]
		i := slices.IndexFunc(list, func(o Diagnostic) bool {
			line, ok := s.line(o.Range.Start.Line)
			return ok && line == d.Range.Start.Line
		})
		if i < 0 {
			moved = append(moved, d)
			continue
		}
		old[d.key()] = slices.Delete(list, i, i+1)
	}
	for _, d := range moved {
		if list := old[d.key()]; len(list) > 0 {
			old[d.key()] = list[1:]
			continue
		}
		brought = append(brought, d)
	}
	for _, d := range errorsOf(before) {
		if i := slices.IndexFunc(old[d.key()], d.same); i >= 0 {
			old[d.key()] = slices.Delete(old[d.key()], i, i+1)
			gone = append(gone, d)
		}
	}
	return brought, gone
}

// texts shows lines of files. A few files that were not changed are read when their
// lines are needed.
type texts struct {
	files map[string]File
	lines map[string]lines
}

const (
	maxShown = 20      // files that are read for their lines
	maxLine  = 160     // bytes of a line that is shown
	maxRead  = 1 << 20 // bytes of a file that is read for them
)

func (t *texts) line(path string, n int) string {
	if t.lines == nil {
		t.lines = map[string]lines{}
	}
	all, ok := t.lines[path]
	if !ok {
		if f, mine := t.files[path]; mine {
			all = linesOf(f.Text)
		} else if info, err := os.Stat(path); err == nil && len(t.lines) < maxShown && info.Mode().IsRegular() && info.Size() <= maxRead {
			data, _ := os.ReadFile(path) // a line that cannot be shown is left out
			all = linesOf(string(data))
		}
		t.lines[path] = all
	}
	line := strings.TrimSpace(all.at(n))
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return strings.ToValidUTF8(line, "\ufffd")
}
