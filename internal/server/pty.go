package server

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/terminal"
)

// terminals answers what is about terminals of clients.
type terminals struct{ *call }

// ptyMessage bounds what a client types at once.
const ptyMessage = 1 << 20

func (s *Server) publishPTY(k terminal.Kind, t terminal.Info) {
	s.opts.Bus.Publish(t.Directory, TerminalEvent(k, t))
}

func (c terminals) list() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.withOtherTerminals(wire.EncodePTYs(listedTerminals(append(c.s.ptys.List(dir), c.s.jobTerminals(dir)...))), dir), nil
}

func (c terminals) create() (any, error) {
	var in struct {
		Command, Cwd, Title string
		Args                []string
		Env                 map[string]string
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	inst, dir, err := c.instance()
	if err != nil {
		return nil, err
	}
	create := terminal.Create{Command: in.Command, Args: in.Args, Dir: in.Cwd, Directory: dir, Title: in.Title}
	if create.Command == "" {
		create.Command = c.s.opts.Shell
	}
	switch strings.TrimSuffix(filepath.Base(create.Command), ".exe") {
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		create.Args = append(create.Args, "-l")
	}
	if create.Dir == "" {
		create.Dir = inst.Root.Dir
	} else if create.Dir, err = inst.Root.Resolve(create.Dir); err != nil {
		return nil, badPayload("cwd: cannot be resolved")
	}
	create.Env = append(create.Env, c.s.opts.Environ...)
	for k, v := range in.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			return nil, badPayload("env: %q is not a variable", clip(k, 80))
		}
		create.Env = append(create.Env, k+"="+v)
	}
	t, err := c.s.ptys.Create(create)
	switch {
	case errors.Is(err, terminal.ErrTooMany):
		return nil, lathe.Errorf(lathe.CodeLimit, "", "%v", err)
	case err != nil:
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "the terminal could not be opened: %v", err)
	}
	return wire.EncodePTY(listedTerminal(t.Info())), nil
}

func (c terminals) terminal() (pty, error) {
	id, err := c.id("ptyID", lathe.PrefixPTY)
	if err != nil {
		return nil, err
	}
	if t, ok := c.s.jobTerminal(id); ok {
		return t, nil
	}
	t, err := c.s.ptys.Get(id)
	if err != nil {
		return nil, notFound("PTY session not found: %s", id)
	}
	return t, nil
}

func (c terminals) get() (any, error) {
	t, err := c.terminal()
	if err != nil {
		return nil, err
	}
	return wire.EncodePTY(listedTerminal(t.Info())), nil
}

func (c terminals) update() (any, error) {
	t, err := c.terminal()
	if err != nil {
		return nil, err
	}
	var in struct {
		Title string
		Size  *struct{ Rows, Cols float64 }
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	var rows, cols uint16
	if in.Size != nil {
		if !(in.Size.Rows >= 1 && in.Size.Rows <= 4096 && in.Size.Cols >= 1 && in.Size.Cols <= 4096) {
			return nil, badPayload("size: expected 1 to 4096 rows and columns")
		}
		rows, cols = uint16(in.Size.Rows), uint16(in.Size.Cols)
	}
	if err := t.Change(in.Title, rows, cols); err != nil {
		return nil, notFound("PTY session not found: %s", t.Info().ID)
	}
	return wire.EncodePTY(listedTerminal(t.Info())), nil
}

func (c terminals) remove() (any, error) {
	t, err := c.terminal()
	if err != nil {
		return nil, err
	}
	t.Remove()
	return true, nil
}

// connect carries a terminal over a WebSocket: text frames of raw terminal
// bytes both ways, closed with 1000 when the program ends. Host, Origin and
// password were checked as for any request.
func (c terminals) connect() (any, error) {
	t, err := c.attached()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if !upgrades(c.r) {
		return nil, badPayload("the request is not a WebSocket upgrade")
	}
	conn, err := websocket.Accept(c.w, c.r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // of the origin: the gate did
	if err != nil {
		return nil, fmt.Errorf("take the connection over: %w", err)
	}
	conn.SetReadLimit(ptyMessage)
	ctx, cancel := context.WithCancel(c.ctx())
	defer cancel()
	defer context.AfterFunc(c.s.ctx, cancel)()
	reading, giveUp := context.WithCancel(context.Background())
	var typing sync.WaitGroup
	defer typing.Wait()
	defer giveUp()
	typing.Go(func() {
		defer cancel()
		typed(reading, conn, t)
	})
	shown(ctx, conn, t)
	code, word := t.farewell(c.s.leaving())
	if word != "" {
		_ = send(ctx, conn, "\r\n[lathe: "+word+"]\r\n")
	}
	defer time.AfterFunc(ptyParting, giveUp).Stop()
	_ = conn.Close(code, clip(word, 120))
	return done{}, nil
}

const (
	// ptyParting is how long a client may take to say goodbye.
	ptyParting = 500 * time.Millisecond
	// ptyWrite is how long it may take to read a frame.
	ptyWrite = 10 * time.Second
)

// upgrades reports whether a request asks for a WebSocket properly.
func upgrades(r *http.Request) bool {
	key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-Websocket-Key"))
	return r.ProtoAtLeast(1, 1) && r.Method == http.MethodGet && err == nil && len(key) == 16 &&
		r.Header.Get("Sec-Websocket-Version") == "13" && hasToken(r.Header, "Connection", "upgrade") && hasToken(r.Header, "Upgrade", "websocket")
}

func hasToken(h http.Header, name, token string) bool {
	for _, v := range h.Values(name) {
		for t := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// typed passes on what the client types, until it leaves or breaks the rules.
func typed(ctx context.Context, conn *websocket.Conn, t attachedPTY) {
	for {
		kind, msg, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageText && !utf8.Valid(msg) {
			_ = conn.Close(websocket.StatusInvalidFramePayloadData, "text that is not UTF-8")
			return
		}
		if t.Write(ctx, msg) != nil {
			return
		}
	}
}

// shown sends output until the program ends or the client is gone. An
// incomplete character waits for its rest.
func shown(ctx context.Context, conn *websocket.Conn, r ptyReader) {
	var rest []byte
	for {
		data, ok := r.Next(ctx.Done())
		if !ok {
			return
		}
		data = append(rest, data...)
		n := whole(data)
		rest = append([]byte(nil), data[n:]...)
		if n == 0 {
			continue
		}
		if err := send(ctx, conn, strings.ToValidUTF8(string(data[:n]), "\uFFFD")); err != nil {
			return
		}
	}
}

// send writes a frame. A client that does not read it in time loses the connection.
func send(ctx context.Context, conn *websocket.Conn, text string) error {
	ctx, cancel := context.WithTimeout(ctx, ptyWrite)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, []byte(text))
}

// whole returns the length of data without a character cut at its end.
func whole(data []byte) int {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return i
			}
			break
		}
	}
	return len(data)
}

func (c terminals) shells() (any, error) { return []string{c.s.opts.Shell}, nil }
