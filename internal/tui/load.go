package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/editor"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

const (
	firstPage = 60 // messages that are read when a session opens
	nextPage  = 100
	offered   = 50 // files that are offered to complete
)

// open reads a session and shows it. What is on screen stays until it is read.
func (a *App) open(id lathe.SessionID) tea.Cmd {
	a.opening, a.meanwhile, a.goal = id, nil, ""
	a.reads++
	read := a.reads
	return func() tea.Msg {
		m := openedMsg{id: id, read: read}
		if m.session, m.err = a.access.Get(a.access.Context(), id); m.err != nil {
			return m
		}
		m.history, m.err = a.access.History(a.access.Context(), id, 0, firstPage)
		m.more = len(m.history) == firstPage
		m.todos, _ = a.access.Todos(a.access.Context(), id) // a screen without them is still one
		m.status = a.access.Status(a.access.Context(), id)
		return m
	}
}

func (a *App) opened(m openedMsg) tea.Cmd {
	if m.id != a.opening || m.read != a.reads {
		return nil
	}
	meanwhile := a.meanwhile
	a.opening, a.meanwhile = "", nil
	if m.err != nil {
		a.fail(m.err)
		return a.tick()
	}
	again := m.id == a.session.ID
	if !again {
		a.leave()
		a.choice.Begin(a.opts.Agent, a.opts.Model)
		a.input.Editor = a.draftOf(m.id)
		if a.session.ID != "" && a.opts.Desk.Memory == nil {
			a.input.history = edit.History{}
		}
	}
	a.conv, a.todos = a.conv.Next(), m.todos
	a.side.of = "" // what it changed meanwhile was not told
	a.conv.Load(m.history, m.more)
	a.setSession(m.session)
	if !again && len(a.input.history.Items()) == 0 {
		for _, text := range a.conv.Prompts() {
			a.input.history.Add(text)
		}
	}
	a.since = time.Time{}
	if _, idle := m.status.(lathe.Idle); !idle && m.status != nil {
		a.status[m.id], a.since = m.status, a.conv.Begun(a.opts.Now())
	} else {
		delete(a.status, m.id)
	}
	cmds := []tea.Cmd{a.tick(), a.conv.LoadPictures(), a.toGoal(), a.loadSide()}
	for _, e := range meanwhile { // what happened while it was read
		cmds = append(cmds, a.event(e))
	}
	return tea.Batch(cmds...)
}

// leave keeps the draft of the session that is left.
func (a *App) leave() {
	if a.input.Empty() {
		delete(a.drafts, a.session.ID)
	} else {
		a.drafts[a.session.ID] = a.input.Editor
	}
	a.fail(a.leaveDesk())
	a.input.Reset()
}

// fresh shows an empty session, which is made when something is sent.
func (a *App) fresh() {
	a.leave()
	a.session, a.conv, a.opening, a.todos = lathe.Session{}, a.conv.Next(), "", nil
	a.input.Editor = a.draftOf("")
	a.since = time.Time{}
}

func (a *App) loadOlder(o chat.Older) tea.Cmd {
	id, before := a.session.ID, o.Before
	return func() tea.Msg {
		m := olderMsg{id: id}
		m.history, m.err = a.access.History(a.access.Context(), id, before, nextPage)
		m.more = len(m.history) == nextPage
		return m
	}
}

func (a *App) loadWaiting() tea.Cmd {
	shown := a.waitingIDs()
	return func() tea.Msg {
		asks, questions, err := a.access.Waiting(a.access.Context())
		if err != nil {
			return doneMsg{err: err}
		}
		return waitingMsg{asks, questions, shown}
	}
}

// submit sends what was written: a command of the screen, one of the engine, a
// shell command, or a prompt.
func (a *App) submit() tea.Cmd {
	t := a.input.typed()
	if t.text == "" {
		return nil
	}
	shown := a.input.Value()
	if t.command != "" {
		if c := a.slash(t.command); c != nil {
			if t.args != "" {
				a.input.history.Add(shown)
			}
			a.input.Reset()
			a.input.offer = offer{}
			a.sheets.Give(t.args)
			if !c.can(a) {
				a.notify(dialog.Warning, "/"+t.command+" cannot be used now")
				return a.tick()
			}
			return c.run(a)
		}
		if !a.choice.HasCommand(t.command) {
			a.notify(dialog.Failure, "there is no command /"+t.command+"; "+a.keys.For("command_list")+" lists them")
			return a.tick()
		}
	}
	files, before := a.input.Files(), a.input.Editor
	kept := a.sentNow(shown)
	a.input.Reset()
	a.input.offer = offer{}
	a.conv.Follow()
	a.sending++
	if a.since.IsZero() {
		a.since = a.opts.Now()
	}
	return tea.Batch(a.send(t, before, files), kept, a.tick())
}

