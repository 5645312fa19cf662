package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/ask"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
)

// events applies what happened.
func (a *App) events(batch Events) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range batch.List {
		if a.opening != "" && lathe.SessionOf(e.Event) == a.opening {
			a.meanwhile = append(a.meanwhile, e)
		}
		if cmd := a.event(e); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	if batch.Link != nil {
		cmds = append(cmds, a.linked(*batch.Link))
	}
	if batch.Lost {
		cmds = append(cmds, a.reread())
	}
	return tea.Batch(append(cmds, a.conv.LoadPictures(), a.tick())...)
}

func (a *App) event(e lathe.Envelope) tea.Cmd {
	switch ev := e.Event.(type) {
	case lathe.MessageUpdated:
		if ev.Message.SessionID == a.session.ID {
			a.conv.Message(ev.Message)
		}
	case lathe.MessageRemoved:
		a.conv.RemoveMessage(ev.MessageID)
	case lathe.PartUpdated:
		if ev.Part.SessionID == a.session.ID {
			a.conv.Part(ev.Part)
		}
	case lathe.PartDelta:
		if ev.SessionID == a.session.ID {
			if !a.conv.Delta(ev) {
				return a.reread()
			}
		}
	case lathe.PartRemoved:
		a.conv.RemovePart(ev.MessageID, ev.PartID)
	default:
		return a.other(e)
	}
	return nil
}

// other applies events that are not about messages.
func (a *App) other(e lathe.Envelope) tea.Cmd {
	switch ev := e.Event.(type) {
	case lathe.SessionUpdated:
		if ev.Session.ID == a.session.ID {
			a.setSession(ev.Session)
		}
	case lathe.SessionDeleted:
		if ev.Session.ID == a.session.ID {
			a.notify(dialog.Info, "the session was deleted")
			a.fresh()
		}
	case lathe.SessionStatus:
		return a.statusChanged(ev)
	case lathe.SessionFailed:
		if ev.SessionID == a.session.ID && ev.Failure != nil {
			if _, stopped := ev.Failure.(*lathe.AbortedFailure); !stopped {
				a.notify(dialog.Failure, look.InScreen(ev.Failure.Error()))
			}
		}
	case lathe.UndoOff:
		a.undoOff[ev.SessionID] = ev.Reason
		if ev.SessionID == a.session.ID {
			a.notify(dialog.Warning, "undo is off here: "+ev.Reason)
		}
	case lathe.MCPToolsChanged:
		return a.choice.Load() // its prompts are commands
	case lathe.LSPUpdated, lathe.LSPDiagnosed:
		a.side.StaleServers()
		return a.loadSide()
	case lathe.SessionMode:
		if ev.SessionID == a.session.ID {
			a.modes.Told(ev.Mode)
		}
	case lathe.Notice:
		if ev.SessionID == "" || ev.SessionID == a.session.ID {
			a.notify(dialog.Info, ev.Text)
		}
	case lathe.TodoUpdated:
		if ev.SessionID == a.session.ID {
			a.todos = ev.Todos
		}
	case lathe.SessionDiff:
		a.side.Changed(ev)
	case lathe.PermissionAsked:
		a.sheets.asked(ev.Ask, a.session.ID)
		return a.attention("needs your permission")
	case lathe.PermissionReplied:
		a.sheets.settled(ev.AskID)
	case lathe.QuestionAsked:
		a.sheets.questioned(ev.Ask, a.session.ID)
		return a.attention("has a question")
	case lathe.QuestionReplied:
		a.sheets.settled(ev.AskID)
	case lathe.QuestionRejected:
		a.sheets.settled(ev.AskID)
	case lathe.ClientEvent:
		return a.controlled(ev)
	}
	return nil
}

// setSession takes a session's own fields. An agent that it changed to by itself,
// as when a plan is done, wins over the one that was chosen before.
func (a *App) setSession(s lathe.Session) {
	if s.ID == a.session.ID && s.Agent != a.session.Agent {
		a.choice.DropAgent()
	}
	a.session = s
	a.sheets.visiting(s.ID) // asks may have come before the session was read
	a.conv.Undo("")
	if s.Revert != nil {
		a.conv.Undo(s.Revert.MessageID)
	}
}

func (a *App) statusChanged(ev lathe.SessionStatus) tea.Cmd {
	_, idle := ev.Status.(lathe.Idle)
	was := a.busy()
	if idle {
		delete(a.status, ev.SessionID)
	} else {
		a.status[ev.SessionID] = ev.Status
	}
	if ev.SessionID != a.session.ID {
		return nil
	}
	switch {
	case !idle && !was || !idle && a.since.IsZero():
		a.since = a.opts.Now()
	case idle:
		took := time.Duration(0)
		if !a.since.IsZero() {
			took = a.opts.Now().Sub(a.since)
		}
		a.since = time.Time{}
		if a.keyboard.armed == "interrupt" { // there is nothing left to stop
			a.keyboard.disarm(a)
		}
		if took > 10*time.Second {
			return tea.Batch(a.opts.loadBranch(), a.loadBudget(), a.attention("done"))
		}
		return tea.Batch(a.opts.loadBranch(), a.loadBudget())
	}
	return nil
}

// reply answers an ask. If it allows something from now on, the screen says so.
func (a *App) reply(m ask.Reply) tea.Cmd {
	a.sheets.Deafen(dialog.Haste)
	told := m.Granted
	if told != "" && a.access.Able.Approvals != nil {
		told += ". /permissions takes it back"
	}
	return a.do(told, func(ctx context.Context) error { return a.access.Reply(ctx, m.Ask, m.Reply) })
}

func (a *App) answer(m ask.Answers) tea.Cmd {
	a.sheets.Deafen(dialog.Quiet)
	return a.do("", func(ctx context.Context) error { return a.access.Answer(ctx, m.Ask.ID, m.Answers) })
}

func (a *App) dismiss(m ask.Dismissed) tea.Cmd {
	a.sheets.Deafen(dialog.Quiet)
	return a.do("", func(ctx context.Context) error { return a.access.Dismiss(ctx, m.Ask.ID) })
}
