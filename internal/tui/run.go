package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/picture"
)

// Terminal is where the screen is shown.
type Terminal struct {
	In  io.Reader // put into raw mode if it is a terminal's file
	Out io.Writer
	Env []string
	// Width and Height are used if Out is not a terminal's file.
	Width, Height int
}

// Run shows the screen until the person leaves it or the context ends. It gives
// the terminal back as it was, and returns when everything it started has ended.
//
// It does what Bubble Tea's own loop does, except that it draws when something
// changed and not by a clock: a screen on which nothing happens uses no
// processor time.
func Run(ctx context.Context, a *App, t Terminal) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &loop{app: a, term: t, ctx: ctx, msgs: make(chan tea.Msg, 64), events: make(chan uv.Event, 64)}
	a.access.During(ctx)
	a.style.Plain(paint.Simple(t.Env))
	a.style.Isolate(a.opts.Desk.isolates(t.Env))
	profile := paint.Profile(t.Out, t.Env)
	a.look.Pictures = chat.PictureMode(profile, t.Env)
	if a.opts.Desk.NoPictures {
		a.look.Pictures = picture.None
	}
	a.style.ReduceTo(profile)
	width, height := l.size()
	if a.opts.Inline {
		l.live = paint.NewInline(t.Out, t.Env, width, height)
		l.on = l.live
	} else {
		l.on = paint.NewScreen(t.Out, t.Env, width, height)
	}
	defer func() {
		cancel(nil)
		err = errors.Join(err, l.release())
		l.wg.Wait()
	}()
	if err := l.take(); err != nil {
		return err
	}
	if err := l.on.Ask(); err != nil {
		return err
	}
	pm := &pump{send: l.send}
	l.wg.Go(func() { pm.run(ctx, a.access) })
	a.Update(tea.WindowSizeMsg{Width: width, Height: height})
	l.command(a.Init())
	return errors.Join(l.run(), a.input.Keep())
}

// loop owns the terminal while the screen is shown.
type loop struct {
	app    *App
	term   Terminal
	ctx    context.Context
	on     canvas
	live   *paint.Inline // the same as on, where the screen is inline
	msgs   chan tea.Msg
	events chan uv.Event
	wg     sync.WaitGroup // commands and the pump

	saved   *term.State
	input   interface{ Cancel() bool }
	reading chan struct{} // closed when nobody reads the input
	failed  error         // why the input ended
}

var errQuit = errors.New("quit")

func (l *loop) send(m tea.Msg) {
	select {
	case l.msgs <- m:
	case <-l.ctx.Done():
	}
}

// crashed says that a command has panicked.
type crashed struct {
	why   any
	stack []byte
}

// command runs a command beside the loop; its message comes back.
func (l *loop) command(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	l.wg.Go(func() {
		defer func() {
			if r := recover(); r != nil { // the loop ends with it, and gives the terminal back
				l.send(crashed{r, debug.Stack()})
			}
		}()
		if m := cmd(); m != nil {
			l.send(m)
		}
	})
}

func (l *loop) run() error {
	winch := make(chan os.Signal, 1)
	uv.NotifyWinch(winch)
	defer signal.Stop(winch)
	due := time.NewTimer(0)
	defer due.Stop()
	var painted time.Time
	waiting := true // due is set
	for {
		var err error
		select {
		case <-l.ctx.Done():
			return context.Cause(l.ctx)
		case <-l.reading:
			err = l.last()
		case <-due.C:
			waiting, painted, l.app.dirty = false, time.Now(), false
			err = l.draw()
		case <-winch:
			w, h := l.size()
			err = l.handle(tea.WindowSizeMsg{Width: w, Height: h})
		case m := <-l.msgs:
			err = l.handle(m)
		case e := <-l.events:
			err = l.handle(message(e))
		}
		switch {
		case errors.Is(err, errQuit):
			return nil
		case err != nil:
			return err
		}
		if !waiting && l.app.dirty {
			waiting = true
			due.Reset(max(0, frame-time.Since(painted)))
		}
	}
}

// canvas is what the loop draws on.
type canvas interface {
	Start() error // takes the terminal
	Stop() error  // gives it back as it was
	Ask() error
	Resize(width, height int)
	Raw(s string) error
	Synchronize()
	Graphemes() error
}

// draw shows what is to be seen now.
func (l *loop) draw() error {
	if l.live != nil {
		return l.live.Paint(l.app.flow(), l.app.region())
	}
	return l.on.(*paint.Screen).Paint(l.app.View())
}

// last handles what came before the input ended, and returns why it ended.
func (l *loop) last() error {
	for {
		select {
		case e := <-l.events:
			if err := l.handle(message(e)); err != nil {
				return err
			}
		default:
			err := l.failed
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("read the terminal: %w", err)
		}
	}
}

