package page

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/markup"
	"lathe/internal/mermaid"
	"lathe/internal/printable"
)

// maxMarkdown bounds the text that is read as Markdown, in bytes; a longer one is shown as
// it is written.
const maxMarkdown = 1 << 20

// markdown returns Markdown as HTML. HTML in it is shown as it is written, pictures that
// it names are links, and only addresses of the web and of mail can be followed.
func markdown(src string) string {
	src = strings.Trim(printable.Text(src, printable.Options{Tab: "    ", Return: printable.BreakLine}), "\n")
	if len(src) > maxMarkdown {
		return "<pre>" + escaper.Replace(src) + "</pre>\n"
	}
	var w writer
	w.blocks(strings.Split(src, "\n"), 0)
	return w.String()
}

// writer writes blocks.
type writer struct{ strings.Builder }

func (w *writer) put(html ...string) {
	for _, s := range html {
		w.WriteString(s)
	}
}

func (w *writer) blocks(src []string, depth int) {
	for len(src) > 0 {
		n := 1
		if strings.TrimSpace(src[0]) != "" {
			n = w.block(src, depth)
		}
		src = src[n:]
	}
}

// block writes the block that the source begins with and says how many lines it has.
func (w *writer) block(src []string, depth int) int {
	l := strings.TrimLeft(src[0], " ")
	if markup.Indent(src[0]) >= 4 {
		return w.indented(src)
	}
	if f := markup.Fence(l); f != "" {
		return w.fenced(src, f)
	}
	if level, text := markup.Heading(l); level > 0 {
		w.heading(level, text)
		return 1
	}
	if markup.Rule(l) {
		w.put("<hr>\n")
		return 1
	}
	if depth < markup.MaxDepth {
		if l[0] == '>' {
			return w.quote(src, depth)
		}
		if _, _, ok := markup.Marker(l); ok {
			return w.list(src, depth)
		}
	}
	if len(src) > 1 && markup.Table(l, src[1]) {
		return w.table(src)
	}
	return w.paragraph(src, depth)
}

// heading writes a heading below those of the page.
func (w *writer) heading(level int, text string) {
	tag := "h" + strconv.Itoa(min(level+2, 6))
	w.put("<", tag, ">")
	w.inline(text)
	w.put("</", tag, ">\n")
}

func (w *writer) paragraph(src []string, depth int) int {
	n := 1
	for ; n < len(src); n++ {
		l := strings.TrimLeft(src[n], " ")
		if l == "" {
			break
		}
		if level := underline(l); level > 0 {
			w.heading(level, strings.Join(src[:n], " "))
			return n + 1
		}
		if interrupts(src[n:], l, depth) {
			break
		}
	}
	w.put("<p>")
	w.inline(markup.Joined(src[:n]))
	w.put("</p>\n")
	return n
}

// underline returns the level of the heading that a line makes of those above it, or 0.
func underline(l string) int {
	l = strings.TrimRight(l, " ")
	switch {
	case strings.Trim(l, "=") == "":
		return 1
	case len(l) > 1 && strings.Trim(l, "-") == "":
		return 2
	}
	return 0
}

// interrupts reports whether a line ends the paragraph above it.
func interrupts(src []string, l string, depth int) bool {
	if level, _ := markup.Heading(l); level > 0 || markup.Fence(l) != "" || markup.Rule(l) || len(src) > 1 && markup.Table(l, src[1]) {
		return true
	}
	if depth >= markup.MaxDepth {
		return false
	}
	shown, _, ok := markup.Marker(l)
	return l[0] == '>' || ok && (shown == "" || shown == "1." || shown == "1)")
}

func (w *writer) quote(src []string, depth int) int {
	var inner []string
	for _, l := range src {
		l = strings.TrimLeft(l, " ")
		if !strings.HasPrefix(l, ">") {
			break
		}
		inner = append(inner, strings.TrimPrefix(l[1:], " "))
	}
	w.put("<blockquote>")
	w.blocks(inner, depth+1)
	w.put("</blockquote>\n")
	return len(inner)
}

func (w *writer) fenced(src []string, fence string) int {
	indent := markup.Indent(src[0])
	n := 1
	for n < len(src) && markup.FenceAfter(fence, strings.TrimLeft(src[n], " ")) != "" {
		n++
	}
	body := make([]string, n-1)
	for i, l := range src[1:n] {
		body[i] = l[min(markup.Indent(l), indent):]
	}
	lang, _, _ := strings.Cut(strings.TrimSpace(src[0][indent+len(fence):]), " ")
	w.code(lang, body)
	return min(n+1, len(src))
}

func (w *writer) indented(src []string) int {
	var body []string
	for _, l := range src {
		if markup.Indent(l) < 4 && strings.TrimSpace(l) != "" {
			break
		}
		body = append(body, l[min(4, len(l)):])
	}
	w.code("", body)
	return len(body)
}

