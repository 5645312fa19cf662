package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/shell"
	"lathe/internal/workspace"
)

// DefaultWait is how long formatters may take for the files of one change.
const DefaultWait = 10 * time.Second

const (
	mostArgs = 100 // files of one command line
	grace    = 100 * time.Millisecond
	offFor   = 5 * time.Minute // for a formatter that did not end
)

// Place is where formatters work.
type Place struct {
	Dir      string // of the instance, in which formatters run
	Worktree string // top of the checkout: what a project uses is searched for up to it
	Env      []string
	Own      []string // directories with programs, in addition to PATH
	Trusted  bool     // what the repository brings may be run
	Oxfmt    bool     // the experiment of that name is switched on
}

// Options set up [Formatters].
type Options struct {
	Place
	Specs  []Spec
	Open   func(shell.Program) (*shell.Service, error)
	Wait   time.Duration     // for the files of one change; 0: DefaultWait
	Notice func(text string) // tells the person something, once; optional
	Now    func() time.Time  // optional
}

// Formatters are those of a directory. A nil one has none. It is safe for concurrent
// use.
type Formatters struct {
	opts Options

	mu      sync.Mutex
	noticed map[string]bool
	off     map[string]time.Time // formatters that did not end, and until when they are not used
}

// New returns the formatters of a directory. Nothing is looked for or started.
func New(o Options) *Formatters {
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Formatters{opts: o, noticed: map[string]bool{}, off: map[string]time.Time{}}
}

// Status is a formatter and whether it is used in the directory.
type Status struct {
	Name       string
	Extensions []string
	Enabled    bool
}

// Status reports all formatters whether the directory uses them.
func (f *Formatters) Status() []Status {
	out := []Status{}
	if f == nil {
		return out
	}
	for i := range f.opts.Specs {
		s := &f.opts.Specs[i]
		_, ok := f.ready(s, filepath.Join(f.opts.Dir, "x"), false)
		out = append(out, Status{s.Name, s.Extensions(), ok})
	}
	return out
}

// Format formats files that were just written, each with all formatters that the project
// uses for it, one after the other. If something goes wrong the person is told, and the
// files stay as they were. Paths are absolute and resolved.
func (f *Formatters) Format(ctx context.Context, paths []string) {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, f.opts.Wait)
	defer cancel()
	for i := range f.opts.Specs {
		s := &f.opts.Specs[i]
		byProgram := map[string][]string{}
		for _, path := range paths {
			if !s.formats(filepath.Base(path)) || !within(f.opts.Worktree, path) {
				continue
			}
			if program, ok := f.ready(s, path, true); ok {
				byProgram[program] = append(byProgram[program], path)
			}
		}
		for _, program := range slices.Sorted(maps.Keys(byProgram)) {
			f.run(ctx, s, program, byProgram[program])
		}
	}
}

// ready returns the program of a formatter, if the project of a file uses it.
func (f *Formatters) ready(s *Spec, path string, tell bool) (program string, ok bool) {
	f.mu.Lock()
	off := f.opts.Now().Before(f.off[s.Name])
	f.mu.Unlock()
	if off || !s.custom && !f.opts.used(s, path) {
		return "", false
	}
	program, own := f.opts.lookup(path, s.words()[0])
	if program == "" {
		if tell && (s.custom || s.Above+s.Dependency+s.Uses != "") {
			f.notice(fmt.Sprintf("The project uses the formatter %s, whose program (%s) was not found.", s.Name, s.words()[0]))
		}
		return "", false
	}
	if !f.opts.Trusted && (own || s.Runs && !s.custom) {
		if tell {
			f.notice("The formatter " + s.Name + " is not used: it runs code of the repository, which is not trusted (lathe trust).")
		}
		return "", false
	}
	return program, true
}

func (f *Formatters) notice(text string) {
	f.mu.Lock()
	first := !f.noticed[text]
	f.noticed[text] = true
	f.mu.Unlock()
	if first && f.opts.Notice != nil {
		f.opts.Notice(text)
	}
}

