package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/shell"
)

// DefaultWait is the longest time that a change of files waits for servers.
const DefaultWait = 5 * time.Second

// Options set up the servers of a directory.
type Options struct {
	Place
	Pool *Pool
	// Open starts the program of a server, of the kind [shell.KindLSP] or, if it is let use
	// the whole machine, [shell.KindFreeHelper].
	Open func(shell.Program) (*shell.Service, error)
	// Reach says what a server that is started now can read and write; optional.
	Reach func() *Reach
	// Repository is what the worktrees of one repository have in common; empty: Dir.
	Repository string
	Specs      []Spec        // those that are switched on
	Wait       time.Duration // for what servers say of a change; 0: DefaultWait
	Idle       time.Duration // until an unused server is stopped; 0: DefaultIdle
	Memory     int64         // bytes that all servers may have together; 0: DefaultMemory
	Everything bool          // reports contain all errors of a changed file, not only new ones

	Notice    func(text string)         // tells the person something, once; optional
	Changed   func()                    // a server started, ended or failed; optional
	Diagnosed func(server, path string) // the diagnostics of a file changed; optional
}

// Servers are the language servers of a directory. A nil one has none. It is safe for
// concurrent use.
type Servers struct {
	place      Place
	pool       *Pool
	repository string
	specs      []Spec
	wait, idle time.Duration
	memory     int64
	everything bool
	opts       Options

	mu      sync.Mutex
	noticed map[string]bool
	telling telling
	wg      sync.WaitGroup
	ctx     context.Context
	end     context.CancelFunc
}

// New returns the servers of a directory. It looks for nothing and starts nothing.
func New(o Options) *Servers {
	s := &Servers{
		place: o.Place, pool: o.Pool, repository: o.Repository, specs: o.Specs, wait: o.Wait, idle: o.Idle, memory: o.Memory,
		everything: o.Everything, opts: o, noticed: map[string]bool{},
	}
	if s.repository == "" {
		s.repository = o.Dir
	}
	if s.wait <= 0 {
		s.wait = DefaultWait
	}
	if s.idle <= 0 {
		s.idle = DefaultIdle
	}
	if s.memory <= 0 {
		s.memory = DefaultMemory
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends the servers that nobody else uses, and returns when they have ended.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	s.end()
	s.wg.Wait()
	s.pool.release(s)
}

// env is the environment of a server.
func (s *Servers) env(spec *Spec) []string {
	env := slices.Clip(s.place.Env)
	for _, name := range slices.Sorted(maps.Keys(spec.env)) {
		env = append(env, name+"="+spec.env[name])
	}
	return env
}

// notice tells the person something, once.
func (s *Servers) notice(text string) {
	s.mu.Lock()
	first := !s.noticed[text]
	s.noticed[text] = true
	s.mu.Unlock()
	if first && s.opts.Notice != nil {
		s.opts.Notice(text)
	}
}

// changed reports that a server runs, ended or failed.
func (s *Servers) changed(spec *Spec, failure error) {
	if failure != nil && !errors.Is(failure, errEnded) {
		s.notice(fmt.Sprintf("The language server %s does not work: %v.", spec.ID, failure))
	}
	if s.opts.Changed != nil {
		s.opts.Changed()
	}
}

// serving returns the servers of a file, each with its root. The person is told
// once about those that cannot be started.
func (s *Servers) serving(path string) (out []wanted) {
	if s == nil || !within(s.place.Worktree, path) {
		return nil
	}
	name := filepath.Base(path)
	for i := range s.specs {
		spec := &s.specs[i]
		if !spec.serves(name) {
			continue
		}
		if root := s.place.root(spec, path); root != "" {
			if w, ok := s.want(spec, root); ok {
				out = append(out, w)
			}
		}
	}
	return out
}

// want looks for the program of a server.
func (s *Servers) want(spec *Spec, root string) (wanted, bool) {
	if spec.Runs && !s.place.Trusted {
		s.notice("The language server " + spec.ID + " is not started: it runs code of the repository, which is not trusted (lathe trust).")
		return wanted{}, false
	}
	prog, ok := s.place.find(spec, root)
	if ok && prog.own && !s.place.Trusted {
		s.notice("The language server " + spec.ID + " is not started: its program belongs to the repository, which is not trusted (lathe trust).")
		return wanted{}, false
	}
	if ok && spec.Needs != "" && s.place.module(root, spec.Needs) == "" && !(spec.Needs == "typescript" && s.place.typescript(root) != "") {
		if !spec.optional() { // else the project does not use it
			s.notice(fmt.Sprintf("The language server %s is not started: it needs the package %s in node_modules; run npm install, or lathe lsp install %s.", spec.ID, spec.Needs, quoteName(spec.ID)))
		}
		return wanted{}, false
	}
	if !ok {
		if spec.optional() {
			return wanted{}, false
		}
		s.notice(missing(spec))
		return wanted{}, false
	}
	return wanted{spec, prog, root, s}, true
}

// optional reports whether the server only supplements another one for the same files, so that its absence is not
// reported.
func (s *Spec) optional() bool {
	switch s.ID {
	case "eslint", "oxlint", "biome", "ty", "razor":
		return true
	}
	return false
}

func missing(spec *Spec) string {
	how := "its program was not found"
	if spec.config {
		return fmt.Sprintf("The language server %s is not there: %s (%s).", spec.ID, how, spec.Program())
	}
	if by, ok := strings.CutPrefix(spec.Install, "by hand "); ok {
		return fmt.Sprintf("There is no language server for this kind of file yet: install %s.", by)
	}
	return fmt.Sprintf("There is no language server for this kind of file yet: get it with lathe lsp install %s.", quoteName(spec.ID))
}

func quoteName(id string) string {
	if strings.Contains(id, " ") {
		return `"` + id + `"`
	}
	return id
}

// client returns the running server for a wish, starting it if need be.
func (s *Servers) client(ctx context.Context, w wanted) (*client, error) {
	for range 3 {
		e, err := s.pool.get(w)
		if err != nil {
			return nil, err
		}
		c, err := e.await(ctx, w.root)
		if !errors.Is(err, errOther) {
			return c, err
		}
	}
	return nil, errOther
}

// running returns the clients that run for a file, without starting any.
func (s *Servers) running(path string) (out []*client) {
	if s == nil {
		return nil
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	for _, e := range s.pool.all {
		if e.client == nil || !e.spec.serves(filepath.Base(path)) {
			continue
		}
		if slices.ContainsFunc(e.users[s], func(root string) bool { return within(root, path) }) {
			out = append(out, e.client)
		}
	}
	return out
}

// clients returns the clients of the directory that run.
func (s *Servers) clients() (out []*client) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	for _, e := range s.pool.all {
		if e.client != nil && len(e.users[s]) > 0 {
			out = append(out, e.client)
		}
	}
	return out
}

// Read tells the running servers the content of a file that may be changed soon. It
// does not wait.
func (s *Servers) Read(f File) {
	for _, c := range s.running(f.Path) {
		if changed := c.touch([]File{f}); len(changed) > 0 {
			c.ask(changed)
		}
	}
}

// Status is how a server of a directory is doing.
type Status struct {
	ID       string
	Root     string
	State    string // connected, starting or error
	Why      string // of an error
	Errors   int    // that it knows of
	Warnings int
	Memory   int64    // bytes; 0 where that is not known
	Log      []string // what it printed on its standard error last, at most 20 lines and 2,000 bytes
}

// Told describes a server's state in a few words.
func (s Status) Told() string {
	words := []string{s.State}
	if s.Why != "" {
		words = append(words, s.Why)
	}
	for _, n := range []struct {
		count int
		what  string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}} {
		if n.count == 1 {
			words = append(words, "1 "+n.what)
		} else if n.count > 1 {
			words = append(words, fmt.Sprintf("%d %ss", n.count, n.what))
		}
	}
	if s.Memory > 0 {
		words = append(words, size(s.Memory))
	}
	return strings.Join(words, ", ")
}

