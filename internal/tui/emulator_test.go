package tui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe/internal/tui/styled"
)

// emulator is a terminal: it takes what a program writes and holds what a person
// would see. It knows what the painter uses, and counts what it does not know.
type emulator struct {
	w, h     int
	cells    [][]string // "" is the right half of a wide one
	x, y     int
	top, bot int // scroll region
	last     string
	pending  bool // the cursor stands behind the last column
	unknown  []string
	rest     string
	bytes    int
	history  []string // lines that left at the top
}

func newEmulator(w, h int) *emulator {
	e := &emulator{}
	e.resize(w, h)
	return e
}

func (e *emulator) resize(w, h int) {
	cells := make([][]string, h)
	for y := range cells {
		cells[y] = blankRow(w)
		if y < len(e.cells) {
			copy(cells[y], e.cells[y])
		}
	}
	e.w, e.h, e.cells, e.top, e.bot = w, h, cells, 0, h-1
	e.x, e.y, e.pending = min(e.x, w-1), min(e.y, h-1), false
}

func blankRow(w int) []string {
	row := make([]string, w)
	for i := range row {
		row[i] = " "
	}
	return row
}

func (e *emulator) Write(p []byte) (int, error) {
	e.bytes += len(p)
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
func (e *emulator) step(s string) int {
	switch s[0] {
	case '\x1b':
		return e.escape(s)
	case '\r':
		e.x, e.pending = 0, false
	case '\n':
		e.down()
		e.pending = false
	case '\b':
		e.x, e.pending = max(0, e.x-1), false
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

func (e *emulator) down() {
	if e.y == e.bot {
		e.scroll(1, e.top)
	} else if e.y < e.h-1 {
		e.y++
	}
}

func (e *emulator) put(c string, w int) {
	if w == 0 {
		return
	}
	if e.pending || e.x+w > e.w {
		e.x, e.pending = 0, false
		e.down()
	}
	row := e.cells[e.y]
	if row[e.x] == "" && e.x > 0 {
		row[e.x-1] = " "
	}
	row[e.x] = c
	for i := 1; i < w && e.x+i < e.w; i++ {
		row[e.x+i] = ""
	}
	for i := e.x + w; i < e.w && row[i] == ""; i++ {
		row[i] = " "
	}
	e.last = c
	if e.x += w; e.x >= e.w {
		e.x, e.pending = e.w-1, true
	}
}

func (e *emulator) escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case ']', 'P':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' && i+1 < len(s) {
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
		if e.y == e.top {
			e.scroll(-1, e.top)
		} else {
			e.y--
		}
	case '7', '8', '=', '>':
	default:
		e.unknown = append(e.unknown, s[:2])
	}
	return 2
}

func (e *emulator) csi(args string, final byte) {
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
		e.y, e.x = min(n, e.h)-1, min(arg(1, 1), e.w)-1
	case 'A':
		e.y = max(0, e.y-n)
	case 'B':
		e.y = min(e.h-1, e.y+n)
	case 'C', 'a':
		e.x = min(e.w-1, e.x+n)
	case 'D':
		e.x = max(0, e.x-n)
	case 'G', '`':
		e.x = min(n, e.w) - 1
	case 'd':
		e.y = min(n, e.h) - 1
	case 'E', 'F':
		e.x = 0
		if final == 'F' {
			n = -n
		}
		e.y = max(0, min(e.h-1, e.y+n))
	case 'r':
		e.top, e.bot, e.x, e.y = n-1, arg(1, e.h)-1, 0, 0
	case 'J', 'K', 'X', 'P', '@':
		e.erase(final, arg(0, 0))
	case 'L':
		e.scroll(-n, e.y)
	case 'M':
		e.scroll(n, e.y)
	case 'S':
		e.scroll(n, e.top)
	case 'T':
		e.scroll(-n, e.top)
	case 'b':
		for range n {
			_, w := styled.Cluster(e.last, styled.WcWidth)
			e.put(e.last, w)
		}
	case 'm', 'u', 'h', 'l', 'q', 'W':
	default:
		e.unknown = append(e.unknown, args+string(final))
	}
}

func (e *emulator) erase(final byte, n int) {
	row := e.cells[e.y]
	switch final {
	case 'J':
		for y := range e.cells {
			if n == 2 || n == 0 && y > e.y || n == 1 && y < e.y {
				e.cells[y] = blankRow(e.w)
			}
		}
		if n == 2 {
			return
		}
		fallthrough
	case 'K':
		from, to := e.x, e.w
		if n == 1 {
			from, to = 0, e.x+1
		} else if n == 2 {
			from = 0
		}
		copy(row[from:to], blankRow(to-from))
	case 'X':
		to := min(e.w, e.x+max(n, 1))
		copy(row[e.x:to], blankRow(to-e.x))
	case 'P':
		n = min(max(n, 1), e.w-e.x)
		copy(row[e.x:], row[e.x+n:])
		copy(row[e.w-n:], blankRow(n))
	case '@':
		n = min(max(n, 1), e.w-e.x)
		copy(row[e.x+n:], row[e.x:e.w-n])
		copy(row[e.x:e.x+n], blankRow(n))
	}
}

// scroll moves the lines from top to the end of the region, up for positive n.
func (e *emulator) scroll(n, top int) {
	for range max(n, -n) {
		if n > 0 {
			if top == 0 && e.top == 0 {
				e.history = append(e.history, strings.TrimRight(strings.Join(e.cells[0], ""), " "))
			}
			copy(e.cells[top:e.bot], e.cells[top+1:e.bot+1])
			e.cells[e.bot] = blankRow(e.w)
		} else {
			copy(e.cells[top+1:e.bot+1], e.cells[top:e.bot])
			e.cells[top] = blankRow(e.w)
		}
	}
}

// lines returns what is on the screen.
func (e *emulator) lines() []string {
	out := make([]string, e.h)
	for y, row := range e.cells {
		out[y] = strings.TrimRight(strings.Join(row, ""), " ")
	}
	return out
}
