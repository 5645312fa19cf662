package setup

import (
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/choice"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// login is one login by a method that a plugin brings: the questions before it, then the
// browser. Its steps run one after the other.
type login struct {
	room   *Room
	it     dialog.Item // the provider
	method int
	api.LoginMethod
	inputs map[string]string
}

// methods asks how to log in to a provider; a key can be entered in any case.
func (r *Room) methods(it dialog.Item, methods []api.LoginMethod) tea.Msg {
	l := dialog.List{Title: "log in to " + it.Title, Hint: "enter choose · esc cancel"}
	key := dialog.Item{ID: "key", Title: "enter a key"}
	for i, m := range methods {
		if m.Type == "api" && !m.Authorizes {
			key.Title = styled.OneLine(look.Or(m.Label, key.Title))
			continue
		}
		detail := "in the browser, by a plugin"
		if m.Type == "api" {
			detail = "with a key, by a plugin"
		}
		l.Items = append(l.Items, dialog.Item{ID: strconv.Itoa(i), Title: styled.OneLine(m.Label), Detail: detail})
	}
	l.Items = append(l.Items, key)
	l.Pick = func(p dialog.Item) tea.Msg {
		n, err := strconv.Atoi(p.ID)
		if err != nil {
			return r.askKey(it)
		}
		g := &login{room: r, it: it, method: n, LoginMethod: methods[n], inputs: map[string]string{}}
		return g.ask(0)
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// ask asks the method's questions from one on, then begins the login.
func (g *login) ask(n int) tea.Msg {
	for n < len(g.Prompts) && !g.Prompts[n].Applies(g.inputs) {
		n++
	}
	if n == len(g.Prompts) {
		return dialog.All{dialog.Tell{Kind: dialog.Info, Text: "beginning the login to " + g.it.Title}, g.room.access.Do(g.begin)}
	}
	p := g.Prompts[n]
	answer := func(text string) tea.Msg {
		g.inputs[p.Key] = text
		return g.ask(n + 1)
	}
	title := styled.OneLine(strings.TrimSpace(p.Message))
	if len(p.Options) == 0 {
		f := &dialog.Field{Title: title, Hint: "enter go on · esc cancel", Done: answer}
		if p.Placeholder != "" {
			f.Note = "for example: " + styled.OneLine(p.Placeholder)
		}
		return dialog.Open{Sheet: f}
	}
	l := dialog.List{Title: title, Hint: "enter choose · esc cancel"}
	for _, o := range p.Options {
		l.Items = append(l.Items, dialog.Item{ID: o.Value, Title: styled.OneLine(o.Label), Detail: styled.OneLine(o.Hint)})
	}
	l.Pick = func(it dialog.Item) tea.Msg { return answer(it.ID) }
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// begin begins the login, and shows what the person has to do for it.
func (g *login) begin(ctx context.Context) tea.Msg {
	begun, err := g.room.access.Able.Logins.BeginProviderLogin(ctx, g.it.ID, g.method, g.inputs)
	if err != nil {
		return dialog.Fail(err)
	}
	if begun.URL == "" {
		return g.done(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &loginSheet{Field: dialog.Field{Title: "log in to " + g.it.Title}, begun: begun, cancel: cancel}
	end := func(code string) tea.Cmd {
		return func() tea.Msg {
			defer cancel()
			err := g.room.access.Able.Logins.EndProviderLogin(ctx, g.it.ID, g.method, code)
			switch {
			case ctx.Err() != nil:
				return nil // the person left
			case err != nil:
				return dialog.All{dialog.Close{Sheet: s}, dialog.Fail(err)}
			}
			return dialog.All{dialog.Close{Sheet: s}, g.done(ctx)}
		}
	}
	if begun.Method == "code" {
		s.Hint = "enter log in · tab copy the address · esc cancel"
		s.Done = func(code string) tea.Msg {
			return dialog.All{dialog.Tell{Kind: dialog.Info, Text: "logging in to " + g.it.Title}, end(code)}
		}
		return dialog.All{dialog.Hush{}, dialog.Open{Sheet: s}}
	}
	s.Hint = "tab copy the address · esc cancel"
	return dialog.All{dialog.Hush{}, dialog.Open{Sheet: s}, end("")}
}

// done offers the models that the login opens.
func (g *login) done(ctx context.Context) tea.Msg {
	return dialog.All{g.room.choice.Read(ctx), dialog.Tell{Kind: dialog.Info, Text: "logged in to " + g.it.Title}, choice.ShowModels{Provider: g.it.ID}}
}

// loginSheet shows where to log in. It takes the code that the person brings back, or is
// there until the browser has done its part.
type loginSheet struct {
	dialog.Field
	begun  api.LoginBegun
	cancel context.CancelFunc
}

func (s *loginSheet) Paste(text string) {
	if s.Done != nil {
		s.Field.Paste(text)
	}
}

func (s *loginSheet) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	switch stroke := dialog.Stroke(k); {
	case stroke == "tab":
		return dialog.Copy{Text: s.begun.URL, Said: "copied the address"}
	case stroke == "esc" || stroke == "ctrl+c":
		s.cancel()
		return dialog.Close{Sheet: s}
	case s.Done == nil:
		return nil
	case stroke == "enter":
		code := strings.TrimSpace(s.Edit.Text())
		if code == "" {
			return nil
		}
		return dialog.All{dialog.Close{Sheet: s}, s.Done(code)}
	}
	return s.Field.Key(h, k)
}

func (s *loginSheet) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.Title(s.Title, s.Hint)}
	add := func(text styled.Line) {
		for _, line := range styled.Wrap(text, l.Width-3, l.Method) {
			out = append(out, l.Row(line, false))
		}
	}
	address := styled.Span{Text: styled.OneLine(s.begun.URL), Style: l.FG(theme.Accent)}
	if strings.HasPrefix(address.Text, "https://") || strings.HasPrefix(address.Text, "http://") {
		address.Link = address.Text
	}
	add(styled.Line{{Text: l.T("Open "), Style: l.FG(theme.Text)}, address})
	for line := range strings.Lines(s.begun.Instructions) {
		add(styled.Plain(styled.OneLine(strings.TrimSpace(line)), l.FG(theme.Muted)))
	}
	if s.Done == nil {
		add(styled.Plain(l.T("waiting for the browser")+l.Glyph(" …", " ..."), l.FG(theme.Muted)))
		return out, -1, 0
	}
	rows, x, y := s.Field.Draw(l, height)
	y += len(out) - 1
	return append(out, rows[1:]...), x, y
}
