package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lathe/internal/sandbox"
)

// Kind says who a process is for.
type Kind string

// The kinds. The zero value is a command.
const (
	KindCommand Kind = "command"
	KindGuarded Kind = "guarded" // a command that reaches other hosts only through its Network
	KindMCP     Kind = "mcp"
	// Guarded kinds reach other hosts only through their Network, as KindGuarded does.
	KindGuardedMCP  Kind = "mcp-guarded"
	KindGuardedHook Kind = "hook-guarded"
	KindFreeMCP     Kind = "mcp-unconfined"    // one that the person lets run without confinement
	KindFreeHelper  Kind = "helper-unconfined" // a language server or formatter likewise
	KindLSP         Kind = "lsp"
	KindFormatter   Kind = "formatter"
	KindPlugin      Kind = "plugin"
	KindInstall     Kind = "install" // of the packages of plugins
	KindHook        Kind = "hook"
	KindTerminal    Kind = "terminal" // the person's own, which nothing confines
)

// Program is a program with pipes of its own, which lives until it ends or is stopped:
// a server, the host of plugins, a hook, a formatter.
type Program struct {
	Args []string // its name, looked up in Env's PATH, and its arguments
	Dir  string   // working directory, absolute
	Env  []string // the whole environment; see [Env]
	Kind Kind
	// Stderr gets standard error as it arrives, one call at a time; nil: it is dropped.
	// The bytes are only valid during the call.
	Stderr func(chunk []byte)
	// Allow is what it may do in addition, although it is confined.
	Allow sandbox.Grant
	// Network is its way to other hosts, as that of a [Command].
	Network Network
}

// Service is a program that was opened. It is done when the program and all that it
// started are gone. Stdout ends when they have all closed it; Stdin does not wait for a
// reader longer than the program lives. Whoever opened it closes both, also after its
// end, so that what was printed last can still be read. Following the process is
// following its standard error.
type Service struct {
	*Process
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
}

// Open starts a program and leaves it running. Its processes are marked, stopped and
// supervised like those of a command. An error wraps [exec.ErrNotFound] if there is no
// such program. Stop it, unless it ends by itself.
func (r *Runner) Open(p Program) (*Service, error) {
	s := new(Service)
	path, err := p.find()
	var run *process
	if err == nil {
		run, err = r.begin(func(call uint64) (*process, error) { return r.open(p, path, call, s) })
	}
	if err != nil {
		closeNetwork(p.Network)
		return nil, err
	}
	s.Process = run.live()
	return s, nil
}

func (r *Runner) open(p Program, path string, call uint64, s *Service) (*process, error) {
	ends, stdout, err := openThree()
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", p.Args[0], err)
	}
	defer ends.closeChild()
	run := &process{r: r, out: ends.out, output: p.Stderr, network: p.Network}
	err = run.launch(launch{
		path: path, args: p.Args, dir: p.Dir, env: p.Env, files: ends.child[:],
		call: call, pipes: pipes{live: true}, kind: p.Kind, allow: p.Allow,
	})
	if err != nil {
		ends.closeOwn()
		stdout.Close()
		return nil, fmt.Errorf("start %q: %w", p.Args[0], unwrapPath(err))
	}
	s.Stdin, s.Stdout = ends.in, stdout
	return run, nil
}

// openThree opens a pipe for each of the standard files. Out is the pipe for errors.
func openThree() (e ends, stdout *os.File, err error) {
	defer func() {
		if err == nil {
			return
		}
		e.closeChild()
		e.closeOwn()
		if stdout != nil {
			stdout.Close()
		}
	}()
	if e.child[0], e.in, err = os.Pipe(); err != nil {
		return e, nil, err
	}
	if stdout, e.child[1], err = os.Pipe(); err != nil {
		return e, nil, err
	}
	e.out, e.child[2], err = os.Pipe()
	return e, stdout, err
}

// find checks what can be checked before the start, and returns the program's path.
func (p *Program) find() (string, error) {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "", errors.New("start a program: no name was given")
	}
	name := p.Args[0]
	if slices.ContainsFunc(p.Args, func(arg string) bool { return strings.ContainsRune(arg, 0) }) {
		return "", fmt.Errorf("start %q: an argument contains a NUL character", name)
	}
	if err := checkDir(fmt.Sprintf("start %q", name), p.Dir); err != nil {
		return "", err
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		return name, nil
	}
	path := lookup(p.Env, "PATH")
	for _, ext := range extensions(p.Env) {
		if file := onPath(path, name+ext); file != "" {
			return file, nil
		}
	}
	return "", fmt.Errorf("start %q: %w", name, &exec.Error{Name: name, Err: exec.ErrNotFound})
}

// extensions are the file extensions that may be left out of a program's name.
func extensions(env []string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	list := lookup(env, "PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	return append([]string{""}, strings.Split(strings.ToLower(list), ";")...)
}
