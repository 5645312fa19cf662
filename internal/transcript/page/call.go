package page

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/readable"
	"lathe/internal/say"
)

// call is what is shown of a tool call, whatever its state.
type call struct {
	tool, title, output string
	raw                 json.RawMessage
	input, meta         map[string]any
	attached            []lathe.File
	took                time.Duration // without what it waited for the person
	failed              bool
}

func newCall(c *lathe.ToolCall) call {
	out := call{tool: c.Tool}
	switch st := c.State.(type) {
	case *lathe.ToolRunning:
		out.raw, out.meta, out.title = st.Input, st.Metadata, st.Title
	case *lathe.ToolDone:
		out.raw, out.meta, out.title, out.output, out.attached = st.Input, st.Metadata, st.Title, st.Output, st.Attachments
		out.took, _ = st.Time.Worked(st.Metadata)
	case *lathe.ToolFailed:
		out.raw, out.meta, out.output, out.failed = st.Input, st.Metadata, st.Error, true
		out.took, _ = st.Time.Worked(st.Metadata)
	}
	out.output = readable.Output(out.output)
	_ = json.Unmarshal(out.raw, &out.input) // input that is no object shows no arguments
	return out
}

// arg returns the first of some arguments that is a text.
func (c call) arg(names ...string) string {
	for _, n := range names {
		if s, ok := c.input[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// call writes a tool call: a line that says what was done, and behind it what came of it.
func (p *page) call(tc *lathe.ToolCall) {
	c := newCall(tc)
	class := ""
	if c.failed {
		class = " class=bad"
	}
	p.put("<details", openIf(c.diff() != "" && !c.failed), "><summary", class, "><b>", line(c.name()), "</b>")
	if head := line(c.headline()); head != "" {
		p.put(" <code>", head, "</code>")
	}
	for _, note := range c.notes() {
		p.put(" · ", note)
	}
	p.put("</summary>")
	p.body(c)
	for _, f := range c.attached {
		p.file(f)
	}
	p.put("</details>\n")
}

// name is what a reader calls the tool.
func (c call) name() string {
	switch c.tool {
	case "todowrite", "todoread":
		return "tasks"
	case "apply_patch", "patch":
		return "change"
	}
	return c.tool
}

// headline says what the call is about.
func (c call) headline() string {
	switch c.tool {
	case "bash", "shell":
		return "$ " + printable.Shorten(printable.Line(begins(c.arg("command"))), maxHead)
	case "task":
		return "@" + c.arg("subagent_type") + " " + c.arg("description")
	case "todowrite", "todoread":
		return ""
	case "question", "batch":
		return c.title
	case "grep", "glob":
		if in := c.arg("path", "include"); in != "" {
			return c.arg("pattern") + " in " + path.Base(in)
		}
		return c.arg("pattern")
	}
	if c.title != "" {
		return c.title
	}
	return c.arg("filePath", "path", "url", "query", "command", "pattern", "name", "description")
}

// maxHead bounds the command that a headline shows, in characters.
const maxHead = 120

// begins returns the first line of a command that does something.
func begins(command string) string {
	for l := range strings.Lines(command) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			return l
		}
	}
	return command
}

// notes are what a reader wants to know without opening the call.
func (c call) notes() []string {
	var out []string
	if d := c.diff(); d != "" {
		added, removed := lines(d)
		out = append(out, fmt.Sprintf("+%d −%d", added, removed))
	}
	if n, ok := lathe.MetaInt(c.meta["exit"]); ok && n != 0 {
		out = append(out, fmt.Sprintf("exit %d", n))
	}
	if n, ok := lathe.MetaInt(c.meta["matches"]); ok {
		out = append(out, fmt.Sprintf("%d found", n))
	} else if n, ok := lathe.MetaInt(c.meta["count"]); ok {
		out = append(out, fmt.Sprintf("%d found", n))
	}
	if n := c.linesRead(); n > 0 {
		out = append(out, say.Plural(n, "line"))
	}
	if c.failed {
		out = append(out, "failed")
	}
	if c.took >= time.Second {
		out = append(out, duration(c.took))
	}
	return out
}

// picture reports whether a picture was read, or another file that is shown as it is.
func (c call) picture() bool {
	return c.tool == "read" && strings.HasSuffix(c.output, " read successfully")
}

// linesRead returns how many lines of a file were read; 0 for a directory, a picture or nothing.
func (c call) linesRead() int {
	shown, _ := c.meta["display"].(map[string]any)
	from, begins := lathe.MetaInt(shown["lineStart"])
	till, ends := lathe.MetaInt(shown["lineEnd"])
	switch {
	case c.tool != "read" || c.failed || c.picture():
		return 0
	case begins && ends:
		return max(0, till-from+1)
	case shown == nil && c.output != "": // from another program, or an earlier version
		return strings.Count(strings.TrimRight(c.output, "\n"), "\n") + 1
	}
	return 0
}

func (c call) diff() string {
	d, _ := c.meta["diff"].(string)
	return d
}

// lines counts what a diff adds and removes.
func lines(d string) (added, removed int) {
	for l := range strings.Lines(d) {
		switch {
		case strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "--- "):
		case l[0] == '+':
			added++
		case l[0] == '-':
			removed++
		}
	}
	return added, removed
}

