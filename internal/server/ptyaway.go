package server

import (
	"context"
	"errors"

	"github.com/coder/websocket"

	"lathe"
	"lathe/internal/line"
	"lathe/internal/opencode/wire"
	"lathe/internal/terminal"
)

// attachedPTY is a terminal as a connection carries it: one of this process, or of another.
type attachedPTY interface {
	ptyReader
	Write(ctx context.Context, data []byte) error
	// farewell returns how a connection closes after the last of the output, and what its
	// client is told; stopping says that this server ends.
	farewell(stopping bool) (websocket.StatusCode, string)
}

// attached follows the terminal that a request names, wherever it is.
func (c terminals) attached() (attachedPTY, error) {
	t, err := c.terminal()
	if err == nil {
		return herePTY{attachTo(t), t}, nil
	}
	var no *lathe.Error
	if c.s.opts.Elsewhere == nil || !errors.As(err, &no) || no.Code != lathe.CodeNotFound || !upgrades(c.r) {
		return nil, err
	}
	l, away := c.s.opts.Elsewhere.Terminal(c.r, c.r.PathValue("ptyID"), c.mayUse)
	switch {
	case errors.Is(away, line.ErrNotFound):
		return nil, err
	case away != nil:
		return nil, away
	}
	return awayPTY{l}, nil
}

// herePTY is a terminal of this process.
type herePTY struct {
	ptyReader
	t pty
}

func (p herePTY) Write(_ context.Context, data []byte) error { return p.t.Write(data) }

func (p herePTY) farewell(stopping bool) (websocket.StatusCode, string) {
	r, ok := p.ptyReader.(*terminal.Reader)
	switch {
	case stopping:
		return websocket.StatusGoingAway, ""
	case ok && r.Behind():
		return websocket.StatusTryAgainLater, "it printed more than could be shown"
	}
	return websocket.StatusNormalClosure, ""
}

// awayPTY is a terminal of another server.
type awayPTY struct{ *line.Line }

func (p awayPTY) farewell(stopping bool) (websocket.StatusCode, string) {
	switch word := p.Word(); {
	case stopping:
		return websocket.StatusGoingAway, ""
	case word != "":
		return websocket.StatusGoingAway, word
	}
	return websocket.StatusNormalClosure, ""
}

// withOtherTerminals adds those of the other servers in a directory.
func (c *call) withOtherTerminals(own any, dir string) any {
	list, ok := own.([]any)
	if !ok {
		return own
	}
	return c.about(dir).withOthers(list)
}

// TerminalEvent is what clients are told about a terminal.
func TerminalEvent(k terminal.Kind, t terminal.Info) lathe.ClientEvent {
	return wire.EncodePTYEvent(string(k), listedTerminal(t))
}

// closeTerminals ends the terminals, unless other servers have them, too.
func (s *Server) closeTerminals() error {
	if s.opts.Terminals != nil {
		return nil
	}
	return s.ptys.Close()
}
