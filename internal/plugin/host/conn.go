package host

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lathe/internal/plugin"
	"lathe/internal/shell"
)

// maxLine bounds one message of the process.
const maxLine = 128 << 20

// conn is a running process: messages are JSON objects, one a line.
type conn struct {
	svc     *shell.Service
	host    *Host
	begun   time.Time
	hello   chan struct{}
	runtime string // set before hello is closed
	done    chan struct{}
	lates   chan toldPlugin // those that are ready after all, for who waits for them

	next atomic.Int64

	writing sync.Mutex

	mu      sync.Mutex
	waiting map[string]chan message
	streams map[string]func(chunk)
	cancels map[string]context.CancelFunc // running requests of plugins
	err     error                         // why it is over
}

type message struct {
	ID     string          `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *failure        `json:"error,omitempty"`
}

type failure struct {
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
}

// Error returns the message.
func (f *failure) Error() string { return f.Message }

// chunk is a piece of a body. End is set in the last one: empty, or why the body broke off.
type chunk struct {
	Stream string  `json:"stream"`
	Text   *string `json:"text,omitempty"`
	Data   string  `json:"data,omitempty"`
	End    *string `json:"end,omitempty"`
}

func (c chunk) bytes() []byte {
	if c.Text != nil {
		return []byte(*c.Text)
	}
	data, _ := base64.StdEncoding.DecodeString(c.Data) // written by the host's own program
	return data
}

func newConn(svc *shell.Service, h *Host) *conn {
	c := &conn{
		svc: svc, host: h, begun: time.Now(), hello: make(chan struct{}), done: make(chan struct{}),
		lates:   make(chan toldPlugin, len(h.sources)),
		waiting: map[string]chan message{}, streams: map[string]func(chunk){}, cancels: map[string]context.CancelFunc{},
	}
	go c.read() // ends with the process's output
	return c
}

// read handles the messages of the process until its output ends.
func (c *conn) read() {
	r := bufio.NewReaderSize(c.svc.Stdout, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil {
			c.end(fmt.Errorf("it ended: %w", err))
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			c.end(errors.New("it wrote something that is not a message"))
			return
		}
		c.take(m)
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && whole == nil {
			return part, nil
		}
		whole = append(whole, part...)
		switch {
		case err == nil:
			return whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(whole) > maxLine:
			return nil, fmt.Errorf("a message has more than %d bytes", maxLine)
		}
	}
}

func (c *conn) take(m message) {
	switch {
	case m.Method == "":
		c.mu.Lock()
		ch := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	case m.Method == "chunk":
		var piece chunk
		if json.Unmarshal(m.Params, &piece) != nil {
			return
		}
		c.mu.Lock()
		f := c.streams[piece.Stream]
		if piece.End != nil {
			delete(c.streams, piece.Stream)
		}
		c.mu.Unlock()
		if f != nil {
			f(piece)
		}
	case m.Method == "hello":
		c.greeted(m.Params)
	default:
		door{c.host}.take(c, m)
	}
}

func (c *conn) greeted(params json.RawMessage) {
	var in struct{ Runtime, Version string }
	_ = json.Unmarshal(params, &in) // written by the host's own program
	select {
	case <-c.hello:
	default:
		c.runtime = in.Runtime + " " + in.Version
		close(c.hello)
	}
}

// usable says why the runtime cannot run plugins, or nil.
func (c *conn) usable() error {
	version, ok := strings.CutPrefix(c.runtime, "node ")
	if !ok {
		return nil
	}
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < minNode {
		return &missing{fmt.Sprintf("node here is %s; plugins need bun, or node %d or newer", version, minNode)}
	}
	return nil
}

// call sends a request and waits for its answer. Params are sent as JSON.
func (c *conn) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id := strconv.FormatInt(c.next.Add(1), 10)
	ch := make(chan message, 1)
	c.mu.Lock()
	if c.err != nil {
		err := c.err
		c.mu.Unlock()
		return nil, &plugin.NotCalled{Why: err.Error()}
	}
	c.waiting[id] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.send(id, method, params); err != nil {
		return nil, &plugin.NotCalled{Why: err.Error()}
	}
	select {
	case m := <-ch:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-c.done:
		return nil, &plugin.NotCalled{Why: "the plugins' process died: " + c.why().Error()}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// send writes a message. A message without an id gets no answer.
func (c *conn) send(id, method string, params any) error {
	raw, ok := params.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return err
		}
	}
	return c.write(id, `"method":`+strconv.Quote(method)+`,"params":`, raw)
}

func (c *conn) write(id, head string, value json.RawMessage) error {
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	line := make([]byte, 0, len(value)+len(head)+len(id)+16)
	line = append(line, '{')
	if id != "" {
		line = append(line, `"id":"`+id+`",`...)
	}
	line = append(append(append(line, head...), value...), '}', '\n')
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.svc.Stdin.Write(line)
	return err
}

// answer answers a request of the process.
func (c *conn) answer(id string, result any, err error) {
	if err != nil {
		raw, _ := json.Marshal(failure{Message: err.Error()}) // texts always encode
		_ = c.write(id, `"error":`, raw)
		return
	}
	raw, err := json.Marshal(result)
	if err != nil {
		c.answer(id, nil, err)
		return
	}
	_ = c.write(id, `"result":`, raw)
}

func (c *conn) notify(method string, params any) { _ = c.send("", method, params) }

// stream calls a function with the pieces of a body; it must not block for long.
func (c *conn) stream(id string, f func(chunk)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[id] = f
}

// over reports whether the process is gone.
func (c *conn) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// end ends the process; the first reason counts. It returns when the process is gone.
func (c *conn) end(why error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = why
		for id, f := range c.streams {
			reason := "the plugins' process died"
			go f(chunk{Stream: id, End: &reason})
		}
		for _, cancel := range c.cancels {
			cancel()
		}
		close(c.done)
	}
	c.mu.Unlock()
	if !first {
		return
	}
	_ = c.svc.Stdin.Close()
	c.svc.Stop(closeGrace / 8)
	if exit, err := c.svc.Exit(); err == nil && errors.Is(why, io.EOF) && exit.Code > 0 {
		c.host.o.Log.Debug("the plugins' process ended", "code", exit.Code)
	}
	_ = c.svc.Stdout.Close()
}