// body writes what came of a call.
func (p *page) body(c call) {
	switch {
	case c.failed:
		p.arguments(c)
		p.pre(console(c.output))
	case c.diff() != "":
		p.patch(c.diff())
	case c.tool == "bash" || c.tool == "shell":
		p.command(c)
	case c.tool == "write":
		p.pre(code(path.Ext(c.arg("filePath")), c.arg("content")))
	case c.tool == "todowrite":
		p.todos(c)
	case c.tool == "task":
		p.put("<div class=body>", markdown(c.arg("prompt")), "<hr>", markdown(c.output), "</div>")
	case c.tool == "question":
		p.answers(c)
	case c.tool == "webfetch" || c.tool == "skill":
		p.put("<div class=body>", markdown(c.output), "</div>")
	case c.picture(): // it is seen below
	case c.tool == "read" || c.tool == "grep":
		p.pre(text(numbered(strings.Trim(c.output, "\n"))))
	case c.tool == "glob" || c.tool == "list":
		p.pre(text(strings.Trim(c.output, "\n")))
	default:
		p.arguments(c)
		p.pre(text(strings.Trim(c.output, "\n")))
	}
}

func (p *page) pre(html string) {
	if html != "" {
		p.put("<pre>", html, "</pre>")
	}
}

// command shows a command that its headline cannot show whole, and what it printed.
func (p *page) command(c call) {
	if cmd := c.arg("command"); strings.Contains(strings.TrimSpace(cmd), "\n") || len(cmd) > maxHead {
		p.pre(code("sh", cmd))
	}
	out := c.output
	if s, ok := c.meta["output"].(string); ok && len(s) >= len(out) {
		out = s
	}
	p.pre(console(out))
}

// arguments shows the input of a call that has no look of its own.
func (p *page) arguments(c call) {
	if len(c.input) == 0 && len(c.raw) == 0 || string(c.raw) == "{}" {
		return
	}
	p.pre(code("json", printable.IndentJSON(c.raw)))
}

var todoMarks = map[string]string{"completed": "☑", "in_progress": "◐", "cancelled": "☒"}

func (p *page) todos(c call) {
	p.put("<ul>")
	for _, todo := range objects(c.input["todos"]) {
		status, _ := todo["status"].(string)
		content, _ := todo["content"].(string)
		mark := todoMarks[status]
		if mark == "" {
			mark = "☐"
		}
		p.put("<li class=task>", mark, " ", line(content), "</li>")
	}
	p.put("</ul>")
}

// answers shows what was asked and what the person said to it.
func (p *page) answers(c call) {
	given, _ := c.meta["answers"].([]any)
	p.put("<ul>")
	for i, q := range objects(c.input["questions"]) {
		asked, _ := q["question"].(string)
		p.put("<li>", line(asked))
		if i < len(given) {
			p.put(" <strong>", line(strings.Join(texts(given[i]), ", ")), "</strong>")
		}
		p.put("</li>")
	}
	p.put("</ul>")
}

func objects(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
