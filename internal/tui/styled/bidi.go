package styled

import (
	"slices"
	"strings"
)

// What a piece of text is put between so that a terminal which arranges text by its direction
// arranges the piece by itself, and neither what stands before it nor after it.
const (
	isolate    = "\u2068" // first strong isolate: the piece's own direction counts
	isolateEnd = "\u2069"
)

// Isolated returns a line in which each piece of text that is written from right to left is
// isolated, so that the columns and marks around it stay where they are. The text itself keeps
// the order in which it is stored. The marks take no cells.
func (l Line) Isolated() Line {
	pieces := l.rightToLeft()
	if pieces == nil {
		return l
	}
	out := slices.Clone(l)
	for _, p := range slices.Backward(pieces) { // so that what comes before keeps its place
		out[p.last].Text = out[p.last].Text[:p.till] + isolateEnd + out[p.last].Text[p.till:]
		out[p.first].Text = out[p.first].Text[:p.from] + isolate + out[p.first].Text[p.from:]
	}
	return out
}

// stretch is from a byte of one span till a byte of another one, or the same.
type stretch struct{ first, from, last, till int }

// rightToLeft finds the pieces: each goes from a letter that is written from right to left to
// the last one before a line that is drawn, two blanks, or the end.
func (l Line) rightToLeft() (out []stretch) {
	open, blank := false, false
	for i, s := range l {
		if !open && !hasRightToLeft(s.Text) {
			continue
		}
		for at, r := range s.Text {
			end := at + len(string(r))
			switch {
			case rightToLeft(r) && !open:
				out, open = append(out, stretch{i, at, i, end}), true
			case rightToLeft(r):
				out[len(out)-1].last, out[len(out)-1].till = i, end
			case r == ' ' && blank, r >= 0x2500 && r < 0x25a0:
				open = false
			}
			blank = r == ' '
		}
	}
	return out
}

func hasRightToLeft(text string) bool { return strings.ContainsFunc(text, rightToLeft) }

// rightToLeft reports whether a sign belongs to a script that is written from right to left:
// Hebrew, Arabic, Syriac, Thaana, N'Ko and the rarer ones, which Unicode keeps in these blocks.
func rightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r < 0x900:
		return true
	}
	return r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}