// send hands what was written to the engine, in a new session if there is none.
func (a *App) send(t typed, before edit.Editor, files []edit.File) tea.Cmd {
	agent, model := a.choice.Chosen()
	sess, p := a.session, engine.Prompt{Text: t.text, Agent: agent, Model: model, Files: files}
	return func() tea.Msg {
		m := sentMsg{session: sess, before: before}
		if sess.ID == "" {
			if m.session, m.err = a.access.Create(a.access.Context()); m.err != nil {
				return m
			}
		}
		switch {
		case t.shell != "":
			m.err = a.access.Shell(a.access.Context(), m.session.ID, t.shell, p)
		case t.command != "":
			m.err = a.access.Command(a.access.Context(), m.session.ID, t.command, t.args, p)
		default:
			m.err = a.access.Prompt(a.access.Context(), m.session.ID, p)
		}
		return m
	}
}

// sent follows a new session; what could not be sent comes back to the input.
func (a *App) sent(m sentMsg) tea.Cmd {
	a.sending--
	if m.err != nil {
		where := "it was not sent; up brings it back"
		if a.input.Empty() {
			a.input.Editor = m.before
			where = "it was not sent and is in the input again"
		}
		a.fail(fmt.Errorf("%s: %w", where, m.err))
		if !a.busy() {
			a.since = time.Time{}
		}
	}
	if a.session.ID == "" && m.session.ID != "" {
		draft := a.input.Editor
		a.drafts[m.session.ID] = draft
		a.session = lathe.Session{}
		a.input.Reset()
		return tea.Batch(a.open(m.session.ID), a.tick())
	}
	return a.tick()
}

// complete looks for what the word at the caret can become.
func (a *App) complete() tea.Cmd {
	o := a.input.offer
	switch o.kind {
	case '/':
		a.input.offer.items = a.commandOffers(o.query)
		a.input.offer.at = 0
		return nil
	case '@':
		agents := a.agentOffers(o.query)
		return func() tea.Msg {
			m := offerMsg{kind: '@', query: o.query, items: agents}
			query, lines := o.query, ""
			if i := strings.LastIndexAny(query, "#:"); i >= 0 && onlyLines(query[i+1:]) {
				query, lines = query[:i], query[i+1:]
			}
			files, err := a.access.Files(a.access.Context(), query, offered)
			if err != nil {
				return m
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
				m.items = append(m.items, completion{insert: insert, label: f})
			}
			return m
		}
	}
	return nil
}

// onlyLines reports a range of lines, such as "10" or "10-20", or its beginning.
func onlyLines(s string) bool {
	return strings.Trim(s, "0123456789-") == ""
}

func (a *App) agentOffers(query string) []completion {
	var out []completion
	for _, g := range a.choice.Subagents() {
		if strings.HasPrefix(strings.ToLower(g.Name), strings.ToLower(query)) {
			out = append(out, completion{insert: "@" + g.Name + " ", label: g.Name, detail: "agent: " + styled.OneLine(g.Description)})
		}
	}
	return out
}

// openEditor hands the text to the person's own editor.
func (a *App) openEditor() tea.Cmd {
	if len(a.opts.Editor) == 0 {
		a.notify(dialog.Warning, "set EDITOR or VISUAL to write in your own editor")
		return a.tick()
	}
	return editor.Edit(a.opts.Editor, a.input.Value(), func(text string) tea.Msg { return edited(text) })
}

// onSession runs something for the session on screen.
func (a *App) onSession(text string, fn func(ctx context.Context, id lathe.SessionID) error) tea.Cmd {
	id := a.session.ID
	return a.do(text, func(ctx context.Context) error { return fn(ctx, id) })
}

// toGoal jumps to the message that is looked for, if it was read; else older ones
// are.
func (a *App) toGoal() tea.Cmd {
	if a.goal == "" {
		return nil
	}
	want, over := a.conv.Reach(a.goal)
	if over {
		a.goal = ""
	}
	return a.apply(want)
}

// edited is the text of the input as the person's own editor left it.
type edited string
