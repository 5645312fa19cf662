package transcript

import (
	"fmt"
	"io"
	"strings"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/readable"
)

// Markdown writes the session as Markdown.
func Markdown(w io.Writer, s Session) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s · %s · %s\n", line(s.Info.Title), s.Info.ID, stamp(s.Info.Created), s.Info.Cost)
	for _, m := range s.Messages {
		head := "## User\n"
		if a, ok := m.Info.(*lathe.Assistant); ok {
			head = "## Assistant (" + line(a.Model.String()) + ")\n"
		}
		body := markdownParts(m)
		if body != "" {
			b.WriteString("\n" + head + "\n" + body)
		}
	}
	if note := s.hiddenNote(); note != "" {
		b.WriteString("\n" + note + "\n")
	}
	if len(s.Diffs) > 0 {
		b.WriteString("\n## Changed files\n")
	}
	renames := lathe.Renames(s.Diffs)
	for _, d := range s.Diffs {
		if other := renames[d.File]; other != "" {
			if d.Status == "added" {
				fmt.Fprintf(&b, "\n%s renamed to %s\n", code(other), code(d.File))
			}
			continue
		}
		fmt.Fprintf(&b, "\n%s (+%d −%d)\n", code(d.File), d.Additions, d.Deletions)
		if d.Patch != "" {
			b.WriteString("\n" + fence("diff", d.Patch))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownParts(m lathe.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch body := p.Body.(type) {
		case *lathe.Text:
			if !body.Synthetic && strings.TrimSpace(body.Text) != "" {
				b.WriteString(strings.TrimSpace(body.Text) + "\n\n")
			}
		case *lathe.Reasoning:
			if t := strings.TrimSpace(body.Text); t != "" {
				b.WriteString("> " + strings.ReplaceAll(t, "\n", "\n> ") + "\n\n")
			}
		case *lathe.File:
			b.WriteString("File: " + code(body.Filename) + "\n\n")
		case *lathe.Subtask:
			b.WriteString("Subtask: " + line(body.Description) + "\n\n" + strings.TrimSpace(body.Prompt) + "\n\n")
		case *lathe.ToolCall:
			title, input, output, failed := callParts(body)
			state := ""
			if failed {
				state = ", failed"
			}
			fmt.Fprintf(&b, "**%s** %s%s\n\n%s\n%s\n", line(body.Tool), line(title), state, fence("json", input), fence("", output))
		}
	}
	if a, ok := m.Info.(*lathe.Assistant); ok && a.Error != nil {
		b.WriteString("Error: " + line(a.Error.Error()) + "\n\n")
	}
	return b.String()
}

// callParts returns what is shown of a tool call.
func callParts(c *lathe.ToolCall) (title, input, output string, failed bool) {
	switch st := c.State.(type) {
	case *lathe.ToolDone:
		return st.Title, printable.IndentJSON(st.Input), readable.Output(st.Output), false
	case *lathe.ToolFailed:
		return "", printable.IndentJSON(st.Input), readable.Output(st.Error), true
	case *lathe.ToolRunning:
		return st.Title, printable.IndentJSON(st.Input), "", false
	}
	return "", "", "", false
}

// fence puts a text into a block that it cannot end itself.
func fence(kind, text string) string {
	if text == "" {
		return ""
	}
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + kind + "\n" + strings.TrimRight(text, "\n") + "\n" + marks + "\n"
}

func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + line(text) + " ``"
	}
	return "`" + line(text) + "`"
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }
