// Package emulator is a terminal for tests: it takes what a program writes and holds
// what a person would see.
package emulator

import (
	"strconv"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"

	"lathe/internal/tui/styled"
)

// Terminal is a terminal of a fixed size. It knows what the painter uses, and counts what it does not know.
type Terminal struct {
	w, h     int
	cells    [][]cell
	pen      uv.Style // how the next cluster is drawn
	X, Y     int      // of the cursor
	top, bot int      // scroll region
	last     string
	pending  bool     // the cursor stands behind the last column
	Unknown  []string // sequences that it did not understand
	rest     string
	Bytes    int      // that were written
	History  []string // lines that left at the top
	Title    string   // of the window
	kept     []string // titles that come back
	Caret    string   // its shape as DECSCUSR names it: "" or "0" is the person's own
	Progress string   // in the taskbar: "" or the state and the value, such as "3;0"
}

// cell is one place of the screen.
type cell struct {
	text  string // "" is the right half of a wide one
	style uv.Style
}

// New returns an empty terminal.
func New(w, h int) *Terminal {
	e := &Terminal{}
	e.Resize(w, h)
	return e
}

// Resize changes the size as terminals do that do not rewrap lines.
func (e *Terminal) Resize(w, h int) {
	cells := make([][]cell, h)
	for y := range cells {
		cells[y] = e.blank(w)
		if y < len(e.cells) {
			copy(cells[y], e.cells[y])
		}
	}
	e.w, e.h, e.cells, e.top, e.bot = w, h, cells, 0, h-1
	e.X, e.Y, e.pending = min(e.X, w-1), min(e.Y, h-1), false
}

// blank are n erased places: they have the colour of the background that is set.
func (e *Terminal) blank(n int) []cell {
	row := make([]cell, n)
	for i := range row {
		row[i] = cell{" ", uv.Style{Bg: e.pen.Bg}}
	}
	return row
}

// Write takes what a program writes.
func (e *Terminal) Write(p []byte) (int, error) {
	e.Bytes += len(p)
	s := e.rest + string(p)
	e.rest = ""
	for s != "" {
		n := e.step(s)
		if n == 0 {
			e.rest = s
			break
		}
		s = s[n:]
	}
	return len(p), nil
}

// step takes one control or cluster; 0 means that it is not complete.
func (e *Terminal) step(s string) int {
	switch s[0] {
	case '\x1b':
		return e.escape(s)
	case '\r':
		e.X, e.pending = 0, false
	case '\n':
		e.down()
		e.pending = false
	case '\b':
		e.X, e.pending = max(0, e.X-1), false
	case '\a':
	default:
		c, w := styled.Cluster(s, styled.WcWidth)
		if !utf8.FullRuneInString(s) {
			return 0
		}
		e.put(c, w)
		return len(c)
	}
	return 1
}

func (e *Terminal) down() {
	if e.Y == e.bot {
		e.scroll(1, e.top)
	} else if e.Y < e.h-1 {
		e.Y++
	}
}

func (e *Terminal) put(c string, w int) {
	if w == 0 {
		return
	}
	if e.pending || e.X+w > e.w {
		e.X, e.pending = 0, false
		e.down()
	}
	row := e.cells[e.Y]
	if row[e.X].text == "" && e.X > 0 {
		row[e.X-1].text = " "
	}
	row[e.X] = cell{c, e.pen}
	for i := 1; i < w && e.X+i < e.w; i++ {
		row[e.X+i] = cell{"", e.pen}
	}
	for i := e.X + w; i < e.w && row[i].text == ""; i++ {
		row[i].text = " "
	}
	e.last = c
	if e.X += w; e.X >= e.w {
		e.X, e.pending = e.w-1, true
	}
}

func (e *Terminal) escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case ']', 'P':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				e.osc(s[1:i])
				return i + 1
			}
			if s[i] == '\x1b' && i+1 < len(s) {
				e.osc(s[1:i])
				return i + 2
			}
		}
		return 0
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 {
				e.csi(s[2:i], s[i])
				return i + 1
			}
		}
		return 0
	case 'M':
		if e.Y == e.top {
			e.scroll(-1, e.top)
		} else {
			e.Y--
		}
	case '7', '8', '=', '>':
	default:
		e.Unknown = append(e.Unknown, s[:2])
	}
	return 2
}

// osc obeys what sets the title of the window and the progress in the taskbar.
func (e *Terminal) osc(s string) {
	if title, ok := strings.CutPrefix(s, "]2;"); ok {
		e.Title = title
	}
	if state, ok := strings.CutPrefix(s, "]9;4;"); ok {
		if e.Progress = state; strings.HasPrefix(state, "0") {
			e.Progress = ""
		}
	}
}

