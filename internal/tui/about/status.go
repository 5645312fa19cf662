// Package about has the pages that show how things are: the state, the doctor, skills,
// what fills the window, and help.
package about

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Host is what the room has to know of the screen.
type Host interface {
	dialog.Host
	Session() lathe.Session // on screen
	Connection() string     // in words
	Here() [][2]string      // names and values of the state of the screen
	Checks() []api.Check    // of the terminal
	Write(text string) tea.Msg
}

// Room is where a person reads how things are.
type Room struct {
	host   Host
	access *engine.Access
}

// New returns the room.
func New(h Host, access *engine.Access) *Room { return &Room{h, access} }

// Status shows how lathe is set up here.
func (r *Room) Status() tea.Msg {
	budget, id := r.access.Able.Budget, r.host.Session().ID
	return r.withSetup(func(ctx context.Context, s api.Setup, err error) tea.Msg {
		var b api.Budget
		if r.access.Able.Setup != nil && budget != nil && id != "" {
			b, _ = budget.Budget(ctx, id) // the page does without it
		}
		return dialog.Open{Sheet: &dialog.Page{Title: "status", Lines: func(l look.Look) []styled.Line { return r.statusLines(l, s, b, err) }}}
	})
}

// withSetup asks the engine how it is set up, if it can tell.
func (r *Room) withSetup(show func(ctx context.Context, s api.Setup, err error) tea.Msg) tea.Msg {
	e := r.access.Able.Setup
	if e == nil {
		return show(context.Background(), api.Setup{Version: lathe.Version}, nil)
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		s, err := e.Setup(ctx)
		return show(ctx, s, err)
	})
}

// budgetRows says what of each limit is used.
func budgetRows(b api.Budget) (rows [][2]string) {
	for _, u := range b.Uses {
		rows = append(rows, [2]string{"budget", fmt.Sprintf("%s (%d%%)", u, u.Percent)})
	}
	if b.Unpriced != "" {
		rows = append(rows, [2]string{"budget", "the price of " + b.Unpriced + " is not known, so money cannot be counted: set its \"cost\" in the configuration"})
	}
	return rows
}

func (r *Room) statusLines(l look.Look, s api.Setup, b api.Budget, err error) []styled.Line {
	f := dialog.Facts{Look: l}
	f.Head("here")
	f.Row("lathe", lathe.Version)
	f.Row("connection", r.host.Connection())
	if s.Version != "" && s.Version != lathe.Version {
		f.Colored("the server's lathe", s.Version, theme.Warning)
	}
	for _, row := range r.host.Here() {
		f.Row(row[0], row[1])
	}
	f.Row("cost", r.host.Session().Cost.String()+"; /cost tells more")
	for _, row := range budgetRows(b) {
		f.Row(row[0], row[1])
	}
	if err != nil {
		f.Colored("not known", err.Error(), theme.Error)
		return f.Out
	}
	if r.access.Able.Setup == nil {
		return f.Out
	}
	for _, row := range [][2]string{{"sandbox", s.Sandbox}, {"snapshots", s.Snapshots}, {"sharing", s.Share}} {
		if row[1] != "" {
			f.Row(row[0], row[1])
		}
	}
	configured := func(title, none string, list []api.Configured) {
		f.Head(title)
		if len(list) == 0 {
			f.Note(none)
		}
		for _, c := range list {
			f.Row(c.Name, l.Say.Labelled(c.Kind, c.State))
		}
	}
	configured("MCP servers", "none is configured", s.MCP)
	configured("language servers", "switched off; \"lsp\": true in the configuration switches them on", s.LSP)
	configured("formatters", "none is used; \"formatter\": true in the configuration uses those of the project", s.Formatters)
	f.Head("configuration")
	for _, file := range s.Files {
		f.Row("read", file)
	}
	if len(s.Files) == 0 {
		f.Note("no file; all is as it comes")
	}
	for _, p := range s.Plugins {
		f.Row("plugin", p)
	}
	f.Row("skills", fmt.Sprintf("%d; /skills lists them", len(s.Skills)))
	for _, w := range s.Warnings {
		f.Colored("careful", w, theme.Warning)
	}
	return f.Out
}

// Doctor shows what was looked at and whether it works.
func (r *Room) Doctor() tea.Msg {
	e := r.access.Able.Setup
	if e == nil {
		return r.checks(nil, nil)
	}
	return r.access.Do(func(ctx context.Context) tea.Msg { return r.checks(e.Checks(ctx)) })
}

func (r *Room) checks(found []api.Check, err error) tea.Msg {
	return dialog.Open{Sheet: &dialog.Page{Title: "doctor", Lines: func(l look.Look) []styled.Line {
		f := dialog.Facts{Look: l}
		if err != nil {
			f.Colored("engine", err.Error(), theme.Error)
		}
		for _, c := range append(slices.Clone(found), r.host.Checks()...) {
			mark, key := l.Glyph("✓ ", "ok "), theme.Success
			switch {
			case c.Broken:
				mark, key = l.Glyph("✗ ", "x "), theme.Error
			case !c.OK:
				mark, key = l.Glyph("✗ ", "x "), theme.Warning
			}
			f.Colored(mark+l.Say.Word(c.Name), c.Detail, key)
			if c.Hint != "" {
				f.Note(c.Hint)
			}
		}
		return f.Out
	}}}
}

// Skills lists the skills that models can load.
func (r *Room) Skills() tea.Msg {
	return r.withSetup(func(_ context.Context, s api.Setup, err error) tea.Msg {
		l := dialog.List{Title: "skills", Hint: "models load them when they fit · esc close", Empty: "no skill was found; see docs/configuration.md"}
		for _, k := range s.Skills {
			l.Items = append(l.Items, dialog.Item{ID: k.Name, Title: styled.OneLine(k.Name), Detail: styled.OneLine(k.Description)})
		}
		l.Foot = func(l look.Look, it dialog.Item) styled.Line {
			for _, k := range s.Skills {
				if k.Name == it.ID {
					return styled.Plain(styled.OneLine(k.Path), l.FG(theme.Muted))
				}
			}
			return nil
		}
		l.Pick = func(it dialog.Item) tea.Msg {
			return r.host.Write("use the skill " + it.ID + ": ")
		}
		open := dialog.Open{Sheet: dialog.NewList(l)}
		if err != nil {
			return dialog.All{dialog.Fail(err), open}
		}
		return open
	})
}
