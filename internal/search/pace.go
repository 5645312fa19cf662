package search

import "time"

const (
	firstPiece = 16 << 10
	leastPiece = 1 << 10
	shortTime  = 2 * time.Millisecond
	longTime   = 20 * time.Millisecond
)

// pace decides how much is searched before checking whether to stop. Most
// expressions take a block at once; a few take milliseconds for a kilobyte.
type pace struct{ piece int }

// next returns how many bytes of text to search: whole lines, unless a line is long
// and the expression slow.
func (p *pace) next(text []byte, e *expr) int {
	if p.piece == 0 {
		p.piece = firstPiece
	}
	if len(text) <= p.piece {
		return len(text)
	}
	end := min(lineEnd(text, p.piece)+1, len(text))
	if end > 16*p.piece { // a long line: would it take too long?
		begin := time.Now()
		e.matches(text[:p.piece])
		p.took(p.piece, time.Since(begin))
	}
	if p.piece < firstPiece && end > 16*p.piece {
		end = 16 * p.piece
	}
	return end
}

// took fits the size to what a piece of n bytes took.
func (p *pace) took(n int, d time.Duration) {
	switch {
	case d > longTime:
		p.piece = max(min(p.piece, n)/4, leastPiece)
	case d < shortTime && n >= p.piece:
		p.piece = min(p.piece*4, maxLine)
	}
}
