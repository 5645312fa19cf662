// Package paint brings what the screen shows to a terminal, with as few bytes as
// that takes: [Screen] over the whole of it, [Inline] at the end of its scrollback.
package paint

import (
	"bytes"
	"io"
	"runtime"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Screen brings views to a terminal, writing only what differs from what is
// shown.
type Screen struct {
	out    io.Writer
	buf    bytes.Buffer
	rend   *uv.TerminalRenderer
	cells  uv.ScreenBuffer
	sync   bool // the terminal can show a frame at once
	on     bool
	fresh  bool // nothing is drawn yet
	simple bool // see [Simple]
	last   tea.View
	caret  caret
	width  int
	height int
}

// NewScreen returns a screen of a size, which is not shown before Start.
func NewScreen(out io.Writer, env []string, width, height int) *Screen {
	p := &Screen{out: out, simple: Simple(env), width: width, height: height, cells: uv.NewScreenBuffer(width, height)}
	p.rend = uv.NewTerminalRenderer(&p.buf, env)
	p.rend.SetColorProfile(Profile(out, env))
	p.rend.SetTabStops(-1)
	p.rend.SetScrollOptim(runtime.GOOS != "windows")
	return p
}

// Start takes the terminal: the other screen, pastes, focus and keys in full.
func (p *Screen) Start() error {
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

// What terminals are told and asked: the title is kept for the end, pastes and the focus come as
// events, keys in full; whether they can show a frame at once, measure whole clusters, and are dark.
// A terminal that keeps no titles ends with none.
const (
	modesOn   = "\x1b[22;2t" + ansi.SetModeBracketedPaste + ansi.SetModeFocusEvent + ansi.SetModifyOtherKeys2 + "\x1b[>1u"
	modesOff  = "\x1b]2;\a\x1b[23;2t" + ansi.ResetModifyOtherKeys + "\x1b[<1u" + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste
	questions = ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore + ansi.RequestBackgroundColor
)

// Ask asks the terminal what it can do; the answers come as input.
func (p *Screen) Ask() error {
	if p.simple {
		return nil
	}
	p.buf.WriteString(questions)
	return p.write()
}

// Stop gives the terminal back as it was.
func (p *Screen) Stop() error {
	if !p.on {
		return nil
	}
	p.on = false
	p.buf.Reset()
	if p.last.MouseMode != tea.MouseModeNone {
		p.buf.WriteString(ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr)
	}
	p.caret.reset(&p.buf)
	if p.cells.Method == ansi.GraphemeWidth {
		p.buf.WriteString(ansi.ResetModeUnicodeCore)
	}
	if !p.simple {
		p.buf.WriteString(progress(p.last.ProgressBar, nil) + modesOff)
	}
	p.buf.WriteString(ansi.SetModeTextCursorEnable + ansi.ResetModeAltScreenSaveCursor)
	p.last = tea.View{}
	return p.write()
}

// Resize takes the terminal's new size; all of it is drawn again.
func (p *Screen) Resize(width, height int) {
	p.width, p.height = width, height
	method := p.cells.Method
	p.cells = uv.NewScreenBuffer(width, height)
	p.cells.Method = method
	p.rend.Resize(width, height)
	p.rend.Erase()
	p.fresh = true
}

// Synchronize says that the terminal can show a whole frame at once.
func (p *Screen) Synchronize() { p.sync = true }

// Graphemes makes the terminal measure whole clusters.
func (p *Screen) Graphemes() error {
	p.cells.Method = ansi.GraphemeWidth
	p.buf.WriteString(ansi.SetModeUnicodeCore)
	p.fresh = true
	return p.write()
}

// Raw writes something that is not part of a view.
func (p *Screen) Raw(s string) error {
	p.buf.WriteString(s)
	return p.write()
}

// Paint shows a view.
func (p *Screen) Paint(v tea.View) error {
	same := !p.fresh && v.Content == p.last.Content && v.WindowTitle == p.last.WindowTitle && v.MouseMode == p.last.MouseMode && sameProgress(v.ProgressBar, p.last.ProgressBar)
	if same && sameCursor(v.Cursor, p.last.Cursor) || p.width < 1 || p.height < 1 {
		return nil
	}
	p.modes(v)
	p.cells.Clear()
	uv.NewStyledString(v.Content).Draw(p.cells, p.cells.Bounds())
	p.rend.Render(p.cells.RenderBuffer)
	if v.Cursor != nil {
		p.caret.show(&p.buf, v.Cursor, p.simple)
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
	return a == nil && b == nil || a != nil && b != nil && a.Position == b.Position && a.Shape == b.Shape
}

// modes writes what a view changes besides its content.
func (p *Screen) modes(v tea.View) {
	if p.simple {
		return
	}
	if v.WindowTitle != p.last.WindowTitle || p.fresh {
		p.buf.WriteString(ansi.SetWindowTitle(v.WindowTitle))
	}
	p.buf.WriteString(progress(p.last.ProgressBar, v.ProgressBar))
	if v.MouseMode != p.last.MouseMode || p.fresh && v.MouseMode != tea.MouseModeNone {
		if v.MouseMode == tea.MouseModeNone {
			p.buf.WriteString(ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr)
		} else {
			p.buf.WriteString(ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr)
		}
	}
}

// wrap puts the output between marks that keep the terminal from showing half
// of it, or at least hide the moving cursor.
func (p *Screen) wrap(cursor bool) {
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

func (p *Screen) write() error {
	_, err := p.buf.WriteTo(p.out)
	p.buf.Reset()
	return err
}
