package page

import (
	"fmt"
	"strings"
	"time"

	"lathe/internal/highlight"
	"lathe/internal/printable"
)

// escaper makes a text into HTML, between tags. A ">" cannot begin anything, but a page is
// easier to read and to check when it stands in tags alone. Quotes, of which code is full,
// mean nothing there.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// value writes the value of an attribute that needs quotes only where it has blanks.
func value(classes string) string {
	if strings.Contains(classes, " ") {
		return `"` + classes + `"`
	}
	return classes
}

// attribute makes a text into the value of an attribute, with the quotes around it.
func attribute(s string) string {
	return `"` + strings.ReplaceAll(escaper.Replace(s), `"`, "&#34;") + `"`
}

// text returns a text as HTML, without what steers terminals or disguises what it says.
func text(s string) string {
	return escaper.Replace(printable.Text(s, printable.Options{Return: printable.BreakLine}))
}

// line is text on one line.
func line(s string) string { return escaper.Replace(printable.Line(s)) }

// maxCode bounds the code whose parts are told apart, in bytes.
const maxCode = 256 << 10

// codeTags are the elements that stand for the kinds of source code. They are short, since
// a page has thousands; the style sheet gives them their look.
var codeTags = [...]string{highlight.Comment: "s", highlight.Keyword: "b", highlight.Function: "q", highlight.String: "i", highlight.Number: "em", highlight.Type: "u"}

// code returns source code as HTML, highlighted if the language is known.
func code(lang, src string) string {
	src = strings.Trim(printable.Text(src, printable.Options{Return: printable.BreakLine}), "\n")
	if len(src) > maxCode {
		return escaper.Replace(src)
	}
	lines := highlight.Lines(lang, strings.Split(src, "\n"))
	if lines == nil {
		return escaper.Replace(src)
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, span := range l {
			writeSpan(&b, span)
		}
	}
	return b.String()
}

func writeSpan(b *strings.Builder, span highlight.Span) {
	tag := codeTags[span.Kind]
	if tag == "" || strings.TrimSpace(span.Text) == "" {
		b.WriteString(escaper.Replace(span.Text))
		return
	}
	b.WriteString("<" + tag + ">")
	b.WriteString(escaper.Replace(span.Text))
	b.WriteString("</" + tag + ">")
}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// duration says how long something took, with two figures.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// count shortens a number of tokens.
func count(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
