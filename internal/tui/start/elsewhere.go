package start

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// loadElsewhere looks at what other programs have, unless the person has decided about all.
func (r *Room) loadElsewhere() tea.Cmd {
	return r.looked(func(found []api.Elsewhere) tea.Msg { return nil })
}

// looked looks at what other programs have; then goes on in the screen's loop.
func (r *Room) looked(then func(found []api.Elsewhere) tea.Msg) tea.Cmd {
	e := r.access.Able.Elsewhere
	if e == nil {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		found, err := e.Elsewhere(ctx)
		if err != nil {
			return nil // nobody asked for it
		}
		return dialog.Here(func() tea.Msg {
			r.elsewhere = found
			return then(found)
		})
	})
}

// drawElsewhere names the programs that the person has not decided about.
func (r *Room) drawElsewhere(l look.Look) (out []styled.Line) {
	muted := l.FG(theme.Muted)
	for _, e := range r.elsewhere {
		if slices.Contains(r.book.Ignored, e.Program) {
			continue
		}
		if out == nil {
			out = append(out, append(styled.Plain("   "+l.T("found on this machine"), l.FG(theme.Text, styled.Bold)),
				styled.Span{Text: "  " + r.host.Keys().For(keys.Elsewhere) + " " + l.T("imports, keeps or ignores it"), Style: muted}))
		}
		out = append(out, styled.Line{{Text: "   " + l.Glyph("• ", "* ")}, {Text: e.Program, Style: l.FG(theme.Text)}, {Text: "  " + l.T(has(e)), Style: muted}})
	}
	if out != nil {
		out = append(out, nil)
	}
	return out
}

// has says what a program has.
func has(e api.Elsewhere) string {
	var words []string
	add := func(n int, what string) {
		if n > 0 {
			words = append(words, say.Plural(n, what))
		}
	}
	if e.More {
		words = append(words, fmt.Sprintf("more than %d sessions", e.Sessions))
	} else {
		add(e.Sessions, "session")
	}
	add(e.Servers, "MCP server")
	add(e.Plugins, "plugin")
	add(e.Hooks, "hook")
	add(e.Commands, "command")
	add(e.Agents, "agent")
	if e.Told {
		words = append(words, "instructions")
	}
	if e.Login {
		words = append(words, "a login")
	}
	return strings.Join(words, ", ")
}

// Elsewhere lists what other programs have, to decide about it.
func (r *Room) Elsewhere() tea.Msg {
	return r.looked(func(found []api.Elsewhere) tea.Msg {
		decided := func(e api.Elsewhere) bool { return slices.Contains(r.book.Ignored, e.Program) }
		undecided, rest := []api.Elsewhere{}, []api.Elsewhere{}
		for _, e := range found {
			if decided(e) {
				rest = append(rest, e)
			} else {
				undecided = append(undecided, e)
			}
		}
		found = append(undecided, rest...)
		l := dialog.List{Title: "found on this machine", Hint: "enter decide · esc close", Empty: "OpenCode, Claude Code and Codex have nothing here"}
		for _, e := range found {
			state := ""
			if decided(e) {
				state = "decided"
			}
			l.Items = append(l.Items, dialog.Item{ID: e.Program, Title: e.Program, Detail: has(e), Right: state})
		}
		l.Pick = func(it dialog.Item) tea.Msg {
			i := slices.IndexFunc(found, func(e api.Elsewhere) bool { return e.Program == it.ID })
			return dialog.Open{Sheet: newDecision(r, found[i])}
		}
		if len(found) == 1 {
			return dialog.Open{Sheet: newDecision(r, found[0])}
		}
		return dialog.Open{Sheet: dialog.NewList(l)}
	})
}

// decision asks what is to be done with what a program has.
type decision struct {
	dialog.Choice
	room *Room
	e    api.Elsewhere
	acts []func() tea.Msg
}

func newDecision(r *Room, e api.Elsewhere) *decision {
	d := &decision{room: r, e: e}
	d.Left = func() tea.Msg { return dialog.Close{Sheet: d} }
	d.Given = func(i int) tea.Msg { return dialog.All{dialog.Close{Sheet: d}, d.acts[i]()} }
	add := func(key, text string, act func() tea.Msg) {
		d.Answers, d.acts = append(d.Answers, [2]string{key, text}), append(d.acts, act)
	}
	switch {
	case e.Program == api.OpenCode && e.Sessions > 0:
		add("i", "import its sessions; OpenCode keeps its own", func() tea.Msg { return r.take(e, api.Import{Store: true}) })
	case e.Program != api.OpenCode && e.Commands+e.Agents > 0 || e.Told:
		add("i", "import: copy its commands, agents and instructions, then look at the rest", func() tea.Msg { return r.take(e, api.Import{Program: e.Program}) })
	case r.rest(e) == ShowServers{}:
		add("i", "import: look at its MCP servers and say which are used", func() tea.Msg { return dialog.All{r.ignore(e.Program), ShowServers{}} })
	case r.rest(e) == ShowPlugins{}:
		add("i", "import: look at its hooks and say which run", func() tea.Msg { return dialog.All{r.ignore(e.Program), ShowPlugins{}} })
	}
	add("k", "keep it for later: this page goes on naming it", func() tea.Msg { return r.keep(e.Program) })
	add("n", "ignore it: it is not named again", func() tea.Msg { return r.ignore(e.Program) })
	return d
}

