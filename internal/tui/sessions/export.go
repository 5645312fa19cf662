package sessions

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/editor"
	"lathe/internal/tui/styled"
)

// Export offers where a session can be written to.
func (r *Room) Export(s lathe.Session) tea.Msg {
	e := r.access.Able.Export
	l := dialog.List{Title: "export " + styled.OneLine(s.Title), Hint: "enter do it · esc leave"}
	if r.files.Write != nil {
		l.Items = append(l.Items,
			dialog.Item{ID: "md", Title: "Markdown, to a file", Detail: fileName(s, api.FormatMarkdown)},
			dialog.Item{ID: "json", Title: "JSON, to a file", Detail: fileName(s, api.FormatJSON) + ", complete; lathe import takes it in"},
			dialog.Item{ID: "html", Title: "a web page, to a file", Detail: fileName(s, api.FormatHTML) + ", one file that opens offline"})
	}
	if len(r.files.Editor) > 0 {
		l.Items = append(l.Items, dialog.Item{ID: "edit-md", Title: "Markdown, to your editor"}, dialog.Item{ID: "edit-json", Title: "JSON, to your editor"})
	}
	l.Items = append(l.Items, dialog.Item{ID: "copy", Title: "Markdown, to the clipboard"})
	formats := map[string]string{"md": api.FormatMarkdown, "edit-md": api.FormatMarkdown, "copy": api.FormatMarkdown, "json": api.FormatJSON, "edit-json": api.FormatJSON, "html": api.FormatHTML}
	l.Pick = func(it dialog.Item) tea.Msg {
		format := formats[it.ID]
		return func() tea.Msg {
			data, err := e.Export(r.access.Context(), s.ID, format)
			if err != nil {
				return dialog.Fail(err)
			}
			return r.exported(s, it.ID, format, data)
		}
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}

func fileName(s lathe.Session, format string) string {
	ext := map[string]string{api.FormatMarkdown: ".md", api.FormatJSON: ".json", api.FormatHTML: ".html"}
	return string(s.ID) + ext[format]
}

// exported puts an export where the person wanted it.
func (r *Room) exported(s lathe.Session, to, format string, data []byte) tea.Msg {
	switch to {
	case "copy":
		if len(data) > dialog.MaxCopied {
			return dialog.Tell{Kind: dialog.Warning, Text: fmt.Sprintf("%d bytes are more than terminals copy; export to a file instead", len(data))}
		}
		return dialog.Copy{Text: string(data), Said: "copied the session"}
	case "edit-md", "edit-json":
		return editor.Read(r.files.Editor, fileName(s, format), data)
	}
	return r.writeFile(fileName(s, format), data)
}

// writeFile writes a new file and says where it is.
func (r *Room) writeFile(name string, data []byte) tea.Msg {
	return func() tea.Msg {
		path, err := r.files.Write(name, data)
		return dialog.Done{Text: "wrote " + path, Err: err}
	}
}

// Share publishes a session, or writes it to a file if no service is set up.
func (r *Room) Share(s lathe.Session) tea.Msg {
	l := dialog.List{Title: "share " + styled.OneLine(s.Title) + "?", Hint: "enter do it · esc leave"}
	if s.Share != nil {
		l.Items = append(l.Items, dialog.Item{ID: "copy", Title: "copy its address", Detail: styled.OneLine(s.Share.URL)})
	}
	if r.access.Able.Export != nil && r.files.Write != nil { // needs no service, and sends nothing anywhere
		l.Items = append(l.Items, dialog.Item{ID: "file", Title: "write one web page to send", Detail: fileName(s, api.FormatHTML) + ", opens offline"})
	}
	if s.Share == nil {
		l.Items = append(l.Items, dialog.Item{ID: "link", Title: "publish it and copy the address", Detail: "if enterprise.url names a share service"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		switch it.ID {
		case "copy":
			return dialog.Copy{Text: s.Share.URL, Said: "copied the address"}
		case "file":
			x := r.access.Able.Export
			return func() tea.Msg {
				data, err := x.Export(r.access.Context(), s.ID, api.FormatHTML)
				return dialog.Done{Err: err, Then: r.writeFile(fileName(s, api.FormatHTML), data)}
			}
		}
		return func() tea.Msg {
			url, err := r.access.Able.Share.Share(r.access.Context(), s.ID)
			return dialog.Done{Err: err, Then: dialog.Copy{Text: url, Said: "shared, and copied: " + styled.OneLine(url)}}
		}
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// Unshare withdraws a shared session.
func (r *Room) Unshare(s lathe.Session) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		return dialog.Done{Text: "it is shared no more", Err: r.access.Able.Share.Unshare(ctx, s.ID)}
	})
}
