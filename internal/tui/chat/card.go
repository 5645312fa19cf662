package chat

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/readable"
	"lathe/internal/say"
	"lathe/internal/tui/change"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	cardMark     = " "
	previewLines = 8   // of a command's output
	diffLines    = 24  // of a change
	detailLines  = 400 // of either, unfolded
)

// call is what is shown of a tool call, whatever its state.
type call struct {
	name, title, output string
	input               map[string]any
	meta                map[string]any
	running, failed     bool
	took                string
	waited              string // for an answer to an ask; apart from took
}

func newCall(c *lathe.ToolCall) call {
	out := call{name: styled.OneLine(c.Tool)}
	var input json.RawMessage
	switch st := c.State.(type) {
	case *lathe.ToolPending:
		out.running = true
	case *lathe.ToolRunning:
		out.running, input, out.meta, out.title = true, st.Input, st.Metadata, st.Title
		out.output, _ = st.Metadata["output"].(string)
	case *lathe.ToolDone:
		input, out.meta, out.title, out.output = st.Input, st.Metadata, st.Title, st.Output
		if s, ok := st.Metadata["output"].(string); ok {
			out.output = s
		}
		out.timed(st.Time)
	case *lathe.ToolFailed:
		out.failed, input, out.meta, out.output = true, st.Input, st.Metadata, st.Error
		out.timed(st.Time)
	}
	out.output = readable.Output(out.output)
	_ = json.Unmarshal(input, &out.input) // input that is not an object shows no arguments
	return out
}

// timed notes how long the call took, and apart from that how long it waited for
// the person.
func (c *call) timed(s lathe.Span) {
	took, waited := s.Worked(c.meta)
	if waited >= time.Second {
		c.waited = "you took " + look.Duration(waited)
	}
	if took >= time.Second || c.shell() && took >= 100*time.Millisecond {
		c.took = look.Duration(took)
	}
}

func (c call) shell() bool { return c.name == "bash" || c.name == "shell" }

