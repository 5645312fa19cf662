package lsp

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"lathe/internal/workspace"
)

// Severity says how serious a diagnostic is.
type Severity int

// The severities of the protocol.
const (
	Error Severity = 1 + iota
	Warning
	Information
	Hint
)

// Diagnostic is something a server says about a file.
type Diagnostic struct {
	Range    Range
	Severity Severity
	Message  string
	Source   string
	Code     string

	wire *wireDiagnostic // as the server wrote it
}

const (
	maxFiles   = 5000 // files that a server may have diagnostics of
	maxWords   = 2000 // bytes of one message
	maxPulls   = 40   // files of one change that are asked about one by one
	maxOthers  = 10   // further open files that are asked about
	quiet      = 40 * time.Millisecond
	minPatient = 150 * time.Millisecond // for a server that says nothing if nothing is new
	maxPatient = 2 * time.Second        // for one that has always answered
)

// found is what a server said about a file: unasked (pushes) and when asked (pulls).
type found struct {
	pushed, pulled []Diagnostic
	pushes, pulls  int // how many there were
	version        int // version of the document in the last push; -1: not given
}

// all returns both, without duplicates.
func (f *found) all() []Diagnostic {
	if len(f.pushed) == 0 || len(f.pulled) == 0 {
		return slices.Concat(f.pushed, f.pulled)
	}
	out := slices.Clone(f.pulled)
	for _, d := range f.pushed {
		if !slices.ContainsFunc(out, d.same) {
			out = append(out, d)
		}
	}
	return out
}

// same reports whether two say the same of the same place.
func (d Diagnostic) same(e Diagnostic) bool {
	return d.Range == e.Range && d.key() == e.key()
}

// key is what a diagnostic says, regardless of its place.
func (d Diagnostic) key() string { return d.Source + "\x00" + d.Code + "\x00" + d.Message }

// findings are what a client knows about files. The client's mutex guards them.
type findings struct {
	files map[string]*found
	pulls map[string]diagnosticAbout // how to ask it, by registration
	news  chan struct{}              // closed and replaced when something was found
	pace  time.Duration              // how long it takes to report on a change
	skips bool                       // it does not report on some changes
	late  map[string]bool            // files it owes an answer about
	owed  map[string]debt            // what it may still say about earlier changes
	busy  map[string]int             // files that are being changed
	asked map[string]int             // pulls in progress
}

// debt is what was known about a file before a change that the server has not reported
// on, and how often it had reported on the file by then.
type debt struct {
	before []Diagnostic
	said   int
}

// spoken is how often the server reported on a file. The caller holds mu.
func (f *findings) spoken(path string) int {
	at := f.files[path]
	if at == nil {
		return 0
	}
	return at.pushes + at.pulls
}

func (f *findings) init() {
	f.files, f.pulls, f.news = map[string]*found{}, map[string]diagnosticAbout{}, make(chan struct{})
	f.late, f.owed, f.busy, f.asked = map[string]bool{}, map[string]debt{}, map[string]int{}, map[string]int{}
}

// of returns what is known about a file, to be changed; nil if there is no room.
// The caller holds mu.
func (f *findings) of(path string) *found {
	at := f.files[path]
	if at == nil && len(f.files) < maxFiles {
		at = &found{version: -1}
		f.files[path] = at
	}
	return at
}

func (f *findings) forget(path string) {
	delete(f.files, path)
	delete(f.late, path)
	delete(f.owed, path)
}

// forgetBelow forgets what was found below a directory. The caller holds mu.
func (f *findings) forgetBelow(dir string) {
	for path := range f.files {
		if within(dir, path) {
			f.forget(path)
		}
	}
}

// tell wakes who waits for news. The caller holds mu.
func (f *findings) tell() {
	close(f.news)
	f.news = make(chan struct{})
}

// publish handles diagnostics that a server sends.
func (c *client) publish(p published) {
	path, open := c.known(pathOf(p.URI))
	if path == "" {
		return
	}
	if !open && len(p.Diagnostics) > 0 {
		if _, err := os.Lstat(path); err != nil {
			p.Diagnostics = nil // it was removed meanwhile
		}
	}
	c.mu.Lock()
	doc, at := c.docs.open[path], c.of(path)
	if at == nil {
		c.mu.Unlock()
		return
	}
	at.version = -1
	if p.Version != nil {
		at.version = *p.Version
	}
	if doc != nil && at.version >= 0 && at.version < doc.version {
		c.mu.Unlock()
		return // about an earlier text
	}
	before := at.pushed
	at.pushed, at.pushes = diagnosticsOf(doc, p.Diagnostics, c.enc), at.pushes+1
	if doc != nil && !doc.sent.IsZero() {
		c.measure(c.now().Sub(doc.sent))
		c.caughtUp(doc.sent)
		doc.sent = time.Time{}
	}
	delete(c.late, path)
	c.tell()
	changed := !slices.EqualFunc(before, at.pushed, Diagnostic.same)
	c.mu.Unlock()
	if changed {
		c.told(path)
	}
}