func (w *writer) code(lang string, body []string) {
	if lang == "mermaid" {
		if drawn, ok := mermaid.Lines(body, false); ok {
			lang, body = "", drawn
		}
	}
	w.put("<pre>")
	if lang == "diff" || lang == "patch" {
		for _, l := range body {
			w.put(diffLine(l))
		}
	} else {
		w.put(code(lang, strings.Join(body, "\n")))
	}
	w.put("</pre>\n")
}

func diffLine(l string) string {
	body := escaper.Replace(l) + "\n"
	switch {
	case strings.HasPrefix(l, "+"):
		return "<ins>" + body + "</ins>"
	case strings.HasPrefix(l, "-"):
		return "<del>" + body + "</del>"
	}
	return body
}

func (w *writer) table(src []string) int {
	aligns := markup.Cells(src[1])
	classes := make([]string, len(aligns))
	for i, a := range aligns {
		switch left, right := strings.HasPrefix(a, ":"), strings.HasSuffix(a, ":"); {
		case left && right:
			classes[i] = " class=m"
		case right:
			classes[i] = " class=r"
		}
	}
	w.put("<div class=wide><table>\n")
	w.row("th", markup.Cells(src[0]), classes)
	n := 2
	for ; n < len(src) && strings.Contains(src[n], "|"); n++ {
		w.row("td", markup.Cells(src[n]), classes)
	}
	w.put("</table></div>\n")
	return n
}

func (w *writer) row(tag string, cells, classes []string) {
	w.put("<tr>")
	for i, class := range classes {
		w.put("<", tag, class, ">")
		if i < len(cells) {
			w.inline(strings.ReplaceAll(cells[i], `\|`, "|"))
		}
	}
	w.put("\n")
}

// list writes the items of a list, of one kind: a list of numbers ends where bullets begin.
func (w *writer) list(src []string, depth int) (n int) {
	first, _, _ := markup.Marker(strings.TrimLeft(src[0], " "))
	w.put(listTag(first), "\n")
	for n < len(src) {
		shown, size, ok := item(src[n:])
		if !ok || (shown == "") != (first == "") {
			break
		}
		w.item(src[n:n+size], shown, depth)
		n += size
		if next := afterBlank(src[n:]); next > 0 {
			if again, _, ok := item(src[n+next:]); ok && (again == "") == (first == "") {
				n += next
			}
		}
	}
	if first == "" {
		w.put("</ul>\n")
	} else {
		w.put("</ol>\n")
	}
	return n
}

func listTag(first string) string {
	if first == "" {
		return "<ul>"
	}
	if n, err := strconv.Atoi(strings.TrimRight(first, ".)")); err == nil && n != 1 {
		return fmt.Sprintf("<ol start=%d>", n)
	}
	return "<ol>"
}

// afterBlank returns 1 if a blank line and then another stand next.
func afterBlank(src []string) int {
	if len(src) > 1 && strings.TrimSpace(src[0]) == "" && strings.TrimSpace(src[1]) != "" {
		return 1
	}
	return 0
}

// item returns how many lines the item has that the source begins with, if it does.
func item(src []string) (shown string, n int, ok bool) {
	l := strings.TrimLeft(src[0], " ")
	indent := markup.Indent(src[0])
	if l == "" || indent >= 4 || markup.Rule(l) {
		return "", 0, false
	}
	shown, width, ok := markup.Marker(l)
	if !ok {
		return "", 0, false
	}
	n = 1
	for n < len(src) && markup.Continues(src, n, indent+width, indent) {
		n++
	}
	for n > 1 && strings.TrimSpace(src[n-1]) == "" {
		n--
	}
	return shown, n, true
}

func (w *writer) item(src []string, shown string, depth int) {
	l := strings.TrimLeft(src[0], " ")
	_, width, _ := markup.Marker(l)
	width += markup.Indent(src[0])
	body := make([]string, len(src))
	body[0] = src[0][min(width, len(src[0])):]
	for i, l := range src[1:] {
		body[i+1] = l[min(markup.Indent(l), width):]
	}
	box := ""
	if len(body[0]) > 3 && shown == "" {
		switch body[0][:4] {
		case "[ ] ":
			box = "☐ "
		case "[x] ", "[X] ":
			box = "☑ "
		}
	}
	if box == "" {
		w.put("<li>")
	} else {
		body[0] = body[0][4:]
		w.put("<li class=task>", box)
	}
	w.tight(body, depth+1)
	w.put("</li>\n")
}

// tight writes the blocks of an item; a text that the item begins with is no paragraph of
// its own.
func (w *writer) tight(src []string, depth int) {
	n := 0
	for n < len(src) && strings.TrimSpace(src[n]) != "" && (n == 0 || !interrupts(src[n:], strings.TrimLeft(src[n], " "), depth)) {
		n++
	}
	if n > 0 && plain(src, depth) {
		w.inline(markup.Joined(src[:n]))
		src = src[n:]
	}
	w.blocks(src, depth)
}

// plain reports whether lines begin with words rather than with another block.
func plain(src []string, depth int) bool {
	l := strings.TrimLeft(src[0], " ")
	if markup.Indent(src[0]) >= 4 || interrupts(src, l, depth) {
		return false
	}
	_, _, list := markup.Marker(l)
	return !list || depth >= markup.MaxDepth
}
