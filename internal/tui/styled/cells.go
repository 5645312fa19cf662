package styled

// Between returns the line with the cells from one column up to another drawn in
// a style on top of their own, and the text of these cells. A cluster belongs to
// them if its first cell does.
func (l Line) Between(from, to int, m Method, style Style) (out Line, text string) {
	if from >= to {
		return l, ""
	}
	col := 0
	for _, s := range l {
		start := col
		if end := start + Width(s.Text, m); end <= from || start >= to {
			out, col = append(out, s), end
			continue
		}
		a, b := len(s.Text), len(s.Text) // bytes of what is between
		for at := 0; at < len(s.Text); {
			c, w := cluster(s.Text[at:], m)
			if col >= from && a == len(s.Text) {
				a = at
			}
			if col >= to && b == len(s.Text) {
				b = at
			}
			col += w
			at += len(c)
		}
		a = min(a, b)
		for i, part := range []string{s.Text[:a], s.Text[a:b], s.Text[b:]} {
			span := Span{Text: part, Style: s.Style, Link: s.Link}
			if i == 1 {
				span.Style = span.Style.With(style)
				text += part
			}
			if part != "" {
				out = append(out, span)
			}
		}
	}
	return out, text
}