// Status lists the servers that were started.
func (s *Servers) Status() []Status {
	if s == nil {
		return nil
	}
	weights := map[*entry]int64{}
	list, _ := s.pool.weigh()
	for _, w := range list {
		weights[w.e] = w.size
	}
	var out []Status
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	for _, e := range s.pool.all {
		for _, root := range e.users[s] {
			st := Status{ID: e.spec.ID, Root: root, State: e.state(), Memory: weights[e]}
			if e.err != nil {
				st.Why = e.err.Error()
			}
			if e.client != nil {
				st.Errors, st.Warnings = e.client.count(root)
				st.Log = e.client.complaints.lines()
			} else if why, ok := errors.AsType[notReady](e.err); ok {
				st.Log = why.log
			}
			out = append(out, st)
		}
	}
	return out
}

// count returns how many errors and warnings are known below a directory.
func (c *client) count(dir string) (errs, warnings int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, f := range c.files {
		if !within(dir, path) {
			continue
		}
		for _, d := range f.all() {
			switch d.Severity {
			case Error:
				errs++
			case Warning:
				warnings++
			}
		}
	}
	return errs, warnings
}

// Enabled returns the servers that are switched on.
func (s *Servers) Enabled() []Spec {
	if s == nil {
		return nil
	}
	return s.specs
}

// Could reports whether a server for the project is installed: its program is found,
// and the directory has one of its markers or files.
func (s *Servers) Could() bool {
	if s == nil {
		return false
	}
	for i := range s.specs {
		spec := &s.specs[i]
		if spec.Runs && !s.place.Trusted || !s.place.looksLike(spec) {
			continue
		}
		if prog, ok := s.place.find(spec, s.place.Dir); ok && (s.place.Trusted || !prog.own) {
			return true
		}
	}
	return false
}

// looksLike reports whether a directory has a server's markers or files directly in it.
func (p Place) looksLike(s *Spec) bool {
	for _, group := range strings.Split(s.Markers, "|") {
		for name := range strings.FieldsSeq(group) {
			if has(p.Dir, name) {
				return true
			}
		}
	}
	for f := range strings.FieldsSeq(s.Files) {
		if has(p.Dir, "*."+f) || has(p.Dir, f) {
			return true
		}
	}
	return false
}