// titles keeps the title, or brings the last one back.
func (e *Terminal) titles(args string) {
	switch n := len(e.kept); {
	case args == "22;2":
		e.kept = append(e.kept, e.Title)
	case args == "23;2" && n > 0:
		e.Title, e.kept = e.kept[n-1], e.kept[:n-1]
	}
}

func (e *Terminal) csi(args string, final byte) {
	if shape, ok := strings.CutSuffix(args, " "); ok && final == 'q' {
		e.Caret = shape
		return
	}
	if strings.ContainsAny(args, "?><=$ ") {
		return // modes and questions
	}
	var nums []int
	for f := range strings.SplitSeq(args, ";") {
		n, _ := strconv.Atoi(f)
		nums = append(nums, n)
	}
	arg := func(i, def int) int {
		if i < len(nums) && nums[i] > 0 {
			return nums[i]
		}
		return def
	}
	n := arg(0, 1)
	e.pending = e.pending && final == 'm'
	switch final {
	case 'H', 'f':
		e.Y, e.X = min(n, e.h)-1, min(arg(1, 1), e.w)-1
	case 'A':
		e.Y = max(0, e.Y-n)
	case 'B':
		e.Y = min(e.h-1, e.Y+n)
	case 'C', 'a':
		e.X = min(e.w-1, e.X+n)
	case 'D':
		e.X = max(0, e.X-n)
	case 'G', '`':
		e.X = min(n, e.w) - 1
	case 'd':
		e.Y = min(n, e.h) - 1
	case 'E', 'F':
		e.X = 0
		if final == 'F' {
			n = -n
		}
		e.Y = max(0, min(e.h-1, e.Y+n))
	case 'r':
		e.top, e.bot, e.X, e.Y = n-1, arg(1, e.h)-1, 0, 0
	case 'J', 'K', 'X', 'P', '@':
		e.erase(final, arg(0, 0))
	case 'L':
		e.scroll(-n, e.Y)
	case 'M':
		e.scroll(n, e.Y)
	case 'S':
		e.scroll(n, e.top)
	case 'T':
		e.scroll(-n, e.top)
	case 'b':
		for range n {
			_, w := styled.Cluster(e.last, styled.WcWidth)
			e.put(e.last, w)
		}
	case 'm':
		uv.ReadStyle(params(args), &e.pen)
	case 't':
		e.titles(args)
	case 'u', 'h', 'l', 'q', 'W':
	default:
		e.Unknown = append(e.Unknown, args+string(final))
	}
}

func (e *Terminal) erase(final byte, n int) {
	row := e.cells[e.Y]
	switch final {
	case 'J':
		for y := range e.cells {
			if n == 2 || n == 0 && y > e.Y || n == 1 && y < e.Y {
				e.cells[y] = e.blank(e.w)
			}
		}
		if n == 2 {
			return
		}
		fallthrough
	case 'K':
		from, to := e.X, e.w
		if n == 1 {
			from, to = 0, e.X+1
		} else if n == 2 {
			from = 0
		}
		copy(row[from:to], e.blank(to-from))
	case 'X':
		to := min(e.w, e.X+max(n, 1))
		copy(row[e.X:to], e.blank(to-e.X))
	case 'P':
		n = min(max(n, 1), e.w-e.X)
		copy(row[e.X:], row[e.X+n:])
		copy(row[e.w-n:], e.blank(n))
	case '@':
		n = min(max(n, 1), e.w-e.X)
		copy(row[e.X+n:], row[e.X:e.w-n])
		copy(row[e.X:e.X+n], e.blank(n))
	}
}

// scroll moves the lines from top to the end of the region, up for positive n.
func (e *Terminal) scroll(n, top int) {
	for range max(n, -n) {
		if n > 0 {
			if top == 0 && e.top == 0 {
				e.History = append(e.History, line(e.cells[0]))
			}
			copy(e.cells[top:e.bot], e.cells[top+1:e.bot+1])
			e.cells[e.bot] = e.blank(e.w)
		} else {
			copy(e.cells[top+1:e.bot+1], e.cells[top:e.bot])
			e.cells[top] = e.blank(e.w)
		}
	}
}

// Lines returns what is on the screen.
func (e *Terminal) Lines() []string {
	out := make([]string, e.h)
	for y, row := range e.cells {
		out[y] = line(row)
	}
	return out
}

// line is the text of a row.
func line(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// params reads the numbers of a sequence, where a colon joins those of one value.
func params(args string) (all ansi.Params) {
	for f := range strings.SplitSeq(args, ";") {
		parts := strings.Split(f, ":")
		for i, part := range parts {
			n, err := strconv.Atoi(part)
			if err != nil {
				n = parser.MissingParam
			}
			if i < len(parts)-1 {
				n |= parser.HasMoreFlag
			}
			all = append(all, ansi.Param(n))
		}
	}
	return all
}
