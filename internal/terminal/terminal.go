// Package terminal runs programs in pseudo terminals that clients attach to and
// leave: the terminals of a person, not of the model.
package terminal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/creack/pty"

	"lathe"
)

const (
	// maxTerminals bounds the terminals that run at once.
	maxTerminals = 64
	// keepOutput is how much of the newest output a client that attaches is shown.
	keepOutput = 256 << 10
	// queueBytes is how many bytes a client may fall behind before it is disconnected.
	queueBytes = 4 << 20
)

// ErrNotFound means that there is no such terminal.
var ErrNotFound = errors.New("no such terminal")

// ErrTooMany means that no further terminal may be opened.
var ErrTooMany = fmt.Errorf("%d terminals are open; close one first", maxTerminals)

// Info describes a terminal.
type Info struct {
	ID        string
	Title     string
	Command   string
	Args      []string
	Dir       string
	Directory string // of the instance it belongs to
	PID       int
	Exited    bool
	Code      int // exit code, once exited
}

// Kind is what happened to a terminal.
type Kind string

// Kinds of changes.
const (
	Created Kind = "created"
	Updated Kind = "updated"
	Exited  Kind = "exited"
	Deleted Kind = "deleted"
)

// Options configure a [Manager].
type Options struct {
	IDs *lathe.IDs
	// Publish reports changes. It may take a while.
	Publish func(Kind, Info)
}

// Manager owns terminals. It is safe for concurrent use. Close it.
type Manager struct {
	opts Options
	wg   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	all    []*Terminal
}

// NewManager returns a manager without terminals.
func NewManager(o Options) *Manager { return &Manager{opts: o} }

// Create describes a terminal to open.
type Create struct {
	Command   string
	Args      []string
	Dir       string
	Directory string
	Title     string
	Env       []string
}

// Terminal is a program in a pseudo terminal.
type Terminal struct {
	m    *Manager
	cmd  *exec.Cmd
	file *os.File
	done chan struct{} // closed when the program has ended and all was read

	sizing sync.Mutex // guards closed, and the size against it
	closed bool

	mu      sync.Mutex
	info    Info
	output  []byte
	readers map[*Reader]struct{}
}

// Create opens a terminal.
func (m *Manager) Create(c Create) (*Terminal, error) {
	t, err := m.open(c)
	if err != nil {
		return nil, err
	}
	m.opts.Publish(Created, t.Info())
	go t.run()
	return t, nil
}

// open starts a terminal's program. The caller has it [Terminal.run], for which Close waits.
func (m *Manager) open(c Create) (*Terminal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, errors.New("terminals are closed")
	case len(m.all) >= maxTerminals:
		return nil, ErrTooMany
	}
	cmd := exec.Command(c.Command, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, append(slices.Clone(c.Env), "TERM=xterm-256color")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return nil, fmt.Errorf("open a terminal for %s: %w", c.Command, err)
	}
	title := c.Title
	if title == "" {
		title = "Terminal " + filepath.Base(c.Command)
	}
	t := &Terminal{
		m: m, cmd: cmd, file: file, done: make(chan struct{}), readers: map[*Reader]struct{}{},
		info: Info{
			ID: m.opts.IDs.New(lathe.PrefixPTY), Title: title, Command: c.Command, Args: slices.Clone(c.Args),
			Dir: c.Dir, Directory: c.Directory, PID: cmd.Process.Pid,
		},
	}
	m.all = append(m.all, t)
	m.wg.Add(1)
	return t, nil
}

// run reads until the program ends, then forgets the terminal.
func (t *Terminal) run() {
	defer t.m.wg.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(buf)
		if n > 0 {
			t.publish(buf[:n])
		}
		if err != nil {
			break
		}
	}
	_ = t.cmd.Wait()
	t.hangUp()
	t.mu.Lock()
	t.info.Exited, t.info.Code = true, t.cmd.ProcessState.ExitCode()
	info := t.info
	for r := range t.readers {
		r.end()
	}
	t.mu.Unlock()
	t.m.forget(t)
	t.m.opts.Publish(Exited, info)
	close(t.done)
}