// caughtUp notes that the server has processed what it was told at a time, and has
// nothing more to say about anything earlier. The caller holds mu.
func (c *client) caughtUp(with time.Time) {
	for path := range c.late {
		if doc := c.docs.open[path]; c.asked[path] == 0 && (doc == nil || doc.sent.Before(with)) {
			delete(c.late, path)
		}
	}
}

// known returns the path as lathe names the file, with links resolved, and whether the
// server has it open.
func (c *client) known(path string) (real string, open bool) {
	if path == "" || c.hasOpen(path) {
		return path, path != ""
	}
	real, err := workspace.Resolve(path)
	if err != nil {
		return "", false
	}
	return real, c.hasOpen(real)
}

func (c *client) hasOpen(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.docs.open[path] != nil
}

// measure notes how long an answer took. The caller holds mu.
func (f *findings) measure(d time.Duration) {
	f.pace = max(d, (3*f.pace+d)/4)
}

// patience is how long it makes sense to wait, given that the server may say
// nothing when nothing has changed. The caller holds mu.
func (f *findings) patience(limit time.Duration) time.Duration {
	switch {
	case f.pace == 0:
		return limit
	case !f.skips:
		return min(limit, max(maxPatient, 10*f.pace))
	}
	return min(limit, max(minPatient, 2*f.pace))
}

// diagnosticsOf turns diagnostics of a file into ours. Places in text that is not open are
// taken as they are, unless the server counts in another way. The caller holds mu.
func diagnosticsOf(doc *document, list diagnosticList, enc encoding) []Diagnostic {
	var text lines
	if doc != nil && enc != utf16Units {
		text = linesOf(doc.text)
	}
	out := make([]Diagnostic, 0, len(list))
	for _, w := range list {
		d := Diagnostic{Range: w.Range, Severity: Severity(w.Severity), Message: shorten(string(w.Message)), Source: w.Source, Code: codeText(w.Code), wire: &w}
		if text != nil {
			d.Range = text.span(w.Range, enc, utf16Units)
		}
		d.Range.Start.Line, d.Range.Start.Character = max(0, d.Range.Start.Line), max(0, d.Range.Start.Character)
		if d.Severity < Error || d.Severity > Hint {
			d.Severity = Error
		}
		if !slices.ContainsFunc(out[max(0, len(out)-20):], d.same) {
			out = append(out, d)
		}
	}
	return out
}

func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// codeText is a code as text: it may be a number, a word, or an object with a value.
func codeText(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	var object struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(raw, &object) == nil && len(object.Value) > 0 {
		return codeText(object.Value)
	}
	return strings.TrimSpace(string(raw))
}

// asks reports whether the server has to be asked for diagnostics. The caller holds mu.
func (c *client) asks() bool { return len(c.pulls) > 0 || c.spec.Sync != "" }

// ask begins to ask the server about files, if it has to be asked, and returns
// those with answers to come. It waits for none.
func (c *client) ask(paths []string) (yes bool, about []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asks() {
		return false, paths
	}
	asked := slices.Clone(paths[:min(len(paths), maxPulls)])
	if c.spec.Sync != "" {
		asked = append(asked, c.others(asked)...)
	}
	for _, path := range asked {
		if c.spec.Sync != "" {
			c.asked[path]++
			c.wg.Go(func() { c.inquire(path, c.askTypescript) })
			continue
		}
		for _, about := range c.pulls {
			c.asked[path]++
			c.wg.Go(func() {
				c.inquire(path, func(ctx context.Context, path string) (func() bool, error) {
					return c.pull(ctx, path, about.Identifier)
				})
			})
		}
	}
	return true, asked
}

// others returns open files that a change to the given ones may break, most recently
// used first. The caller holds mu.
func (c *client) others(than []string) (out []string) {
	for path := range c.docs.open {
		if !slices.Contains(than, path) {
			out = append(out, path)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return c.docs.open[b].used - c.docs.open[a].used })
	return out[:min(len(out), maxOthers)]
}

// inquire asks one thing and stores the answer.
func (c *client) inquire(path string, ask func(ctx context.Context, path string) (keep func() bool, err error)) {
	ctx, cancel := context.WithTimeout(c.live, initLimit)
	defer cancel()
	begin := c.now()
	keep, err := ask(ctx, path)
	c.mu.Lock()
	if c.asked[path]--; c.asked[path] <= 0 {
		delete(c.asked, path)
	}
	changed := false
	if err == nil {
		changed = keep()
		c.measure(c.now().Sub(begin))
		delete(c.late, path)
	}
	c.tell()
	c.mu.Unlock()
	if changed {
		c.told(path)
	}
}

// pull asks with the protocol's own request.
func (c *client) pull(ctx context.Context, path, identifier string) (func() bool, error) {
	params := map[string]any{"textDocument": docID{URI: uriOf(path)}}
	if identifier != "" {
		params["identifier"] = identifier
	}
	var result pulled
	err := c.call(ctx, "textDocument/diagnostic", params, &result)
	return func() bool { return c.keep(path, result) }, err
}

