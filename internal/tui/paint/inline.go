package paint

import (
	"bytes"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"lathe/internal/tui/styled"
)

// Inline brings the screen to the terminal without taking it over: final lines
// stay above, and a region at the end is drawn again, of which only the rows
// that changed are written.
type Inline struct {
	out    io.Writer // reduces colours to what the terminal has
	plain  io.Writer
	buf    bytes.Buffer
	sync   bool
	method styled.Method
	on     bool
	width  int
	rows   []styled.Line // rows of the region as shown
	row    int           // row of the cursor in it
	title  string
	shown  *tea.ProgressBar // in the taskbar
	simple bool
	caret  caret
}

// Region is what is drawn again, and the caret in it.
type Region struct {
	Lines  []styled.Line
	Cursor *tea.Cursor // nil: it is hidden
	Title  string      // of the terminal's window
	// Progress is what the taskbar shows; nil: nothing.
	Progress *tea.ProgressBar
}

// NewInline returns an inline screen, which is not shown before Start.
func NewInline(out io.Writer, env []string, width, _ int) *Inline {
	return &Inline{
		// The lowest profile would drop every sequence, not only colours.
		out:   &colorprofile.Writer{Forward: out, Profile: max(Profile(out, env), colorprofile.ASCII)},
		plain: out, simple: Simple(env), width: width, method: styled.WcWidth,
	}
}

// Start takes the terminal: pastes, focus and keys in full.
func (p *Inline) Start() error {
	p.on, p.rows, p.row, p.title, p.shown = true, nil, 0, "", nil
	if p.simple {
		return nil
	}
	return p.Raw(modesOn)
}

// Ask asks the terminal what it can do; the answers come as input.
func (p *Inline) Ask() error {
	if p.simple {
		return nil
	}
	return p.Raw(questions)
}

// Stop removes the region and leaves the cursor where it began.
func (p *Inline) Stop() error {
	if !p.on {
		return nil
	}
	p.on = false
	p.buf.Reset()
	p.up()
	p.buf.WriteString("\r" + ansi.EraseScreenBelow + ansi.SetModeTextCursorEnable)
	p.caret.reset(&p.buf)
	if p.method == ansi.GraphemeWidth {
		p.buf.WriteString(ansi.ResetModeUnicodeCore)
	}
	if !p.simple {
		p.buf.WriteString(progress(p.shown, nil) + modesOff)
	}
	return p.flush(p.plain)
}

// up moves the cursor to the first row of the region.
func (p *Inline) up() {
	if p.row > 0 {
		p.buf.WriteString(ansi.CursorUp(p.row))
	}
}

// Resize removes the region. A terminal that became narrower has broken its
// rows into more rows, which are counted.
func (p *Inline) Resize(width, _ int) {
	if !p.on {
		return
	}
	extra := 0
	for i, row := range p.rows {
		if n := row.Width(p.method); i <= p.row && width > 0 && n > width {
			extra += (n - 1) / width
		}
	}
	p.row += extra
	p.up()
	p.buf.WriteString("\r" + ansi.EraseScreenBelow)
	p.width, p.rows, p.row = width, nil, 0
}

// Synchronize says that the terminal can show a whole frame at once.
func (p *Inline) Synchronize() { p.sync = true }

// Graphemes makes the terminal measure whole clusters.
func (p *Inline) Graphemes() error {
	p.method = ansi.GraphemeWidth
	return p.Raw(ansi.SetModeUnicodeCore)
}

// Raw writes something that is not drawn.
func (p *Inline) Raw(s string) error {
	_, err := io.WriteString(p.plain, s)
	return err
}

// Paint adds final lines above the region and shows the region as it is now.
func (p *Inline) Paint(final []styled.Line, r Region) error {
	if r.Title != p.title && !p.simple {
		p.buf.WriteString(ansi.SetWindowTitle(r.Title))
		p.title = r.Title
	}
	if !p.simple {
		p.buf.WriteString(progress(p.shown, r.Progress))
		p.shown = r.Progress
	}
	p.up()
	p.buf.WriteByte('\r')
	if len(final) > 0 {
		p.buf.WriteString(ansi.EraseScreenBelow)
		p.rows = nil
		var b strings.Builder
		for _, line := range final {
			line.Write(&b, "")
			b.WriteString("\r\n")
		}
		p.buf.WriteString(b.String())
	}
	p.region(r.Lines)
	p.cursor(r)
	return p.frame(r.Cursor != nil)
}

// region writes the rows that changed. The cursor is in the first row before and
// in the last row after.
func (p *Inline) region(rows []styled.Line) {
	for i, row := range rows {
		if i > 0 {
			p.buf.WriteString("\r\n")
		}
		if i < len(p.rows) {
			p.change(p.rows[i], row)
		} else {
			p.buf.WriteString(row.String())
		}
	}
	if len(p.rows) > len(rows) { // rows are left over below
		p.buf.WriteString("\r\n" + ansi.EraseScreenBelow + ansi.CursorUp(1))
	}
	p.rows = rows
	p.row = max(0, len(rows)-1)
}

// change writes the part of a row that differs from what is shown.
func (p *Inline) change(old, row styled.Line) {
	same, col := 0, 0
	for same < len(row) && same < len(old) && row[same] == old[same] {
		col += styled.Width(row[same].Text, p.method)
		same++
	}
	if same == len(row) && same == len(old) {
		return
	}
	rest := slices.Clone(row[same:])
	if same < len(old) && len(rest) > 0 {
		if more, ok := appended(old[same], rest[0]); ok {
			col += styled.Width(old[same].Text, p.method)
			rest[0].Text = more
		}
	}
	if col > 0 {
		p.buf.WriteString(ansi.CursorForward(col))
	}
	if row.Width(p.method) < old.Width(p.method) {
		p.buf.WriteString(ansi.EraseLineRight) // after a full row it would erase the row's end
	}
	p.buf.WriteString(rest.String())
}

// appended returns what was added to a span, if that begins a new cluster.
func appended(old, span styled.Span) (more string, ok bool) {
	more, ok = strings.CutPrefix(span.Text, old.Text)
	ok = ok && old.Style == span.Style && old.Link == span.Link && old.Text != "" && more != "" &&
		more[0] < 0x80 && old.Text[len(old.Text)-1] < 0x80
	return more, ok
}

func (p *Inline) cursor(r Region) {
	p.buf.WriteByte('\r')
	if r.Cursor == nil {
		return
	}
	p.caret.show(&p.buf, r.Cursor, p.simple)
	if up := p.row - r.Cursor.Y; up > 0 {
		p.buf.WriteString(ansi.CursorUp(up))
		p.row = r.Cursor.Y
	}
	if r.Cursor.X > 0 {
		p.buf.WriteString(ansi.CursorForward(r.Cursor.X))
	}
}

// frame writes what was collected so that nobody sees half of it.
func (p *Inline) frame(cursor bool) error {
	body := bytes.Clone(p.buf.Bytes())
	p.buf.Reset()
	if p.sync {
		p.buf.WriteString(ansi.SetModeSynchronizedOutput)
	}
	p.buf.WriteString(ansi.ResetModeTextCursorEnable)
	p.buf.Write(body)
	if cursor {
		p.buf.WriteString(ansi.SetModeTextCursorEnable)
	}
	if p.sync {
		p.buf.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	return p.flush(p.out)
}

func (p *Inline) flush(to io.Writer) error {
	_, err := to.Write(p.buf.Bytes())
	p.buf.Reset()
	return err
}
