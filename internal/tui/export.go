package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

// export offers where the session on screen can be written to.
func (a *App) export() tea.Cmd { return a.exportOf(a.session) }

func (a *App) exportOf(s lathe.Session) tea.Cmd {
	e := a.access.Able.Export
	l := dialog.List{Title: "export " + styled.OneLine(s.Title), Hint: "enter do it · esc leave"}
	if a.opts.WriteFile != nil {
		l.Items = append(l.Items,
			dialog.Item{ID: "md", Title: "Markdown, to a file", Detail: fileName(s, api.FormatMarkdown)},
			dialog.Item{ID: "json", Title: "JSON, to a file", Detail: fileName(s, api.FormatJSON) + ", complete; lathe import takes it in"},
			dialog.Item{ID: "html", Title: "a web page, to a file", Detail: fileName(s, api.FormatHTML) + ", one file that opens offline"})
	}
	if len(a.opts.Editor) > 0 {
		l.Items = append(l.Items, dialog.Item{ID: "edit-md", Title: "Markdown, to your editor"}, dialog.Item{ID: "edit-json", Title: "JSON, to your editor"})
	}
	l.Items = append(l.Items, dialog.Item{ID: "copy", Title: "Markdown, to the clipboard"})
	formats := map[string]string{"md": api.FormatMarkdown, "edit-md": api.FormatMarkdown, "copy": api.FormatMarkdown, "json": api.FormatJSON, "edit-json": api.FormatJSON, "html": api.FormatHTML}
	l.Pick = func(it dialog.Item) tea.Msg {
		format := formats[it.ID]
		return func() tea.Msg {
			data, err := e.Export(a.access.Context(), s.ID, format)
			if err != nil {
				return doneMsg{err: err}
			}
			return doneMsg{then: func(a *App) tea.Cmd { return a.exported(s, it.ID, format, data) }}
		}
	}
	a.push(dialog.NewList(l))
	return nil
}

func fileName(s lathe.Session, format string) string {
	ext := map[string]string{api.FormatMarkdown: ".md", api.FormatJSON: ".json", api.FormatHTML: ".html"}
	return string(s.ID) + ext[format]
}

// exported takes what was written to where it goes.
func (a *App) exported(s lathe.Session, to, format string, data []byte) tea.Cmd {
	switch to {
	case "copy":
		if len(data) > maxCopied {
			a.notify(dialog.Warning, fmt.Sprintf("%d bytes are more than terminals copy; export to a file instead", len(data)))
			return a.tick()
		}
		return a.copy(string(data), "copied the session")
	case "edit-md", "edit-json":
		return readText(a.opts.Editor, fileName(s, format), data)
	}
	return a.writeFile(fileName(s, format), data)
}

// writeFile writes a new file and says where it is.
func (a *App) writeFile(name string, data []byte) tea.Cmd {
	return func() tea.Msg {
		path, err := a.opts.WriteFile(name, data)
		return doneMsg{text: "wrote " + path, err: err}
	}
}

// share publishes the session on screen, or writes it as a file where no service
// is set up.
func (a *App) share() tea.Cmd { return a.shareOf(a.access.Able.Share, a.session) }

func (a *App) shareOf(e engine.Sharer, s lathe.Session) tea.Cmd {
	l := dialog.List{Title: "share " + styled.OneLine(s.Title) + "?", Hint: "enter do it · esc leave"}
	if s.Share != nil {
		l.Items = append(l.Items, dialog.Item{ID: "copy", Title: "copy its address", Detail: styled.OneLine(s.Share.URL)})
	} else {
		l.Items = append(l.Items, dialog.Item{ID: "link", Title: "publish it and copy the address", Detail: "on the service that the configuration names"})
	}
	if a.access.Able.Export != nil && a.opts.WriteFile != nil {
		l.Items = append(l.Items, dialog.Item{ID: "file", Title: "write one web page to send", Detail: fileName(s, api.FormatHTML) + ", opens offline"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		switch it.ID {
		case "copy":
			return a.copy(s.Share.URL, "copied the address")
		case "file":
			x := a.access.Able.Export
			return func() tea.Msg {
				data, err := x.Export(a.access.Context(), s.ID, api.FormatHTML)
				return doneMsg{err: err, then: func(a *App) tea.Cmd { return a.writeFile(fileName(s, api.FormatHTML), data) }}
			}
		}
		return func() tea.Msg {
			url, err := e.Share(a.access.Context(), s.ID)
			return doneMsg{err: err, then: func(a *App) tea.Cmd { return a.copy(url, "shared, and copied: "+styled.OneLine(url)) }}
		}
	}
	a.push(dialog.NewList(l))
	return nil
}

func (a *App) unshare() tea.Cmd { return a.unshareOf(a.access.Able.Share, a.session) }

func (a *App) unshareOf(e engine.Sharer, s lathe.Session) tea.Cmd {
	return a.do("it is shared no more", func(ctx context.Context) error { return e.Unshare(ctx, s.ID) })
}
