package tui

import (
	"fmt"

	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// fillKey makes a text that does not fit fill the screen, and back. It is no
// letter, since letters answer questions.
const fillKey = "ctrl+f"

// reader shows a text of which there may be more than fits, and knows how far it
// was shown.
type reader struct {
	top, room, total int
	reached          int  // lines that were shown, from the first
	full             bool // the person wants to see it on the whole screen
}

// unread returns how many lines at the end were never on screen.
func (r *reader) unread() int { return max(0, r.total-r.reached) }

// overflows reports whether there is more than fits.
func (r *reader) overflows() bool { return r.total > r.room }

// window returns the lines that are shown in at most room lines, the last of which
// says what is left out.
func (r *reader) window(l look, lines []styled.Line, room int) []styled.Line {
	if len(lines) != r.total {
		r.total, r.reached = len(lines), 0 // drawn for another width
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
	text := fmt.Sprintf("lines %d%s%d of %d%spgup pgdn scroll%s", r.top+1, l.glyph("–", "-"), end, len(lines), l.glyph(" · ", " - "), l.glyph(" · ", " - "))
	switch {
	case r.full:
		text += fillKey + " makes it smaller"
	default:
		text += fillKey + " fills the screen"
	}
	return append(out, styled.Plain(text, l.fg(theme.Warning)).Cut(l.width-3, l.method))
}

// key scrolls, and reports whether the keystroke is one that does.
func (r *reader) key(stroke string) bool {
	switch {
	case stroke == fillKey:
		r.full = !r.full
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

// wheel scrolls by lines, and reports whether there is more than fits.
func (r *reader) wheel(by int) bool {
	if !r.overflows() {
		return false
	}
	r.top = max(0, min(r.top+by, r.total-r.room))
	return true
}

// giveKey is what allows from now on. It is no letter, and not the key that opens
// the form: a word or a line that somebody types never gives anything for good.
const giveKey = "ctrl+y"
