package page

import (
	"strings"
	"unicode/utf8"

	"lathe/internal/diff"
	"lathe/internal/printable"
)

// patch shows a unified diff. Where as many lines were added as removed, the words that
// differ are marked.
func (p *page) patch(unified string) {
	rows := diff.Read(unified)
	files := 0
	for _, r := range rows {
		if r.Mark == diff.MarkFile {
			files++
		}
	}
	p.put("<pre>")
	hunks := 0
	for i := 0; i < len(rows); {
		switch r := rows[i]; r.Mark {
		case diff.MarkFile:
			if hunks = 0; files > 1 {
				p.put("<b>", rowText(r), "</b>\n")
			}
		case diff.MarkHunk:
			if hunks++; hunks > 1 {
				p.put("<s>⋯</s>\n")
			}
		case diff.MarkGone, diff.MarkNew:
			n := p.change(rows[i:])
			i += n
			continue
		default:
			p.put(" ", rowText(r), "\n")
		}
		i++
	}
	p.put("</pre>")
}

// rowText returns a line of a diff as HTML.
func rowText(r diff.Row) string {
	return escaper.Replace(strings.ReplaceAll(printable.Text(r.Text, printable.Options{}), "\n", ""))
}

// change shows removed lines and the added ones after them, and says how many it took.
func (p *page) change(rows []diff.Row) int {
	removed := prefixOf(rows, diff.MarkGone)
	added := prefixOf(rows[removed:], diff.MarkNew)
	pairs := removed == added
	for i := range removed {
		body := rowText(rows[i])
		if pairs {
			body = marked(rows[i].Text, rows[removed+i].Text)
		}
		p.put("<del>-", body, "\n</del>")
	}
	for i := range added {
		body := rowText(rows[removed+i])
		if pairs {
			body = marked(rows[removed+i].Text, rows[i].Text)
		}
		p.put("<ins>+", body, "\n</ins>")
	}
	return removed + added
}

func prefixOf(rows []diff.Row, m diff.Mark) int {
	n := 0
	for n < len(rows) && rows[n].Mark == m {
		n++
	}
	return n
}

// marked returns a line as HTML with the part marked in which it differs from another. Lines
// that have little in common are not marked.
func marked(s, other string) string {
	s, other = printable.Text(s, printable.Options{}), printable.Text(other, printable.Options{})
	from := 0
	for from < len(s) && from < len(other) && s[from] == other[from] {
		from++
	}
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	end := 0
	for end < len(s)-from && end < len(other)-from && s[len(s)-1-end] == other[len(other)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(s[len(s)-end]) {
		end--
	}
	middle := s[from : len(s)-end]
	if middle == "" || 2*(len(strings.TrimSpace(s[:from]))+end) < len(middle) {
		return escaper.Replace(s)
	}
	return escaper.Replace(s[:from]) + "<mark>" + escaper.Replace(middle) + "</mark>" + escaper.Replace(s[len(s)-end:])
}
