package tool

import (
	"encoding/json"
	"fmt"
	"strings"
)

// mended repairs arguments that would be JSON but for slips that can only mean one
// thing: line ends and tabs inside a text, a backslash before a character that needs
// none, an extra comma, a fence around it all. Nothing is ever added at the end: what
// was cut off stays cut off. Any other text is returned unchanged.
func mended(raw string) string {
	if json.Valid([]byte(raw)) {
		return raw
	}
	text := strings.TrimSpace(raw)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		_, text, _ = strings.Cut(inner, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
	}
	if !strings.HasPrefix(text, "{") {
		return raw
	}
	if text = mendText(text); json.Valid([]byte(text)) {
		return text
	}
	return raw
}

func mendText(text string) string {
	var b strings.Builder
	within := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case within && c == '\\' && i+1 < len(text):
			if !strings.ContainsRune(`"\/bfnrtu`, rune(text[i+1])) {
				b.WriteString(`\\`)
				continue
			}
			i++
			b.WriteByte(c)
			b.WriteByte(text[i])
		case within && c < ' ':
			b.WriteString(escaped(c))
		case !within && c == ',' && closes(text[i+1:]):
		default:
			within = within != (c == '"')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escaped(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// closes reports whether an object or a list ends here.
func closes(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && (rest[0] == '}' || rest[0] == ']')
}
