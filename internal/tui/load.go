package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
)

const (
	firstPage = 60 // messages that are read when a session opens
	nextPage  = 100
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
		a.input.Begin(m.id)
		if a.session.ID != "" {
			a.input.Forget()
		}
	}
	a.conv, a.todos = a.conv.Next(), m.todos
	a.side.Stale() // what it changed meanwhile was not told
	a.conv.Load(m.history, m.more)
	a.setSession(m.session)
	if !again {
		a.input.Remember(a.conv.Prompts())
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
	a.apply(a.input.Put())
}

// fresh shows an empty session, which is made when something is sent.
func (a *App) fresh() {
	a.leave()
	a.session, a.conv, a.opening, a.todos = lathe.Session{}, a.conv.Next(), "", nil
	a.input.Begin("")
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
	t := a.input.Typed()
	if t.Text == "" {
		return nil
	}
	if t.Command != "" {
		if c := a.slash(t.Command); c != nil {
			a.input.Done(t.Args != "")
			a.sheets.Give(t.Args)
			if !c.can(a) {
				a.notify(dialog.Warning, "/"+t.Command+" cannot be used now")
				return a.tick()
			}
			return c.run(a)
		}
		if !a.choice.HasCommand(t.Command) {
			a.notify(dialog.Failure, "there is no command /"+t.Command+"; "+a.keys.For("command_list")+" lists them")
			return a.tick()
		}
	}
	files, before := a.input.Files(), a.input.Editor
	kept := a.apply(a.input.Sent())
	a.conv.Follow()
	a.sending++
	if a.since.IsZero() {
		a.since = a.opts.Now()
	}
	return tea.Batch(a.send(t, before, files), kept, a.tick())
}

// send hands what was written to the engine, in a new session if there is none.
func (a *App) send(t compose.Typed, before edit.Editor, files []edit.File) tea.Cmd {
	agent, model := a.choice.Chosen()
	sess, p := a.session, engine.Prompt{Text: t.Text, Agent: agent, Model: model, Files: files}
	return func() tea.Msg {
		m := sentMsg{session: sess, before: before}
		if sess.ID == "" {
			if m.session, m.err = a.access.Create(a.access.Context()); m.err != nil {
				return m
			}
		}
		switch {
		case t.Shell != "":
			m.err = a.access.Shell(a.access.Context(), m.session.ID, t.Shell, p)
		case t.Command != "":
			m.err = a.access.Command(a.access.Context(), m.session.ID, t.Command, t.Args, p)
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
		a.input.Leave(m.session.ID, a.input.Editor)
		a.session = lathe.Session{}
		a.input.Reset()
		return tea.Batch(a.open(m.session.ID), a.tick())
	}
	return a.tick()
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
