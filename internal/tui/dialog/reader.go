package dialog

import (
	"fmt"

	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// FillKey makes a text that does not fit fill the screen, and shrinks it again.
// It is not a letter, because letters answer questions.
const FillKey = "ctrl+f"

// Reader shows a text that may be longer than fits, and knows how much of it has
// been shown.
type Reader struct {
	top, room, total int
	reached          int  // lines that were shown, from the first
	Full             bool // the person wants to see it on the whole screen
}

// Unread returns how many lines at the end were never on screen.
func (r *Reader) Unread() int { return max(0, r.total-r.reached) }

// overflows reports whether there is more than fits.
func (r *Reader) overflows() bool { return r.total > r.room }

// Window returns the lines that are shown in at most room lines, the last of which
// says what is left out.
func (r *Reader) Window(l look.Look, lines []styled.Line, room int) []styled.Line {
	if len(lines) != r.total {
		r.total, r.reached = len(lines), 0 // the text was drawn for another width
	}
	if len(lines) <= room {
		r.top, r.room, r.reached = 0, room, len(lines)
		return lines
	}
	r.room = max(1, room-1)
	r.top = max(0, min(r.top, len(lines)-r.room))
	end := r.top + r.room
	if r.top <= r.reached || end == len(lines) {
		r.reached = max(r.reached, end)
	}
	out := lines[r.top:end:end]
	if room < 2 {
		return out
	}
	dot, fill := l.Glyph(" · ", " - "), FillKey+" fills the screen"
	if r.Full {
		fill = FillKey + " makes it smaller"
	}
	text := l.T(fmt.Sprintf("lines %d%s%d of %d", r.top+1, l.Glyph("–", "-"), end, len(lines))) + dot + l.T("pgup pgdn scroll") + dot + l.T(fill)
	return append(out, styled.Plain(text, l.FG(theme.Warning)).Cut(l.Width-3, l.Method))
}

// Key scrolls, and reports whether the keystroke is one that does.
func (r *Reader) Key(stroke string) bool {
	switch {
	case stroke == FillKey:
		r.Full = !r.Full
		return true
	case !r.overflows():
		return false
	}
	switch stroke {
	case "pgup":
		r.top -= max(1, r.room-1)
	case "pgdown":
		r.top += max(1, r.room-1)
	case "home":
		r.top = 0
	case "end":
		r.top = r.total
	case "shift+up":
		r.top--
	case "shift+down":
		r.top++
	default:
		return false
	}
	r.top = max(0, min(r.top, r.total-r.room))
	return true
}

// Wheel scrolls by lines, and reports whether there is more than fits.
func (r *Reader) Wheel(by int) bool {
	if !r.overflows() {
		return false
	}
	r.top = max(0, min(r.top+by, r.total-r.room))
	return true
}

// GiveKey is the key that allows something from now on. It is not a letter and
// not the key that opens the form, so that typing a word or a line never allows
// anything for good.
const GiveKey = "ctrl+y"
