package servers

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Imported says that servers of another program's file are used from now on.
type Imported struct{}

// importSheet asks whether the servers that a file names are to be used.
type importSheet struct {
	dialog.Patience
	access *engine.Access
	m      api.MCPImport
	at     int
	first  int // the line of the first answer, as of the last drawing
	body   dialog.Reader
}

var importAnswers = [...][2]string{{"y", "use them, as they are now"}, {"n", "no; it is not asked again before the file says something else"}}

// Ask asks, at the start, about the files of other programs that name servers and that
// the person was not asked about.
func (r *Room) Ask(now func() time.Time) tea.Cmd {
	if r.access.Able.Imports == nil {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.Able.Imports.Imports(ctx)
		if err != nil {
			return nil // the page of the servers tells it
		}
		var out dialog.All
		for _, m := range list {
			if m.Open() {
				out = append(out, dialog.Wait{Sheet: &importSheet{access: r.access, m: m, Patience: dialog.Patience{Came: now()}, at: 1}})
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	})
}

// imports are the files as entries of the list of servers.
func imports(list []api.MCPImport) []dialog.Item {
	var out []dialog.Item
	for _, m := range list {
		if m.State == "used" || len(m.Servers) == 0 {
			continue
		}
		names := make([]string, len(m.Servers))
		for i, s := range m.Servers {
			names[i] = s.Name
		}
		state := map[string]string{"new": "not used yet", "changed": "changed, not used", "refused": "not used"}[m.State]
		out = append(out, dialog.Item{ID: importID + m.ID, Title: styled.OneLine(strings.Join(names, ", ")), Detail: styled.OneLine(m.Path), Right: state, Group: "named by other programs' files"})
	}
	return out
}

// importID marks an entry of the list that is a file.
const importID = "\x00"

// open asks about a file of the list.
func (r *Room) open(list []api.MCPImport, id string) tea.Msg {
	for _, m := range list {
		if importID+m.ID == id {
			return dialog.Open{Sheet: &importSheet{access: r.access, m: m, at: 1}}
		}
	}
	return nil
}

// Tall reports whether what the file names fills the screen.
func (s *importSheet) Tall() bool { return s.body.Full }

// Wheel scrolls what the file names.
func (s *importSheet) Wheel(by int) bool { return s.body.Wheel(by) }

// Paste does nothing.
func (s *importSheet) Paste(string) {}

// Key answers, or goes through the answers and what the file names.
func (s *importSheet) Key(_ dialog.Host, k tea.KeyPressMsg) tea.Msg {
	n := len(importAnswers)
	switch stroke := dialog.Stroke(k); stroke {
	case "up", "shift+tab", "left":
		s.at = (s.at + n - 1) % n
	case "down", "tab", "right":
		s.at = (s.at + 1) % n
	case "enter":
		return s.answer(s.at == 0)
	case "esc", "ctrl+c":
		return s.answer(false)
	default:
		if s.body.Key(stroke) {
			return nil
		}
		for i, an := range importAnswers {
			if an[0] == stroke {
				return s.answer(i == 0)
			}
		}
	}
	return nil
}

// Click marks an answer, and takes the one that is marked.
func (s *importSheet) Click(_ dialog.Host, y int) tea.Msg {
	i := y - s.first
	switch {
	case i < 0 || i >= len(importAnswers):
	case s.at == i:
		return s.answer(i == 0)
	default:
		s.at = i
	}
	return nil
}

func (s *importSheet) answer(use bool) tea.Msg {
	text := "the servers of " + s.m.Path + " are not used; /mcps shows them"
	var then tea.Msg
	if use {
		text, then = "the servers of "+s.m.Path+" are used from now on", Imported{}
	}
	return dialog.All{dialog.Close{Sheet: s}, s.access.Do(func(ctx context.Context) tea.Msg {
		err := s.access.Able.Imports.AnswerImport(ctx, api.MCPImportAnswer{ID: s.m.ID, Digest: s.m.Digest, Use: use})
		return dialog.Done{Text: styled.OneLine(text), Err: err, Then: then}
	})}
}

// Draw shows what the file names, and the answers.
func (s *importSheet) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.Title("use these MCP servers?", "they run programs and reach addresses")}
	var body []styled.Line
	add := func(line styled.Line) { body = append(body, styled.Wrap(line, l.Width-3, l.Method)...) }
	add(styled.Plain(styled.OneLine(s.m.Path)+" "+about(s.m), l.FG(theme.Text)))
	for _, c := range s.m.Servers {
		line := styled.Line{{Text: styled.OneLine(c.Name), Style: l.FG(theme.Warning)}, {Text: "  " + styled.OneLine(c.Where), Style: l.FG(theme.Text)}}
		if len(c.Given) > 0 {
			line = append(line, styled.Span{Text: "  with " + styled.OneLine(strings.Join(c.Given, ", ")), Style: l.FG(theme.Muted)})
		}
		if c.Own {
			line = append(line, styled.Span{Text: "  your configuration's server of this name is used instead", Style: l.FG(theme.Muted)})
		}
		add(line)
	}
	for _, text := range s.m.Skipped {
		add(styled.Plain("cannot be used: "+styled.OneLine(text), l.FG(theme.Muted)))
	}
	for _, line := range s.body.Window(l, body, max(1, height-1-len(importAnswers))) {
		out = append(out, l.Row(line, false))
	}
	s.first = len(out)
	for i, an := range importAnswers {
		line := styled.Line{{Text: an[0] + "  ", Style: l.FG(theme.Accent, styled.Bold)}, {Text: an[1], Style: l.FG(theme.Text)}}
		if n := s.body.Unread(); i == 0 && n > 0 {
			line = append(line, styled.Span{Text: fmt.Sprintf("  not shown to its end: %s below", look.Plural(n, "line")), Style: l.FG(theme.Warning)})
		}
		out = append(out, l.Row(line, i == s.at))
	}
	return out, -1, 0
}

// about says whose servers they are.
func about(m api.MCPImport) string {
	text := "names these, for you"
	switch m.Scope {
	case "project":
		text = "of this repository names these; yes trusts the file and the programs of the repository that it names"
	case "local":
		text = "names these, for you in " + styled.OneLine(m.Dir)
	}
	if m.State == "changed" {
		text += ". It has changed since you answered"
	}
	return text + ":"
}
