// Package languages shows the language servers of a directory: how they are doing and
// why one failed, and lets the person stop one so that it is started anew.
package languages

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Room is where a person looks after language servers.
type Room struct {
	access *engine.Access
}

// New returns the room. The engine must support language servers.
func New(access *engine.Access) Room { return Room{access} }

// List shows the language servers.
func (r Room) List() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		all, err := r.access.Able.Languages.Languages(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Open{Sheet: r.list(all)}
	})
}

func (r Room) list(all api.LanguageServers) *dialog.List {
	l := dialog.List{Title: "language servers", Hint: "enter more · ctrl+k start anew · esc close", Empty: "none was started yet: they start with the first file they are for"}
	if !all.On {
		l.Empty = `switched off; "lsp": true in the configuration switches them on`
	}
	for i, s := range all.Servers {
		detail := s.Root
		if s.Why != "" {
			detail = s.Why
		}
		l.Items = append(l.Items, dialog.Item{ID: strconv.Itoa(i), Title: styled.OneLine(s.ID), Detail: styled.OneLine(detail), Right: state(s)})
	}
	chosen := func(it dialog.Item) api.LanguageServer {
		i, _ := strconv.Atoi(it.ID)
		return all.Servers[i]
	}
	l.Pick = func(it dialog.Item) tea.Msg { return page(chosen(it)) }
	sheet := dialog.NewList(l)
	sheet.Strokes = map[string]func(dialog.Item) tea.Msg{
		"ctrl+k": func(it dialog.Item) tea.Msg { return dialog.All{dialog.Close{Sheet: sheet}, r.stop(chosen(it))} },
	}
	return sheet
}

// words are the states as people read them.
var words = map[string]string{"connected": "running", "error": "failed"}

// state says in few words how a server is doing.
func state(s api.LanguageServer) string {
	out := []string{look.Or(words[s.State], s.State)}
	if s.Errors > 0 {
		out = append(out, say.Plural(s.Errors, "error"))
	}
	return strings.Join(out, ", ")
}

// page shows all that is known about a server.
func page(s api.LanguageServer) tea.Msg {
	return dialog.Open{Sheet: &dialog.Page{Title: styled.OneLine(s.ID), Lines: func(l look.Look) []styled.Line {
		f := dialog.Facts{Look: l}
		f.Row("state", look.Or(words[s.State], s.State))
		f.Row("root", s.Root)
		if s.Why != "" {
			f.Colored("why it failed", s.Why, theme.Error)
		}
		f.Row("errors", strconv.Itoa(s.Errors))
		f.Row("warnings", strconv.Itoa(s.Warnings))
		if s.Memory > 0 {
			f.Row("memory", fmt.Sprintf("%d MiB", (s.Memory+1<<19)>>20))
		}
		if len(s.Log) > 0 {
			f.Head("what it printed last")
			for _, line := range s.Log {
				f.Out = append(f.Out, styled.Wrap(styled.Plain(styled.OneLine(line), l.FG(theme.Muted)), max(20, l.Width-4), l.Method)...)
			}
		}
		return f.Out
	}}}
}

// stop ends a server, and shows the list again.
func (r Room) stop(s api.LanguageServer) tea.Msg {
	then := r.List()
	return r.access.Do(func(ctx context.Context) tea.Msg {
		err := r.access.Able.Languages.StopLanguage(ctx, api.LanguageServerName{ID: s.ID, Root: s.Root})
		return dialog.Done{Text: s.ID + " was stopped; the next file that it is for starts it anew", Err: err, Then: then}
	})
}