// rest shows what of a program is not copied, but used where it is once the person agrees.
func (r *Room) rest(e api.Elsewhere) tea.Msg {
	switch {
	case e.Program == api.OpenCode:
	case e.Servers > 0 && r.access.Able.Imports != nil:
		return ShowServers{}
	case e.Hooks > 0 && r.access.Able.Plugins != nil:
		return ShowPlugins{}
	}
	return nil
}

// What the room wants to be shown.
type (
	// ShowServers lists the MCP servers, and those that other programs name.
	ShowServers struct{}
	// ShowPlugins lists plugins and hooks.
	ShowPlugins struct{}
)

// Draw says what there is, what lathe uses of it anyway, and the answers.
func (d *decision) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	var body []styled.Line
	add := func(text string, key theme.Key) {
		body = append(body, styled.Wrap(styled.Plain(l.T(text), l.FG(key)), l.Width-3, l.Method)...)
	}
	add(has(d.e), theme.Text)
	add(uses(d.e.Program), theme.Muted)
	return d.Show(l, height, l.Title(d.e.Program, styled.OneLine(d.e.Dir)), body, nil)
}

// uses says what lathe does with a program's things by itself.
func uses(program string) string {
	switch program {
	case api.OpenCode:
		return "Its configuration, logins, agents, commands and skills are read where they are. Only its sessions have to be copied."
	case api.ClaudeCode:
		return "CLAUDE.md and skills are read where they are. Its commands and agents are copied, its MCP servers and hooks are used once you agree. Its sessions cannot be imported, and its login is its own: /connect adds a key."
	}
	return "AGENTS.md of a project is read. Its prompts become commands, its MCP servers are used once you agree. Its sessions cannot be imported, and its login is its own: /connect adds a key."
}

func (r *Room) ignore(program string) tea.Msg {
	if !slices.Contains(r.book.Ignored, program) {
		r.book.Ignored = append(r.book.Ignored, program)
	}
	return r.book.Save()
}

func (r *Room) keep(program string) tea.Msg {
	r.book.Ignored = slices.DeleteFunc(r.book.Ignored, func(p string) bool { return p == program })
	return r.book.Save()
}

// tellEach is how often an import says how far it is.
const tellEach = 500 * time.Millisecond

// take imports what a program has, and says how far it is.
func (r *Room) take(e api.Elsewhere, in api.Import) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		next, stop := iter.Pull2(r.access.Able.Elsewhere.Import(ctx, in))
		return taking{room: r, of: e, next: next, stop: stop}.more()
	})
}

// taking is an import that is under way.
type taking struct {
	room *Room
	of   api.Elsewhere
	next func() (api.ImportNews, error, bool)
	stop func()
	done int      // sessions
	kept []string // names of files that are not copied, since there are others
	lost []string // names of files that cannot be
}

// more goes on with the import for a while, and then says how far it is.
func (t taking) more() tea.Msg {
	for until := time.Now().Add(tellEach); time.Now().Before(until); {
		news, err, ok := t.next()
		switch {
		case err != nil || !ok:
			t.stop()
			return dialog.Done{Err: err}
		case news.Session != nil:
			t.done++
		case news.File != nil:
			t.file(*news.File)
		case news.Sum != nil:
			t.stop()
			return t.over(*news.Sum)
		}
	}
	return dialog.All{dialog.Tell{Text: fmt.Sprintf("importing: %s so far", say.Plural(t.done, "session"))}, tea.Cmd(t.more)}
}

// file notes what has to be told of a file.
func (t *taking) file(f api.ImportedFile) {
	switch f.Outcome {
	case api.ImportKept:
		t.kept = append(t.kept, f.Name)
	case api.ImportFailed:
		t.lost = append(t.lost, f.Name)
	}
}

// over says what the import did, and goes on to what the person decides about.
func (t taking) over(sum api.ImportSum) tea.Msg {
	text := summed(sum)
	if t.of.Program != api.OpenCode {
		text = t.copied(sum)
	}
	return dialog.Done{Text: text, Then: dialog.Here(func() tea.Msg {
		then := dialog.All{t.room.ignore(t.of.Program), t.room.Load()}
		if t.of.Program != api.OpenCode {
			then = append(then, Copied{}, t.room.rest(t.of))
		}
		return then
	})}
}

// copied says what became of files.
func (t taking) copied(sum api.ImportSum) string {
	text := say.Plural(sum.Outcomes[api.ImportAdded], "file") + " copied"
	if n := sum.Outcomes[api.ImportSame]; n > 0 {
		text += fmt.Sprintf(", already here: %d", n)
	}
	if len(t.kept) > 0 {
		text += "; you have others of the name " + strings.Join(t.kept, ", ")
	}
	if len(t.lost) > 0 {
		text += "; left out: " + strings.Join(t.lost, ", ") + " (lathe import says why)"
	}
	return styled.OneLine(text)
}

// Copied says that there are other commands and agents than before.
type Copied struct{}

// summed says what an import did.
func summed(s api.ImportSum) string {
	text := say.Plural(s.Outcomes[api.ImportAdded]+s.Outcomes[api.ImportUpdated], "session") + " imported"
	if n := s.Outcomes[api.ImportSame] + s.Outcomes[api.ImportKept]; n > 0 {
		text += fmt.Sprintf(", already here: %d", n)
	}
	if n := s.Outcomes[api.ImportFailed] + s.Problems + len(s.Differ); n > 0 {
		text += fmt.Sprintf("; %s could not be taken over: lathe import opencode --report FILE lists them", say.Plural(n, "piece"))
	}
	return text
}