func (c call) arg(names ...string) string {
	for _, n := range names {
		if s, ok := c.input[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// card draws a tool call: a line that says what is done, and below it what a
// person wants to see of it.
func (l pen) card(tc *lathe.ToolCall) []styled.Line {
	c := newCall(tc)
	out := []styled.Line{l.cardHead(c)}
	switch {
	case c.failed:
		out = append(out, l.tail(l.T(c.output), previewLines, styled.Wrap, l.FG(theme.Error))...)
	case c.diff() != "":
		out = append(out, l.limit(change.Draw(l.Look, c.diff(), l.Width-6), diffLines)...)
	case c.shell():
		out = append(out, l.tail(c.output, previewLines, styled.Hard, l.FG(theme.Muted))...)
	case c.name == "question" && !c.running:
		out = append(out, l.answers(c)...)
	case c.name == "todowrite":
		out = append(out, l.todos(c)...)
	case c.name == "task":
		out = append(out, l.children(c)...)
	case c.name == "write" && !c.running:
		out = append(out, l.written(c)...)
	case l.Details && c.name == "read" && !c.running:
		out = append(out, l.reading(c)...)
	case l.Details && !c.running:
		out = append(out, l.tail(c.output, previewLines, styled.Hard, l.FG(theme.Muted))...)
	}
	return append(out, l.problems(c)...)
}

func (c call) diff() string {
	if d, ok := c.meta["diff"].(string); ok {
		return d
	}
	return ""
}

func (l pen) cardHead(c call) styled.Line {
	mark, style := l.Glyph("●", "*"), l.FG(theme.Success)
	switch {
	case c.running:
		mark, style = l.Glyph("○", "o"), l.FG(theme.Info)
	case c.failed:
		mark, style = l.Glyph("✗", "x"), l.FG(theme.Error)
	}
	line := styled.Line{{Text: cardMark}, {Text: mark + " ", Style: style}}
	subject := l.subject(c)
	if verb := c.verb(); verb != "" {
		line = append(line, styled.Span{Text: l.Say.Word(verb), Style: l.FG(theme.Text, styled.Bold)})
		if subject.Text() != "" {
			line = append(line, styled.Span{Text: " "})
		}
	}
	line = append(line, subject...)
	n, bad := c.counted()
	if bad {
		line[1].Style = l.FG(theme.Warning)
	}
	return l.ending(line, l.result(c, n, bad))
}

// result says what came of a call: how it ended or how much it found, how long it took,
// and how much it changed.
func (l pen) result(c call, counted string, bad bool) (out styled.Line) {
	for i, s := range []string{counted, c.took, c.waited} {
		if s == "" {
			continue
		}
		key := theme.Muted
		if i == 0 && bad {
			key = theme.Warning
		}
		out = append(out, styled.Span{Text: "  " + l.T(s), Style: l.FG(key)})
	}
	if added, removed, ok := c.sizes(); ok {
		out = append(append(out, styled.Span{Text: "  "}), l.Counts(added, removed)...)
	}
	return out
}

// ending puts the result after a line. A line that is too long loses its own end: how a
// command ended matters more than its last words.
func (l pen) ending(line, result styled.Line) styled.Line {
	room, need := l.Width-1, result.Width(l.Method)
	if need <= room/2 {
		line = line.Cut(room-need, l.Method)
	}
	return styled.Join(line, result).Cut(room, l.Method)
}

// wrapping breaks a line into several: prose between words, output where it ends.
type wrapping func(in styled.Line, width int, m styled.Method) []styled.Line

// tail shows the end of an output in its colours, or all of it unfolded.
func (l pen) tail(text string, most int, wrap wrapping, style styled.Style) []styled.Line {
	if l.Details {
		most = detailLines
	}
	lines, hidden := l.Printed(text, most, style)
	if hidden == 0 && blank(lines) {
		return nil
	}
	var out []styled.Line
	for _, line := range lines {
		out = append(out, wrap(line, l.Width-8, l.Method)...)
	}
	if len(out) > most {
		hidden += len(out) - most
		out = out[len(out)-most:]
	}
	if hidden > 0 {
		out = append([]styled.Line{styled.Plain(l.Glyph("…", "...")+" "+l.T(say.Plural(hidden, "line")+" before"), l.FG(theme.Muted))}, out...)
	}
	return l.gutter(out)
}

func blank(lines []styled.Line) bool {
	return !slices.ContainsFunc(lines, func(line styled.Line) bool { return strings.TrimSpace(line.Text()) != "" })
}

// gutter puts the line that ties a body to its card in front of it.
func (l pen) gutter(lines []styled.Line) []styled.Line {
	bar := styled.Span{Text: "   " + l.Glyph("│", "|") + " ", Style: l.FG(theme.Border)}
	out := make([]styled.Line, len(lines))
	for i, line := range lines {
		out[i] = append(styled.Line{bar}, line...)
	}
	return out
}

// limit cuts a body to its first lines, unless it is unfolded.
func (l pen) limit(lines []styled.Line, most int) []styled.Line {
	if l.Details {
		most = detailLines
	}
	if len(lines) > most {
		rest := len(lines) - most
		lines = append(lines[:most:most], styled.Plain(l.Glyph("…", "...")+" "+l.T(say.Plural(rest, "line")+" more"), l.FG(theme.Muted)))
	}
	return l.gutter(lines)
}

func (l pen) written(c call) []styled.Line {
	text := c.arg("content")
	ext := strings.TrimPrefix(path.Ext(c.arg("filePath")), ".")
	code := strings.Split(strings.Trim(styled.Clean(text), "\n"), "\n")
	if len(code) > detailLines {
		code = code[:detailLines]
	}
	var out []styled.Line
	for _, line := range markdown.Highlight(ext, code, l.MD) {
		out = append(out, line.Cut(l.Width-8, l.Method))
	}
	return l.limit(out, previewLines)
}

func (l pen) todos(c call) []styled.Line {
	list, _ := c.input["todos"].([]any)
	var out []styled.Line
	for _, t := range list {
		todo, _ := t.(map[string]any)
		content, _ := todo["content"].(string)
		status, _ := todo["status"].(string)
		out = append(out, l.Todo(status, content).Cut(l.Width-8, l.Method))
	}
	return l.gutter(out)
}

// answers shows what was asked and what the person answered.
func (l pen) answers(c call) []styled.Line {
	given, _ := c.meta["answers"].([]any)
	var out []styled.Line
	for i, q := range listOf(c.input["questions"]) {
		text, _ := q["question"].(string)
		var said []string
		if i < len(given) {
			said = listText(given[i])
		}
		line := styled.Line{{Text: styled.OneLine(text) + " ", Style: l.FG(theme.Muted)}, {Text: look.Or(styled.OneLine(strings.Join(said, ", ")), l.T("no answer")), Style: l.FG(theme.Text)}}
		out = append(out, styled.Wrap(line, l.Width-8, l.Method)...)
	}
	return l.gutter(out)
}

// children shows what a subagent does.
func (l pen) children(c call) []styled.Line {
	var out []styled.Line
	for _, s := range listOf(c.meta["summary"]) {
		state, _ := s["state"].(map[string]any)
		title, _ := state["title"].(string)
		tool, _ := s["tool"].(string)
		mark, style := l.Glyph("○", "o"), l.FG(theme.Info)
		switch state["status"] {
		case "completed":
			mark, style = l.Glyph("●", "*"), l.FG(theme.Muted)
		case "error":
			mark, style = l.Glyph("✗", "x"), l.FG(theme.Error)
		}
		out = append(out, styled.Line{
			{Text: mark + " ", Style: style}, {Text: l.Say.Word(look.Or(call{name: styled.OneLine(tool)}.verb(), styled.OneLine(tool))) + " ", Style: l.FG(theme.Text)},
			{Text: styled.OneLine(title), Style: l.FG(theme.Muted)},
		}.Cut(l.Width-8, l.Method))
	}
	if n := len(out) - 5; n > 0 && !l.Details {
		out = append([]styled.Line{styled.Plain(l.Glyph("…", "...")+" "+l.T(say.Plural(n, "call")+" before"), l.FG(theme.Muted))}, out[n:]...)
	}
	if id, _ := c.meta["sessionId"].(string); id != "" && l.Child != "" {
		out = append(out, styled.Plain(l.T(l.Child+" or a click goes into its session, "+l.Back+" comes back"), l.FG(theme.Muted)).Cut(l.Width-8, l.Method))
	}
	return l.gutter(out)
}

func listOf(v any) []map[string]any {
	var out []map[string]any
	switch list := v.(type) {
	case []map[string]any:
		return list
	case []any:
		for _, x := range list {
			if m, ok := x.(map[string]any); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// Summary is a tool call in words.
type Summary struct {
	Name, About     string // about is on one line
	Counted, Took   string // how much it found, how long it took
	Output, Diff    string // as they came, not yet cleaned
	Running, Failed bool
	Todos           []lathe.Todo
	Session         lathe.SessionID // of a subagent
}

// Summarize says what a tool call does or did.
func Summarize(tc *lathe.ToolCall) Summary {
	c := newCall(tc)
	counted, _ := c.counted()
	s := Summary{
		Name: c.name, About: styled.OneLine(c.headline()), Counted: counted, Took: c.took, Output: c.output, Diff: c.diff(),
		Running: c.running, Failed: c.failed,
	}
	if id, ok := c.meta["sessionId"].(string); ok {
		s.Session = lathe.SessionID(id)
	}
	list, _ := c.input["todos"].([]any)
	for _, t := range list {
		todo, _ := t.(map[string]any)
		content, _ := todo["content"].(string)
		status, _ := todo["status"].(string)
		s.Todos = append(s.Todos, lathe.Todo{Content: styled.OneLine(content), Status: status})
	}
	return s
}

func listText(v any) []string {
	var out []string
	switch list := v.(type) {
	case []string:
		return list
	case []any:
		for _, x := range list {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
