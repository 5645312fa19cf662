package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/shell"
)

const (
	leave     = 100 * time.Millisecond // for a server to end with its input
	dying     = 5 * time.Second        // for the end of one that closed its output to be told
	grace     = time.Second            // for a server to end when it is asked to
	maxStderr = 4 << 10                // kept of what a server prints, for when it fails
	maxQueue  = 64 << 20               // bytes that wait for a server to read them
)

// process is the program of a local server.
type process struct {
	name    string
	service *shell.Service
	in      *queue
	out     *lines
	stopped bool // stopped by lathe; set before stop waits

	mu   sync.Mutex
	last []byte // the end of what it printed
}

func (s *server) dialLocal(ctx context.Context, version string) (*conn, *Known, error) {
	if len(s.conf.Command) == 0 {
		return nil, nil, errors.New("no command is configured")
	}
	p := &process{name: s.conf.Name}
	dir := s.set.o.Dir
	if s.conf.Cwd != "" {
		if dir = s.conf.Cwd; !filepath.IsAbs(dir) {
			dir = filepath.Join(s.set.o.Dir, dir)
		}
	}
	open := s.set.o.Open
	if launch := s.set.o.Launch; launch != nil {
		open = func(p shell.Program) (*shell.Service, error) { return launch(s.conf.Name, p) }
	}
	service, err := open(shell.Program{
		Args: s.conf.Command, Dir: dir, Env: shell.Env(s.set.o.Env, s.conf.Environment), Kind: shell.KindMCP, Stderr: p.printed,
	})
	if err != nil {
		return nil, nil, err
	}
	p.service, p.in, p.out = service, newQueue(service.Stdin), newLines(service.Stdout)
	return s.open(ctx, &mcp.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: maxMessage}, version, p)
}

// printed keeps the end of what the server prints outside the protocol.
func (p *process) printed(chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, chunk...)
	if over := len(p.last) - maxStderr; over > 0 {
		p.last = append(p.last[:0], p.last[over:]...)
	}
}

// stop ends the process and all that it started.
func (p *process) stop() {
	_ = p.in.Close()
	limit := leave // most end with their input
	if p.out.ended.Load() || p.in.failed() {
		limit = dying // it has ended by itself, and its exit code is on the way
	}
	waitFor(p.service.Done(), limit)
	select {
	case <-p.service.Done():
	default:
		p.mu.Lock()
		p.stopped = true
		p.mu.Unlock()
	}
	p.service.Stop(grace)
	_ = p.service.Stdout.Close()
	p.in.wait()
}

// ending says how the process ended by itself, and what it printed last.
func (p *process) ending() string {
	select {
	case <-p.service.Done():
	default:
		return ""
	}
	if p.out.over.Load() { // the rest is a consequence of that
		return errTooLong.Error()
	}
	exit, _ := p.service.Exit()
	p.mu.Lock()
	defer p.mu.Unlock()
	how := fmt.Sprintf("its program ended with exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "its program ended by a signal (" + exit.Signal + ")"
	}
	if p.stopped {
		how = ""
	}
	lines := strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(p.last)), " ", "\x00"))
	if n := len(lines); n > 3 {
		lines = lines[n-3:]
	}
	said := clean(strings.ReplaceAll(strings.Join(lines, " / "), "\x00", " "), 400)
	switch {
	case said == "":
		return how
	case how == "":
		return "it printed: " + said
	}
	return how + ": " + said
}

// lines passes on the lines of a server that are JSON. Anything else it prints is noise.
type lines struct {
	from io.ReadCloser
	r    *bufio.Reader
	rest []byte
	over atomic.Bool // a message was too long
	// ended says that the server closed its output, as it does when it ends.
	ended atomic.Bool
}

func newLines(from io.ReadCloser) *lines {
	return &lines{from: from, r: bufio.NewReaderSize(from, 64<<10)}
}

// errTooLong means that a message exceeded the limit.
var errTooLong = fmt.Errorf("the server sent a message of more than %d MiB", maxMessage>>20)

// Read returns the next bytes of a message.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil {
			l.ended.Store(errors.Is(err, io.EOF))
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line returns the next line that is a message, with its end; nil for noise.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		noise := len(line) == 0 && !begins(piece)
		if !noise {
			line = append(line, piece...)
		}
		switch {
		case len(line) > maxMessage:
			l.over.Store(true)
			return nil, errTooLong
		case errors.Is(err, bufio.ErrBufferFull) && noise:
			if err := l.skip(); err != nil {
				return nil, err
			}
			return nil, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || !json.Valid(line) {
			return nil, err
		}
		return append(line, '\n'), nil
	}
}

// skip reads to the end of a line.
func (l *lines) skip() error {
	for {
		if _, err := l.r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// begins reports whether a line may be a message.
func begins(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\r\ufeff")
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
}

// Close ends reading.
func (l *lines) Close() error { return l.from.Close() }

// queue accepts writes without waiting, so that a server that does not read its input
// blocks nobody. Whoever is done with it closes it and waits.
type queue struct {
	to   io.WriteCloser
	over chan struct{}

	mu     sync.Mutex
	more   *sync.Cond
	list   [][]byte
	size   int
	closed bool
	err    error
}

func newQueue(to io.WriteCloser) *queue {
	q := &queue{to: to, over: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	go q.run() // ended by Close, waited for by wait
	return q
}

// Write takes a message.
func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return 0, io.ErrClosedPipe
	case q.err != nil:
		return 0, q.err
	case q.size+len(p) > maxQueue:
		return 0, errors.New("the server does not read what is sent to it")
	}
	q.list, q.size = append(q.list, bytes.Clone(p)), q.size+len(p)
	q.more.Signal()
	return len(p), nil
}

func (q *queue) run() {
	defer close(q.over)
	defer q.to.Close()
	for {
		q.mu.Lock()
		for len(q.list) == 0 && !q.closed {
			q.more.Wait()
		}
		if len(q.list) == 0 {
			q.mu.Unlock()
			return
		}
		next := q.list[0]
		q.list, q.size = q.list[1:], q.size-len(q.list[0])
		q.mu.Unlock()
		if _, err := q.to.Write(next); err != nil {
			q.mu.Lock()
			q.err, q.closed, q.list = err, true, nil
			q.mu.Unlock()
			return
		}
	}
}

// Close ends the input when all of it is written, or at once if nobody reads it.
func (q *queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
	return nil
}

// failed reports whether the server no longer reads.
func (q *queue) failed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err != nil
}

// wait returns when nothing is being written any more. The reader must be gone.
func (q *queue) wait() {
	_ = q.to.Close()
	<-q.over
}
