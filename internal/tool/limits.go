package tool

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"lathe/internal/store/local"
)

// Defaults of [Limits].
const (
	DefaultLines = 2000
	DefaultBytes = 50 << 10
)

// Limits bounds what a tool may tell the model, and keeps the full text of what
// was cut in files. A zero number means the default. It is safe for concurrent
// use and must not be copied or changed once used.
type Limits struct {
	local.Outputs // where the full text is kept
	MaxLines      int
	MaxBytes      int
}

// Cut is a text within the limits.
type Cut struct {
	Text      string
	Truncated bool
	Path      string // file with the full text; empty unless Truncated
}

// Lines returns the limit of lines.
func (l *Limits) Lines() int { return cmp.Or(max(l.MaxLines, 0), DefaultLines) }

// Bytes returns the limit of bytes.
func (l *Limits) Bytes() int { return cmp.Or(max(l.MaxBytes, 0), DefaultBytes) }

// Apply cuts a result's output from its end unless the tool has set
// metadata "truncated" itself, and sets "truncated" and "outputPath". With
// delegate the hint advises to hand the file to a subagent. When the full text
// cannot be saved the output is cut all the same and says so.
func (l *Limits) Apply(res Result, delegate bool) Result {
	if _, set := res.Metadata["truncated"]; set {
		return res
	}
	cut := l.Head(res.Output, delegate)
	meta := make(map[string]any, len(res.Metadata)+2)
	for k, v := range res.Metadata {
		meta[k] = v
	}
	meta["truncated"] = cut.Truncated
	if cut.Path != "" {
		meta["outputPath"] = cut.Path
	}
	res.Output, res.Metadata = cut.Text, meta
	return res
}

// In returns limits whose spill files are in a directory of their own, below
// this one's. An empty name is the directory itself.
func (l *Limits) In(name string) *Limits {
	in := *l
	in.Outputs = l.Outputs.In(name)
	return &in
}

// Head keeps the beginning of a text.
func (l *Limits) Head(text string, delegate bool) Cut {
	kept, removed := l.Window(text, false)
	if removed == "" {
		return Cut{Text: text}
	}
	path, err := l.Save(text)
	return Cut{
		Text:      fmt.Sprintf("%s\n\n...%s truncated...\n\n%s", kept, removed, hint(path, err, delegate)),
		Truncated: true,
		Path:      path,
	}
}

// Tail keeps the end of a text.
func (l *Limits) Tail(text string, delegate bool) Cut {
	kept, removed := l.Window(text, true)
	if removed == "" {
		return Cut{Text: text}
	}
	path, err := l.Save(text)
	return Cut{
		Text:      fmt.Sprintf("...%s truncated...\n\n%s\n\n%s", removed, hint(path, err, delegate), kept),
		Truncated: true,
		Path:      path,
	}
}

func hint(path string, err error, delegate bool) string {
	switch {
	case err != nil:
		return fmt.Sprintf("The call succeeded, but its output was too long, and the full text could not be saved (%v). "+
			"Call the tool again in a way that gives less output.", err)
	case delegate:
		return fmt.Sprintf("The call succeeded, but its output was too long. The full text is saved in: %s\n"+
			"Let a subagent (task tool, explore agent) look through that file with grep, and with read in pieces, "+
			"and report what matters. Do not read the whole file yourself.", path)
	default:
		return fmt.Sprintf("The call succeeded, but its output was too long. The full text is saved in: %s\n"+
			"Search it with grep, or read parts of it with read and its offset and limit.", path)
	}
}

// Window returns the whole lines at one end of the text that fit both limits,
// and what was left out ("12 lines", "9000 bytes"); removed is empty if
// everything fits. A single line that is too long is cut between characters. A
// final newline does not count as a line of its own.
func (l *Limits) Window(text string, tail bool) (kept, removed string) {
	body := strings.TrimSuffix(text, "\n")
	lines := strings.Count(body, "\n") + 1
	if lines <= l.Lines() && len(body) <= l.Bytes() {
		return text, ""
	}
	var n int
	if tail {
		kept, n = lastLines(body, l.Lines(), l.Bytes())
	} else {
		kept, n = firstLines(body, l.Lines(), l.Bytes())
	}
	if n < l.Lines() { // the byte limit stopped us
		return kept, fmt.Sprintf("%d bytes", len(body)-len(kept))
	}
	return kept, fmt.Sprintf("%d lines", lines-n)
}

// firstLines returns the whole lines at the beginning of body that fit, and how
// many there are; zero means that the first line was cut.
func firstLines(body string, maxLines, maxBytes int) (string, int) {
	end, n := -1, 0 // body[:end] are n lines; end is at a newline
	for n < maxLines && end < len(body) {
		next := len(body)
		if i := strings.IndexByte(body[end+1:], '\n'); i >= 0 {
			next = end + 1 + i
		}
		if next > maxBytes {
			break
		}
		end = next
		n++
	}
	if n == 0 {
		return CutHead(body, maxBytes), 0
	}
	return body[:end], n
}

// lastLines is firstLines from the end.
func lastLines(body string, maxLines, maxBytes int) (string, int) {
	start, n := len(body)+1, 0
	for n < maxLines && start > 0 {
		prev := strings.LastIndexByte(body[:start-1], '\n') + 1
		if len(body)-prev > maxBytes {
			break
		}
		start = prev
		n++
	}
	if n == 0 {
		return CutTail(body, maxBytes), 0
	}
	return body[start:], n
}

// CutHead returns at most the first n bytes, without cutting a character.
func CutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CutTail returns at most the last n bytes, without cutting a character.
func CutTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