// handle applies a message, first to the terminal itself and then to the App.
func (l *loop) handle(m tea.Msg) error {
	switch m := m.(type) {
	case nil:
		return nil
	case tea.QuitMsg:
		return errQuit
	case crashed:
		panic(fmt.Sprintf("%v\n\n%s", m.why, m.stack))
	case tea.BatchMsg:
		for _, cmd := range m {
			l.command(cmd)
		}
		return nil
	case uv.MultiEvent:
		for _, e := range m {
			if err := l.handle(message(e)); err != nil {
				return err
			}
		}
		return nil
	case tea.RawMsg:
		return l.on.Raw(fmt.Sprint(m.Msg))
	case dialog.Exec:
		return l.exec(m)
	case tea.SuspendMsg:
		return l.suspend()
	case tea.WindowSizeMsg:
		l.on.Resize(m.Width, m.Height)
	case tea.ModeReportMsg:
		if err := l.mode(m); err != nil {
			return err
		}
	}
	_, cmd := l.app.Update(m)
	l.app.dirty = true
	l.command(cmd)
	return nil
}

// mode learns what the terminal can do.
func (l *loop) mode(m tea.ModeReportMsg) error {
	switch {
	case m.Mode == ansi.ModeSynchronizedOutput && m.Value == ansi.ModeReset:
		l.on.Synchronize()
	case m.Mode == ansi.ModeUnicodeCore && (m.Value == ansi.ModeReset || m.Value == ansi.ModeSet || m.Value == ansi.ModePermanentlySet):
		return l.on.Graphemes()
	}
	return nil
}

// size returns the terminal's present size.
func (l *loop) size() (width, height int) {
	if f, ok := l.term.Out.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			return w, h
		}
	}
	return l.term.Width, l.term.Height
}

// take makes the terminal ours and begins to read from it.
func (l *loop) take() error {
	if f, ok := l.term.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		state, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			return fmt.Errorf("set up the terminal: %w", err)
		}
		l.saved = state
	}
	in, err := uv.NewCancelReader(l.term.In)
	if err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	l.input = in
	reader := uv.NewTerminalReader(in, uv.Environ(l.term.Env).Getenv("TERM"))
	done := make(chan struct{})
	l.reading, l.failed = done, nil
	ctx, events := l.ctx, l.events
	go func() { // waited for by release
		defer close(done)
		l.failed = reader.StreamEvents(ctx, events)
	}()
	return l.on.Start()
}

// release gives the terminal back. What is typed afterwards goes to the shell.
func (l *loop) release() error {
	if l.input == nil {
		return nil
	}
	err := l.on.Stop()
	l.input.Cancel()
	for ended := false; !ended; {
		select {
		case <-l.reading:
			ended = true
		case <-l.events: // the reader must not wait for us
		case <-time.After(500 * time.Millisecond): // for a read that cannot be cancelled
			ended = true
		}
	}
	l.input = nil
	if l.saved != nil {
		err = errors.Join(err, term.Restore(int(l.term.In.(*os.File).Fd()), l.saved))
		l.saved = nil
	}
	return err
}

func (l *loop) retake() error {
	err := l.take()
	w, h := l.size()
	return errors.Join(err, l.handle(tea.WindowSizeMsg{Width: w, Height: h}))
}

// exec lets a program have the terminal and waits for it.
func (l *loop) exec(m dialog.Exec) error {
	if err := l.release(); err != nil {
		return err
	}
	m.Cmd.Stdin, m.Cmd.Stdout, m.Cmd.Stderr = l.term.In, l.term.Out, l.term.Out
	result := m.Done(m.Cmd.Run())
	if err := l.retake(); err != nil {
		return err
	}
	return l.handle(result)
}

func (l *loop) suspend() error {
	if !canSuspend {
		return nil
	}
	if err := l.release(); err != nil {
		return err
	}
	stopProcess()
	return l.retake()
}

// message turns what the terminal sent into what the App understands.
func message(e uv.Event) tea.Msg {
	switch e := e.(type) {
	case uv.KeyPressEvent:
		return tea.KeyPressMsg(e)
	case uv.PasteEvent:
		return tea.PasteMsg(e)
	case uv.ClipboardEvent:
		return tea.ClipboardMsg(e)
	case uv.BackgroundColorEvent:
		return tea.BackgroundColorMsg(e)
	case uv.FocusEvent:
		return tea.FocusMsg(e)
	case uv.BlurEvent:
		return tea.BlurMsg(e)
	case uv.MouseWheelEvent:
		return tea.MouseWheelMsg(e)
	case uv.MouseClickEvent:
		return tea.MouseClickMsg(e)
	case uv.MouseMotionEvent:
		return tea.MouseMotionMsg(e)
	case uv.MouseReleaseEvent:
		return tea.MouseReleaseMsg(e)
	case uv.WindowSizeEvent:
		return tea.WindowSizeMsg(e)
	case uv.ModeReportEvent:
		return tea.ModeReportMsg(e)
	case uv.MultiEvent:
		return e
	}
	return nil
}

// SessionID returns the session on screen, or "" for a new one.
func (a *App) SessionID() string { return string(a.session.ID) }
