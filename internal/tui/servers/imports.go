package servers

import (
	"context"
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
	dialog.Choice
}

// newImportSheet asks about a file; nothing is allowed by pressing Enter alone.
func newImportSheet(access *engine.Access, m api.MCPImport, p dialog.Patience) *importSheet {
	s := &importSheet{access: access, m: m, Patience: p}
	s.Choice = dialog.Choice{
		Answers: [][2]string{{"y", "use them, as they are now"}, {"n", "no; it is not asked again before the file says something else"}}, At: 1, Yes: 1,
		Given: func(i int) tea.Msg { return s.answer(i == 0) }, Left: func() tea.Msg { return s.answer(false) },
	}
	return s
}

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
				out = append(out, dialog.Wait{Sheet: newImportSheet(r.access, m, dialog.Patience{Came: now()})})
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
			return dialog.Open{Sheet: newImportSheet(r.access, m, dialog.Patience{})}
		}
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
	var body []styled.Line
	add := func(line styled.Line) { body = append(body, styled.Wrap(line, l.Width-3, l.Method)...) }
	add(styled.Plain(styled.OneLine(s.m.Path)+" "+l.T(about(s.m)), l.FG(theme.Text)))
	for _, c := range s.m.Servers {
		line := styled.Line{{Text: styled.OneLine(c.Name), Style: l.FG(theme.Warning)}, {Text: "  " + styled.OneLine(c.Where), Style: l.FG(theme.Text)}}
		if len(c.Given) > 0 {
			line = append(line, styled.Span{Text: "  " + l.T("with") + " " + styled.OneLine(strings.Join(c.Given, ", ")), Style: l.FG(theme.Muted)})
		}
		if c.Own {
			line = append(line, styled.Span{Text: l.T("  your configuration's server of this name is used instead"), Style: l.FG(theme.Muted)})
		}
		add(line)
	}
	for _, text := range s.m.Skipped {
		add(styled.Plain(l.T("cannot be used:")+" "+l.T(styled.OneLine(text)), l.FG(theme.Muted)))
	}
	return s.Show(l, height, l.Title("use these MCP servers?", "they run programs and reach addresses"), body, nil)
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