// keep stores an answer, and what it says about other files. The caller holds mu.
func (c *client) keep(path string, p pulled) (changed bool) {
	at := c.of(path)
	if at == nil {
		return false
	}
	at.pulls++
	if p.Kind != "unchanged" {
		before := at.pulled
		at.pulled = diagnosticsOf(c.docs.open[path], p.Items, c.enc)
		changed = !slices.EqualFunc(before, at.pulled, Diagnostic.same)
	}
	for uri, other := range p.Related {
		if path := pathOf(uri); path != "" && other.Kind != "unchanged" {
			if at := c.of(path); at != nil {
				at.pulled = diagnosticsOf(c.docs.open[path], other.Items, c.enc)
			}
		}
	}
	return changed
}

// counts are how often a server spoke of a file.
type counts struct{ pushes, pulls int }

// mark returns how often the server spoke of the files so far.
func (c *client) mark(paths []string) map[string]counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]counts{}
	for _, path := range paths {
		if at := c.files[path]; at != nil {
			out[path] = counts{at.pushes, at.pulls}
		} else {
			out[path] = counts{}
		}
	}
	return out
}

// outcome is the result of asking a server.
type outcome int

const (
	owing  outcome = iota // it still has to say something
	silent                // it said nothing, and has probably nothing to say
	said
)

// check tells the server the content of the files and waits for its diagnostics: until
// it has certainly sent them, or has been silent for longer than usual, or ctx ends. It
// does not wait for a server that owes an answer.
func (c *client) check(ctx context.Context, limit time.Duration, files []File) outcome {
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	since := c.mark(paths)
	changed := c.touch(files)
	if len(changed) == 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.late) > 0 {
			return owing
		}
		return said
	}
	w := waiting{changed: changed, since: since}
	w.asked, w.about = c.ask(changed)
	c.mu.Lock()
	owes := len(c.late) > 0
	for _, path := range changed {
		c.late[path] = true
	}
	patience := c.patience(limit)
	c.mu.Unlock()
	if owes {
		return owing
	}
	return c.await(ctx, w, patience)
}

// waiting is what somebody waits for.
type waiting struct {
	changed []string // files that the server was told of
	since   map[string]counts
	about   []string // files with answers to come
	asked   bool     // the server was asked for diagnostics; else it sends them by itself
}

// await waits for the server's diagnostics. A server that says only now that it has to
// be asked, as some do after their start, is then asked.
func (c *client) await(ctx context.Context, w waiting, patience time.Duration) outcome {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c.mu.Lock()
		done, news, ask := c.answered(w.about, w.since), c.news, !w.asked && c.asks()
		c.mu.Unlock()
		switch {
		case ask:
			w.asked, w.about = c.ask(w.changed)
			continue
		case done:
			return c.settled(ctx, w.about)
		}
		select {
		case <-news:
		case <-c.gone():
			return owing
		case <-ctx.Done():
			return c.silence(w.about)
		}
	}
}

// answered reports whether the server reported on all files. If it is asked, its
// answers count; otherwise what it sends by itself. The caller holds mu.
func (c *client) answered(paths []string, since map[string]counts) bool {
	for _, path := range paths {
		at := c.files[path]
		switch {
		case c.asked[path] > 0:
			return false
		case c.asks():
		case at == nil || at.pushes <= since[path].pushes:
			return false
		}
	}
	return true
}

// settled waits a moment for whatever else the server says, for example about other files.
func (c *client) settled(ctx context.Context, paths []string) outcome {
	for {
		c.mu.Lock()
		news := c.news
		c.mu.Unlock()
		still := time.NewTimer(quiet)
		select {
		case <-news:
			still.Stop()
			continue
		case <-still.C:
		case <-ctx.Done():
			still.Stop()
		case <-c.gone():
			still.Stop()
		}
		c.mu.Lock()
		for _, path := range paths {
			delete(c.late, path)
		}
		c.mu.Unlock()
		return said
	}
}

// silence says what to make of a server that said nothing in time. If it has reported
// on the file before, it probably has nothing new to say; otherwise it owes an answer.
func (c *client) silence(paths []string) outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		if at := c.files[path]; at != nil && at.pushes > 0 && c.asked[path] == 0 {
			c.skips = true
			delete(c.late, path)
		}
	}
	if len(c.late) > 0 {
		return owing
	}
	return silent
}

// snapshot returns what is known about all files. For files with an answer still owed,
// it is what was known before that change.
func (c *client) snapshot() map[string][]Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string][]Diagnostic, len(c.files))
	for path, f := range c.files {
		out[path] = f.all()
	}
	for path, debt := range c.owed {
		out[path] = debt.before
	}
	return out
}

// current returns what is now known about all files.
func (c *client) current() map[string][]Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string][]Diagnostic, len(c.files))
	for path, f := range c.files {
		out[path] = f.all()
	}
	return out
}
