package chat

import (
	"fmt"
	"path"
	"strings"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// verb says in a person's words what a tool does. A command and a subagent speak for
// themselves.
func (c call) verb() string {
	switch c.name {
	case "bash", "shell", "task":
		return ""
	case "multiedit":
		return "edit"
	case "apply_patch", "patch":
		return "change"
	case "webfetch":
		return "fetch"
	case "websearch", "codesearch":
		return "search"
	case "todowrite", "todoread":
		return "tasks"
	case "invalid":
		return "a call that was not understood:"
	}
	return c.name
}

// headline says what the call is about.
func (c call) headline() string {
	switch c.name {
	case "bash", "shell":
		return "$ " + c.arg("command")
	case "read", "edit", "write", "multiedit", "list":
		p := c.arg("filePath", "path")
		if c.title != "" && !c.running {
			p = c.title
		}
		return p
	case "grep", "glob":
		s := c.arg("pattern")
		if in := c.arg("path", "include"); in != "" {
			s += " in " + path.Base(in)
		}
		return s
	case "lsp":
		if c.title != "" {
			return c.title
		}
		return c.arg("operation") + " " + c.arg("filePath")
	case "task":
		return "@" + c.arg("subagent_type") + " " + c.arg("description")
	case "todowrite", "todoread", "question": // what follows says it
		return ""
	case "invalid":
		return look.Or(c.arg("tool"), "no tool takes it")
	}
	if s := c.arg("url", "query", "command", "filePath", "path", "pattern", "name", "description"); s != "" {
		return s
	}
	return c.title
}

// subject draws what the call is about; a command with the colours of a shell.
func (l pen) subject(c call) styled.Line {
	text := styled.OneLine(c.headline())
	if !c.shell() {
		return styled.Plain(text, l.FG(theme.Text))
	}
	command := markdown.Highlight("sh", []string{strings.TrimPrefix(text, "$ ")}, l.MD)[0]
	return append(styled.Line{{Text: "$ ", Style: l.FG(theme.Muted)}}, command...)
}

// counted says how much was found or written, how many errors there are after a change, or
// how a command ended; bad marks what the person should look at.
func (c call) counted() (text string, bad bool) {
	if n := len(c.problems()); n > 0 && !c.running {
		return say.Plural(n, "error"), true
	}
	if c.running || c.failed {
		return "", false
	}
	if n, ok := lathe.MetaInt(c.meta["matches"]); ok {
		return say.Plural(n, "match"), false
	}
	if n, ok := lathe.MetaInt(c.meta["count"]); ok {
		return fmt.Sprintf("%d found", n), false
	}
	switch c.name {
	case "read":
		return c.extent(), false
	case "todowrite":
		return c.tasks(), false
	case "task":
		if n := len(listOf(c.meta["summary"])); n > 0 {
			return say.Plural(n, "call"), false
		}
		return "", false
	case "write":
		if c.diff() == "" {
			return say.Plural(strings.Count(strings.TrimSuffix(c.arg("content"), "\n"), "\n")+1, "line"), false
		}
	}
	job, _ := c.meta["job"].(string)
	switch n, ok := lathe.MetaInt(c.meta["exit"]); {
	case !ok && c.shell() && job != "":
		return "goes on as " + job, false
	case !ok:
		return "", false
	case n < 0: // a signal ended it, most likely sent by the person
		return "stopped", true
	default:
		return fmt.Sprintf("exit %d", n), n > 0
	}
}

// extent says how much of a file or a directory was read.
func (c call) extent() string {
	shown, _ := c.meta["display"].(map[string]any)
	if n, ok := lathe.MetaInt(shown["totalEntries"]); ok {
		return strings.Replace(say.Plural(n, "entry"), "entrys", "entries", 1)
	}
	from, first := lathe.MetaInt(shown["lineStart"])
	till, last := lathe.MetaInt(shown["lineEnd"])
	if !first || !last {
		return ""
	}
	total, known := lathe.MetaInt(shown["totalLines"])
	switch {
	case from <= 1 && (known && till >= total || !known && shown["truncated"] != true):
		return say.Plural(till, "line")
	case known:
		return fmt.Sprintf("lines %d–%d of %d", from, till, total)
	}
	return fmt.Sprintf("lines %d–%d", from, till)
}

// tasks says how many entries of a task list are done.
func (c call) tasks() string {
	list := listOf(c.input["todos"])
	done := 0
	for _, t := range list {
		if t["status"] == "completed" || t["status"] == "cancelled" {
			done++
		}
	}
	return fmt.Sprintf("%d of %d done", done, len(list))
}

// sizes returns how many lines a change of files added and removed.
func (c call) sizes() (added, removed int, ok bool) {
	d := c.diff()
	if d == "" {
		return 0, 0, false
	}
	for line := range strings.SplitSeq(d, "\n") {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed, true
}
