package markup

// Delimiters remembers where each opening mark of one text is closed, so that reading it
// stays linear in the text, whatever it contains. The zero value is ready.
type Delimiters struct {
	unclosed              map[string]bool // runs that were looked for and not found
	brackets, parentheses []int32         // where each is closed; 0: nowhere. nil: not looked for yet
}

// missing remembers that a mark is not closed any more.
func (d *Delimiters) missing(mark string) {
	if d.unclosed == nil {
		d.unclosed = map[string]bool{}
	}
	d.unclosed[mark] = true
}

// bracket returns where the bracket at a position is closed, or 0.
func (d *Delimiters) bracket(text string, at int) int {
	if d.brackets == nil {
		d.brackets = pairsOf(text, '[', ']', true)
	}
	return int(d.brackets[at])
}

// parenthesis returns where the parenthesis at a position is closed, or 0.
func (d *Delimiters) parenthesis(text string, at int) int {
	if d.parentheses == nil {
		d.parentheses = pairsOf(text, '(', ')', false)
	}
	return int(d.parentheses[at])
}

// pairsOf finds for each opening character the one that closes it.
func pairsOf(text string, open, closes byte, escapes bool) []int32 {
	out := make([]int32, len(text))
	var waiting []int32
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && escapes:
			i++
		case c == open:
			waiting = append(waiting, int32(i))
		case c == closes && len(waiting) > 0:
			out[waiting[len(waiting)-1]] = int32(i)
			waiting = waiting[:len(waiting)-1]
		}
	}
	return out
}