func (t *Terminal) publish(data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, data...)
	if extra := len(t.output) - keepOutput; extra > keepOutput {
		t.output = append(t.output[:0], t.output[extra:]...)
	}
	for r := range t.readers {
		if !r.push(data) {
			delete(t.readers, r)
		}
	}
}

func (m *Manager) forget(t *Terminal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = slices.DeleteFunc(m.all, func(o *Terminal) bool { return o == t })
}

// List returns the terminals of an instance; an empty directory means all.
func (m *Manager) List(directory string) []Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []Info{}
	for _, t := range m.all {
		if info := t.Info(); directory == "" || info.Directory == directory {
			out = append(out, info)
		}
	}
	return out
}

// Get returns a terminal that runs.
func (m *Manager) Get(id string) (*Terminal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.all {
		if t.info.ID == id {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
}

// Close ends all terminals and waits for them. It may be called twice.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	all := slices.Clone(m.all)
	m.mu.Unlock()
	for _, t := range all {
		t.kill()
	}
	m.wg.Wait()
	return nil
}

// Info describes the terminal.
func (t *Terminal) Info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.info
}

// Change sets the title, unless it is empty, and the size, unless it is zero.
func (t *Terminal) Change(title string, rows, cols uint16) error {
	if rows != 0 && cols != 0 {
		if err := t.resize(rows, cols); err != nil {
			return err
		}
	}
	t.mu.Lock()
	if title != "" {
		t.info.Title = title
	}
	info := t.info
	t.mu.Unlock()
	t.m.opts.Publish(Updated, info)
	return nil
}

// Remove ends the terminal and waits for its end.
func (t *Terminal) Remove() {
	t.kill()
	<-t.done
	t.m.opts.Publish(Deleted, t.Info())
}

// kill ends the program, and, by closing the terminal, what it started.
func (t *Terminal) kill() {
	killGroup(t.cmd)
	t.hangUp()
}

// hangUp closes the terminal. It may be called twice.
func (t *Terminal) hangUp() {
	t.sizing.Lock()
	defer t.sizing.Unlock()
	if !t.closed {
		t.closed = true
		_ = t.file.Close()
	}
}

// resize changes the size. A closed terminal is left alone: its descriptor may
// belong to another file by now.
func (t *Terminal) resize(rows, cols uint16) error {
	t.sizing.Lock()
	defer t.sizing.Unlock()
	if t.closed {
		return fmt.Errorf("%w: %q", ErrNotFound, t.info.ID)
	}
	if err := pty.Setsize(t.file, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		return fmt.Errorf("resize terminal %s: %w", t.info.ID, err)
	}
	return nil
}

// Write types into the terminal.
func (t *Terminal) Write(data []byte) error {
	_, err := t.file.Write(data)
	return err
}

// Reader follows the output of a terminal.
type Reader struct {
	t    *Terminal
	wake chan struct{}

	mu     sync.Mutex
	data   []byte
	ended  bool
	behind bool
}

// Attach returns a reader that starts with the newest output. Close it.
func (t *Terminal) Attach() *Reader {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &Reader{t: t, wake: make(chan struct{}, 1)}
	r.push(t.output[max(0, len(t.output)-keepOutput):])
	if t.info.Exited {
		r.end()
	} else {
		t.readers[r] = struct{}{}
	}
	return r
}

// push reports false for a reader that fell too far behind.
func (r *Reader) push(data []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.data)+len(data) > queueBytes {
		r.ended, r.behind = true, true
	} else {
		r.data = append(r.data, data...)
	}
	r.signal()
	return !r.ended
}

func (r *Reader) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.signal()
}

func (r *Reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Next waits for output and returns it; false after the end, or when cancel is
// closed.
func (r *Reader) Next(cancel <-chan struct{}) ([]byte, bool) {
	for {
		r.mu.Lock()
		data, ended := r.data, r.ended
		r.data = nil
		r.mu.Unlock()
		if len(data) > 0 {
			return data, true
		}
		if ended {
			return nil, false
		}
		select {
		case <-r.wake:
		case <-cancel:
			return nil, false
		}
	}
}

// Behind reports whether output was not taken for so long that following ended.
func (r *Reader) Behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.behind
}

// Close stops following. It may be called twice.
func (r *Reader) Close() {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	delete(r.t.readers, r)
}
