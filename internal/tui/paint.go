package tui

import (
	"bytes"
	"io"
	"runtime"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// painter brings views to a terminal: of each it writes only what differs from
// what is there.
type painter struct {
	out    io.Writer
	buf    bytes.Buffer
	rend   *uv.TerminalRenderer
	cells  uv.ScreenBuffer
	sync   bool // the terminal can show a frame at once
	on     bool
	fresh  bool // nothing is drawn yet
	simple bool // see simple
	last   tea.View
	width  int
	height int
}

func newPainter(out io.Writer, env []string, width, height int) *painter {
	p := &painter{out: out, simple: simple(env), width: width, height: height, cells: uv.NewScreenBuffer(width, height)}
	p.rend = uv.NewTerminalRenderer(&p.buf, env)
	p.rend.SetColorProfile(profileOf(out, env))
	p.rend.SetTabStops(-1)
	p.rend.SetScrollOptim(runtime.GOOS != "windows")
	return p
}

// start takes the terminal: the other screen, pastes, focus and keys in full.
func (p *painter) start() error {
	p.on, p.fresh = true, true
	p.buf.WriteString(ansi.SetModeAltScreenSaveCursor)
	if !p.simple {
		p.buf.WriteString(modesOn)
	}
	if p.cells.Method == ansi.GraphemeWidth {
		p.buf.WriteString(ansi.SetModeUnicodeCore)
	}
	p.rend.SetFullscreen(true)
	p.rend.SetRelativeCursor(false)
	p.rend.Erase()
	return p.write()
}

// What terminals are told and asked: pastes and the focus as events, keys in full;
// whether they can show a frame at once, measure whole clusters, and are dark.
const (
	modesOn   = ansi.SetModeBracketedPaste + ansi.SetModeFocusEvent + ansi.SetModifyOtherKeys2 + "\x1b[>1u"
	modesOff  = "\x1b]2;\a" + ansi.ResetModifyOtherKeys + "\x1b[<1u" + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste
	questions = ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore + ansi.RequestBackgroundColor
)

// ask asks the terminal what it can do; the answers come as input.
func (p *painter) ask() error {
	if p.simple {
		return nil
	}
	p.buf.WriteString(questions)
	return p.write()
}

// stop gives the terminal back as it was.
func (p *painter) stop() error {
	if !p.on {
		return nil
	}
	p.on = false
	p.buf.Reset()
	if p.last.MouseMode != tea.MouseModeNone {
		p.buf.WriteString(ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr)
	}
	if p.last.Cursor != nil {
		p.buf.WriteString(ansi.SetCursorStyle(0))
	}
	if p.cells.Method == ansi.GraphemeWidth {
		p.buf.WriteString(ansi.ResetModeUnicodeCore)
	}
	if !p.simple {
		p.buf.WriteString(modesOff)
	}
	p.buf.WriteString(ansi.SetModeTextCursorEnable + ansi.ResetModeAltScreenSaveCursor)
	p.last = tea.View{}
	return p.write()
}

func (p *painter) resize(width, height int) {
	p.width, p.height = width, height
	method := p.cells.Method
	p.cells = uv.NewScreenBuffer(width, height)
	p.cells.Method = method
	p.rend.Resize(width, height)
	p.rend.Erase()
	p.fresh = true
}

// synchronize lets the terminal show a frame at once.
func (p *painter) synchronize() { p.sync = true }

// graphemes makes the terminal measure whole clusters.
func (p *painter) graphemes() error {
	p.cells.Method = ansi.GraphemeWidth
	p.buf.WriteString(ansi.SetModeUnicodeCore)
	p.fresh = true
	return p.write()
}

// raw writes something that is not part of a view.
func (p *painter) raw(s string) error {
	p.buf.WriteString(s)
	return p.write()
}

// paint shows a view.
func (p *painter) paint(v tea.View) error {
	same := !p.fresh && v.Content == p.last.Content && v.WindowTitle == p.last.WindowTitle && v.MouseMode == p.last.MouseMode
	if same && sameCursor(v.Cursor, p.last.Cursor) || p.width < 1 || p.height < 1 {
		return nil
	}
	p.modes(v)
	p.cells.Clear()
	uv.NewStyledString(v.Content).Draw(p.cells, p.cells.Bounds())
	p.rend.Render(p.cells.RenderBuffer)
	if v.Cursor != nil {
		p.rend.MoveTo(v.Cursor.X, v.Cursor.Y)
	}
	if err := p.rend.Flush(); err != nil {
		return err
	}
	shown := v.Cursor != nil
	p.wrap(shown)
	p.last, p.fresh = v, false
	return p.write()
}

func sameCursor(a, b *tea.Cursor) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Position == b.Position
}

// modes writes what a view changes beside its content.
func (p *painter) modes(v tea.View) {
	if p.simple {
		return
	}
	if v.WindowTitle != p.last.WindowTitle || p.fresh {
		p.buf.WriteString(ansi.SetWindowTitle(v.WindowTitle))
	}
	if v.MouseMode != p.last.MouseMode || p.fresh && v.MouseMode != tea.MouseModeNone {
		if v.MouseMode == tea.MouseModeNone {
			p.buf.WriteString(ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr)
		} else {
			p.buf.WriteString(ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr)
		}
	}
}

// wrap puts what is to be written between marks that keep the terminal from
// showing half of it, or at least the cursor from flying around.
func (p *painter) wrap(cursor bool) {
	before, after := ansi.ResetModeTextCursorEnable, ""
	if cursor {
		after = ansi.SetModeTextCursorEnable
	}
	if p.sync {
		before, after = ansi.SetModeSynchronizedOutput+before, after+ansi.ResetModeSynchronizedOutput
	}
	body := bytes.Clone(p.buf.Bytes())
	p.buf.Reset()
	p.buf.WriteString(before)
	p.buf.Write(body)
	p.buf.WriteString(after)
}

func (p *painter) write() error {
	_, err := p.buf.WriteTo(p.out)
	p.buf.Reset()
	return err
}
