package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
)

// key routes a keystroke: to the leader, to the sheet on top, else to the input
// and the conversation.
func (a *App) key(k tea.KeyPressMsg) tea.Cmd {
	stroke := dialog.Stroke(k)
	armed := a.armed
	if a.opts.Now().Sub(a.armedAt) > again {
		armed = ""
	}
	a.armed = ""
	a.sheets.Give("")
	if !a.leader.IsZero() {
		late := a.opts.Now().Sub(a.leader) > a.opts.Leader
		a.leader = time.Time{}
		if !late {
			return a.led(stroke)
		}
	}
	if a.sheets.Belated() && !a.keys.IsLeader(stroke) {
		return nil
	}
	if s := a.sheets.Taking(); s != nil && (a.sheets.Opened() || !a.keys.IsLeader(stroke)) {
		if a.sheets.Opened() { // an ask may stand below
			a.sheets.Deafen(dialog.Quiet)
		}
		return a.apply(s.Key(a, k))
	}
	if a.keys.IsLeader(stroke) {
		return a.lead()
	}
	if m, ok := a.input.Offer(stroke); ok {
		return a.apply(m)
	}
	for _, act := range a.keys.Plain(stroke) {
		if cmd, ok := a.action(act, armed); ok {
			return cmd
		}
	}
	if k.Text != "" {
		a.sheets.Write()
		return tea.Batch(a.apply(a.input.Write(k.Text)), a.lookLater())
	}
	return nil
}

// led carries out what the leader and a key stand for.
func (a *App) led(stroke string) tea.Cmd {
	for _, act := range a.keys.Led(stroke) {
		if act == keys.Exit {
			return tea.Quit
		}
		if c := a.commandFor(act); c != nil && c.can(a) {
			return c.run(a)
		}
		if cmd, ok := a.action(act, ""); ok {
			return cmd
		}
	}
	return a.meaningless(stroke)
}

// action carries out an action, if it means something now.
func (a *App) action(act keys.Action, armed string) (tea.Cmd, bool) {
	empty := a.input.Empty()
	switch act {
	case keys.Submit:
		a.sheets.Typed()
		return a.submit(), true
	case keys.Clear:
		if empty {
			return nil, false
		}
		if text := a.input.Selected(); text != "" {
			a.input.Unselect()
			return a.copy(text, "copied what you selected"), true
		}
		return a.apply(a.input.Clear()), true
	case keys.Exit:
		return a.exit(armed)
	case keys.Interrupt:
		return a.interrupt(armed)
	case keys.HistoryPrevious, keys.HistoryNext:
		a.input.UpDown(act)
		return nil, true
	case keys.Up, keys.Down:
		return nil, false
	case keys.First, keys.Last:
		if !empty {
			return nil, false
		}
	case keys.BufferHome, keys.BufferEnd, keys.DeleteChar:
		if empty {
			return nil, false
		}
	case keys.Paste:
		return a.apply(a.input.PasteClipboard()), true
	case keys.Suspend:
		return tea.Suspend, true
	}
	if c := a.commandFor(act); c != nil && c.can(a) {
		return c.run(a), true
	}
	if m, ok := a.conv.Act(act); ok {
		return a.apply(m), true
	}
	m, ok := a.input.Act(act)
	return a.apply(m), ok
}

// again is how long a key does something when it is pressed once more: as long as
// the screen says so.
const again = 4 * time.Second

func (a *App) arm(what string) { a.armed, a.armedAt = what, a.opts.Now() }

// exit leaves with an empty input, when the key is pressed twice.
func (a *App) exit(armed string) (tea.Cmd, bool) {
	if !a.input.Empty() {
		return nil, false
	}
	if armed == "exit" {
		return tea.Quit, true
	}
	a.arm("exit")
	text := "press it again to leave"
	if a.busy() {
		text = "press it again to leave and stop the turn"
	}
	a.notify(dialog.Info, text)
	return a.tick(), true
}

// interrupt stops the turn when it is pressed twice.
func (a *App) interrupt(armed string) (tea.Cmd, bool) {
	if !a.busy() {
		return nil, true
	}
	if armed != "interrupt" {
		a.arm("interrupt")
		a.notify(dialog.Info, "press "+a.keys.For(keys.Interrupt)+" again to stop the turn")
		return a.tick(), true
	}
	id := a.session.ID
	a.toast = toast{}
	return func() tea.Msg { return doneMsg{err: a.access.Abort(a.access.Context(), id)} }, true
}

// scrollKey scrolls the conversation while a sheet has the keys.
func (a *App) scrollKey(stroke string) tea.Cmd {
	for _, act := range a.keys.Plain(stroke) {
		if m, ok := a.conv.Act(act); ok {
			return a.apply(m)
		}
	}
	return nil
}

// paste takes pasted text to where the keys go.
func (a *App) paste(text string) tea.Cmd {
	if s := a.sheets.Taking(); s != nil {
		s.Paste(text)
		return nil
	}
	return a.apply(a.input.Pasted(text))
}

// lookMsg says that the person may have stopped typing, so that an ask takes keys.
type lookMsg struct{}

// lookLater draws the screen anew once an ask that was held takes keys.
func (a *App) lookLater() tea.Cmd {
	if !a.sheets.Holds() {
		return nil
	}
	return a.soon(dialog.Soon{After: dialog.Quiet, Then: lookMsg{}})
}
