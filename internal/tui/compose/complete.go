package compose

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/editor"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

const offered = 50 // files that are offered to complete

// complete looks for completions of the word at the caret.
func (c *Composer) complete() tea.Msg {
	o := c.offer
	switch o.kind {
	case '/':
		c.offer.items = c.commands(o.query)
		c.offer.at = 0
		return nil
	case '@':
		agents := agentOffers(c.choice.Subagents(), o.query)
		return func() tea.Msg {
			items := agents
			done := dialog.Here(func() tea.Msg {
				if c.offer.kind == '@' && c.offer.query == o.query {
					c.offer.items, c.offer.at = items, 0
				}
				return nil
			})
			resources := c.resources(o.query)
			query, lines := o.query, ""
			if i := strings.LastIndexAny(query, "#:"); i >= 0 && onlyLines(query[i+1:]) {
				query, lines = query[:i], query[i+1:]
			}
			files, err := c.access.Files(c.access.Context(), query, offered)
			if err != nil {
				items = append(items, resources...)
				return done
			}
			for _, f := range files {
				f = styled.OneLine(f)
				insert := "@" + f
				if lines != "" && !strings.HasSuffix(f, "/") {
					insert += "#" + lines
				}
				if !strings.HasSuffix(f, "/") {
					insert += " "
				}
				items = append(items, Completion{Insert: insert, Label: f})
			}
			items = append(append(items, c.symbols(query)...), resources...)
			return done
		}
	}
	return nil
}

// onlyLines reports whether s is a range of lines, such as "10" or "10-20", or its beginning.
func onlyLines(s string) bool {
	return strings.Trim(s, "0123456789-") == ""
}

// agentOffers returns the agents that can be mentioned.
func agentOffers(list []api.Agent, query string) []Completion {
	var out []Completion
	for _, g := range list {
		if strings.HasPrefix(strings.ToLower(g.Name), strings.ToLower(query)) {
			out = append(out, Completion{Insert: "@" + g.Name + " ", Label: g.Name, Detail: "agent: " + styled.OneLine(g.Description)})
		}
	}
	return out
}

// Offer handles the keys of the completions, and reports whether the key was one.
func (c *Composer) Offer(stroke string) (tea.Msg, bool) {
	o := &c.offer
	n := len(o.items)
	if !c.offer.shown() {
		return nil, false
	}
	switch stroke {
	case "up", "ctrl+p":
		o.at = (o.at + n - 1) % n
	case "down", "ctrl+n":
		o.at = (o.at + 1) % n
	case "esc":
		c.wave()
	case "tab":
		c.into()
		return c.Changed(), true
	case "enter":
		return c.chosen(), true
	default:
		return nil, false
	}
	return nil, true
}

// UpDown moves in the text, and at its edges through earlier prompts.
func (c *Composer) UpDown(act keys.Action) tea.Msg {
	dir := -1
	if act == keys.HistoryNext {
		dir = 1
	}
	if c.Vertical(dir, c.width, c.method) {
		return nil
	}
	c.walk(act)
	return nil
}

// Changed looks for completions after the input changed, and keeps the draft after a
// pause.
func (c *Composer) Changed() tea.Msg {
	later := c.draftLater()
	if c.watch() {
		return dialog.All{c.complete(), later}
	}
	return later
}

// Again looks for completions if what there is to choose from changed.
func (c *Composer) Again() tea.Msg {
	if c.watch() {
		return c.complete()
	}
	return nil
}

// Edit hands the text to the person's own editor.
func (c *Composer) Edit() tea.Msg {
	if len(c.editor) == 0 {
		return dialog.Tell{Kind: dialog.Warning, Text: "set EDITOR or VISUAL to write in your own editor"}
	}
	return editor.Edit(c.editor, c.Value(), func(text string) tea.Msg {
		return dialog.Here(func() tea.Msg {
			c.Set(text)
			return nil
		})
	})
}

// Pasted takes pasted text, or the pictures whose paths it consists of.
func (c *Composer) Pasted(text string) tea.Msg {
	if cmd := (Desk{c}).dropped(text); cmd != nil {
		return dialog.All{Writing{}, cmd}
	}
	c.Paste(text)
	return dialog.All{Writing{}, c.Changed()}
}
