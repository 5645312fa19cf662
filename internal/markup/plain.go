package markup

import "strings"

// Plain returns the words of a text on one line, without what only says how they look: a name for
// the text. Code stays as it is.
func Plain(text string) string {
	var out []string
	fence := ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		open := fence
		if fence = FenceAfter(fence, line); fence != open {
			continue
		}
		if fence == "" {
			line = unmarked(line)
			if line != "" && i > 0 && Table(lines[i-1], line) {
				continue
			}
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

// unmarked returns a line of a block without its marks.
func unmarked(line string) string {
	for range MaxDepth {
		before := line
		line = strings.TrimSpace(strings.TrimLeft(line, ">"))
		if line == "" || Rule(line) {
			return ""
		}
		if level, text := Heading(line); level > 0 {
			line = text
		} else if shown, n, ok := Marker(line); ok && shown == "" { // a number says something
			line = line[min(n, len(line)):]
		}
		if line == before || line == "" {
			break
		}
	}
	return words(line, 0)
}

// words returns a text without the marks of its elements.
func words(text string, depth int) string {
	var d Delimiters
	var b strings.Builder
	plain := 0
	for at := 0; at < len(text); {
		e, n := d.Element(text, at, depth < MaxNest, true)
		if n == 0 {
			at++
			continue
		}
		b.WriteString(text[plain:at])
		switch e.Kind {
		case Literal, Code, Auto, Math:
			b.WriteString(e.Text)
		default:
			b.WriteString(words(e.Text, depth+1))
		}
		at += n
		plain = at
	}
	b.WriteString(text[plain:])
	return b.String()
}
