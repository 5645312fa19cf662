package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
)

func (a *App) opened(m openedMsg) (cmd tea.Cmd) {
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
		early := a.early()
		a.apply(a.input.Put())
		a.choice.Begin(a.opts.Agent, a.opts.Model)
		a.input.Begin(m.id)
		a.apply(a.input.Resume(early))
		if a.session.ID != "" {
			a.input.Forget()
		}
	}
	a.conv, a.todos = a.conv.Next(), m.todos
	a.side.Stale() // what it changed in the meantime was not told
	a.conv.Load(m.history, m.more)
	a.setSession(m.session)
	a.modes.Visit(m.mode)
	if !again {
		a.input.Remember(a.conv.Prompts())
	}
	a.since = time.Time{}
	if _, idle := m.status.(lathe.Idle); !idle && m.status != nil {
		a.status[m.id], a.since = m.status, a.conv.Shown().Begun(a.opts.Now())
	} else {
		delete(a.status, m.id)
	}
	if a.opts.Review && !again && canReview(&a.view) {
		a.opts.Review = false
		defer func() { cmd = tea.Batch(cmd, a.apply(a.review.Open(m.id))) }()
	}
	cmds := []tea.Cmd{a.tick(), a.conv.LoadPictures(), a.toGoal(), a.loadSide(), a.loadBudget(), a.marks.Visit(m.id)}
	cmds = append(cmds, a.apply(a.start.Opened(m.session, m.history, a.busy())))
	for _, e := range meanwhile { // events that came while it was read
		cmds = append(cmds, a.event(e))
	}
	return tea.Batch(cmds...)
}

// fresh shows an empty session, which is made when something is sent.
func (a *App) fresh() {
	a.apply(a.input.Put())
	a.session, a.conv, a.opening, a.todos = lathe.Session{}, a.conv.Next(), "", nil
	a.input.Begin("")
	a.modes.Fresh()
	a.since = time.Time{}
}

// submit sends what was written: a command of the screen, one of the engine, a
// shell command, or a prompt.
func (a *App) submit() tea.Cmd {
	t := a.input.Typed()
	if t.Text == "" {
		return nil
	}
	if t.Command != "" {
		if c := slash(t.Command); c != nil {
			later := a.apply(a.input.Done(t.Args != ""))
			a.sheets.Give(t.Args)
			if !c.can(&a.view) {
				a.notify(dialog.Warning, "/"+t.Command+" cannot be used now")
				return tea.Batch(later, a.tick())
			}
			return tea.Batch(later, c.run(a))
		}
		if !a.choice.HasCommand(t.Command) {
			a.notify(dialog.Failure, "there is no command /"+t.Command+"; "+a.keys.For("command_list")+" lists them")
			return a.tick()
		}
	}
	files, pasted, before := a.input.Files(), a.input.Pastes(), a.input.Editor
	kept := a.apply(a.input.Sent())
	a.conv.Follow()
	a.sending++
	if a.since.IsZero() {
		a.since = a.opts.Now()
	}
	agent, model := a.choice.Chosen()
	p := engine.Prompt{Text: t.Text, Agent: agent, Model: model, Files: files, Pasted: pasted}
	return tea.Batch(a.send(t, p, before, a.modes.Begin()), kept, a.tick())
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

// toGoal jumps to the message that is looked for; if it has not been read yet,
// older ones are read.
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

// early takes what the person typed before the session that the screen was opened with was
// read: it was meant for that session.
func (a *App) early() edit.Editor {
	if a.session.ID != "" || a.opts.Session == "" || a.opts.Prompt != "" {
		return edit.Editor{}
	}
	typed := a.input.Editor
	a.input.Reset()
	return typed
}