// lookup returns the path of a program: from the node_modules above the file in a
// trusted project, from PATH, or from where lathe installs. Own means that it
// comes from the repository.
func (p Place) lookup(path, name string) (program string, own bool) {
	if strings.ContainsAny(name, `/\`) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		return shell.Executable(name), within(p.Worktree, name)
	}
	if p.Trusted && p.above(path, func(dir string) bool {
		program = shell.Executable(filepath.Join(dir, "node_modules", ".bin", name))
		return program != ""
	}) {
		return program, true
	}
	var search string
	for _, kv := range p.Env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = v
		}
	}
	for _, dir := range append(filepath.SplitList(search), p.Own...) {
		if program := shell.Executable(filepath.Join(dir, name)); filepath.IsAbs(dir) && program != "" {
			return program, within(p.Worktree, program)
		}
	}
	return "", false
}

// run formats files with one formatter: several at once where its command allows it.
func (f *Formatters) run(ctx context.Context, s *Spec, program string, paths []string) {
	words := s.words()
	most := 1
	if words[len(words)-1] == "$FILE" && strings.Count(strings.Join(words, " "), "$FILE") == 1 && !s.custom {
		most = mostArgs
	}
	for some := range slices.Chunk(paths, most) {
		args := []string{program}
		for _, w := range words[1:] {
			if w == "$FILE" {
				args = append(args, some...)
			} else {
				args = append(args, strings.ReplaceAll(w, "$FILE", some[0]))
			}
		}
		kept := keep(some)
		err := f.once(ctx, s, args)
		kept.mend(err != nil && !errors.As(err, new(*exitError)))
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			f.mu.Lock()
			f.off[s.Name] = f.opts.Now().Add(offFor)
			f.mu.Unlock()
			f.notice(fmt.Sprintf("The formatter %s did not end within %v and was stopped; it is not asked again for five minutes.", s.Name, f.opts.Wait))
			return
		case ctx.Err() != nil:
			return
		case err != nil && !errors.As(err, new(*exitError)): // the exit code may only mean that the file has errors
			f.notice(fmt.Sprintf("The formatter %s does not work: %v.", s.Name, err))
		}
	}
}

// exitError is a formatter's exit with a code that is not 0. Several use it to report
// what they could not fix, after fixing the rest.
type exitError struct {
	code int
	said string
}

func (e *exitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return fmt.Sprintf("exit code %d: %s", e.code, e.said)
}

// once runs a command line to its end, or to that of ctx.
func (f *Formatters) once(ctx context.Context, s *Spec, args []string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	said := &workspace.Limited{Max: 2000}
	env := slices.Clip(f.opts.Env)
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		env = append(env, name+"="+s.env[name])
	}
	kind := shell.KindFormatter
	if s.Unconfined && !within(f.opts.Worktree, args[0]) {
		kind = shell.KindFreeHelper
	}
	svc, err := f.opts.Open(shell.Program{
		Args: args, Dir: f.opts.Dir, Env: env, Kind: kind, Stderr: func(chunk []byte) { _, _ = said.Write(chunk) },
	})
	if err != nil {
		return err
	}
	svc.Stdin.Close()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(io.Discard, svc.Stdout) })
	defer wg.Wait()
	defer svc.Stdout.Close()
	select {
	case <-svc.Done():
	case <-ctx.Done():
		svc.Stop(grace)
		return ctx.Err()
	}
	exit, err := svc.Exit()
	switch {
	case err != nil:
		return err
	case exit.Signal != "":
		return fmt.Errorf("it was ended by a signal (%s)", exit.Signal)
	case exit.Code != 0:
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return &exitError{exit.Code, first}
	}
	return nil
}

// kept is the content of files before they were formatted.
type kept map[string]keptFile

type keptFile struct {
	data []byte
	mode os.FileMode
}

func keep(paths []string) kept {
	k := kept{}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if data, err := workspace.ReadReal(path, 0); err == nil {
			k[path] = keptFile{data, info.Mode().Perm()}
		}
	}
	return k
}

// mend restores files that are gone, no longer regular files, or empty; with all,
// every file that differs, because the formatter did not finish.
func (k kept) mend(all bool) {
	for path, was := range k {
		info, err := os.Lstat(path)
		switch {
		case err != nil || !info.Mode().IsRegular():
			_ = os.Remove(path) // a link or an empty directory
		case info.Size() == 0 && len(was.data) > 0:
		case !all:
			continue
		default:
			if now, err := workspace.ReadReal(path, 0); err == nil && bytes.Equal(now, was.data) {
				continue
			}
		}
		_ = workspace.WriteReal(path, was.data, was.mode) // if this fails, the tool sees that it is gone
	}
}
