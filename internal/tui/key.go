package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/about"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
)

// keyboard routes keystrokes and knows which of them begin or repeat something.
type keyboard struct {
	leader  time.Time // when the leader key was pressed; zero: it was not
	armed   string    // the key that acts when pressed a second time
	armedAt time.Time
	held    held // a letter that may be an answer
	covered bool // the leader was pressed above a sheet
}

// key routes a keystroke: to the leader, to the sheet on top, else to the input
// and the conversation.
func (k *keyboard) key(a *App, press tea.KeyPressMsg) tea.Cmd {
	stroke := dialog.Stroke(press)
	armed := k.armed
	if a.opts.Now().Sub(k.armedAt) > again {
		armed = ""
	}
	k.disarm(a)
	a.sheets.Give("")
	if !k.leader.IsZero() {
		late := a.opts.Now().Sub(k.leader) > a.opts.Leader
		k.leader = time.Time{}
		if !late {
			return k.led(a, stroke)
		}
	}
	if a.sheets.Belated() && !a.keys.IsLeader(stroke) {
		return nil
	}
	if cmd, ok := k.held.next(a, stroke, press.Text); ok {
		return cmd
	}
	writes := a.writes()
	if cmd, ok := k.above(a, stroke); ok && !writes {
		return cmd
	}
	if s := a.sheets.Taking(); s != nil && !writes && (a.sheets.Opened() || !a.keys.IsLeader(stroke)) {
		if a.sheets.Opened() { // an ask may be below it
			a.sheets.Deafen(dialog.Quiet)
		}
		return a.apply(s.Key(a, press))
	}
	if a.keys.IsLeader(stroke) {
		return k.lead(a)
	}
	if m, ok := a.input.Offer(stroke); ok {
		return a.apply(m)
	}
	if m, ok := a.input.ViKey(stroke, press.Text); ok {
		return a.apply(m)
	}
	if writes {
		if cmd, ok := k.turn(a, press, stroke); ok {
			return cmd
		}
	}
	for _, act := range a.keys.Plain(stroke) {
		if cmd, ok := k.action(a, act, armed); ok {
			return cmd
		}
	}
	if press.Text != "" {
		a.sheets.Write()
		return tea.Batch(a.apply(a.input.Write(press.Text)), a.lookLater())
	}
	return nil
}

// above handles the keys that a sheet does not get: help opens above it, the mode of approval
// changes while an ask stays for its answer, and the leader and the
// key after it do nothing but say so above what the person opened, since they are meant for
// the screen below and a letter alone could mean anything to the sheet. One that types into a
// program gets every key.
func (k *keyboard) above(a *App, stroke string) (tea.Cmd, bool) {
	s := a.sheets.Taking()
	if t, ok := s.(dialog.Terminal); s == nil || ok && t.Terminal() {
		k.covered = false
		return nil, false
	}
	switch {
	case k.covered:
		k.covered = false
		if stroke != "esc" && !a.keys.IsLeader(stroke) {
			k.arm(a, "", "close this first: esc, then "+a.keys.Leader()+" "+stroke) // until the next key
		}
		return a.tick(), true
	case a.sheets.Opened() && a.keys.IsLeader(stroke):
		k.covered = true
		return nil, true
	case a.keys.Is(stroke, keys.Help) && len(stroke) > 1: // a sign alone is written
		if p, ok := s.(*dialog.Page); ok && p.Title == about.HelpTitle {
			return a.apply(dialog.Close{Sheet: p}), true
		}
		return help(a), true
	case !a.sheets.Opened() && !a.writes() && len(stroke) > 1 && a.keys.Is(stroke, keys.ApprovalMode) && modal(&a.view):
		return a.apply(a.modes.Cycle(a.session.ID)), true
	}
	return nil, false
}

// led carries out what the leader and a key stand for.
func (k *keyboard) led(a *App, stroke string) tea.Cmd {
	for _, act := range a.keys.Led(stroke) {
		if act == keys.Exit {
			return tea.Quit
		}
		if c := commandFor(act); c != nil && c.can(&a.view) {
			return c.run(a)
		}
		if cmd, ok := k.action(a, act, ""); ok {
			return cmd
		}
	}
	return k.meaningless(a, stroke)
}

// action carries out an action, if it means something now.
func (k *keyboard) action(a *App, act keys.Action, armed string) (tea.Cmd, bool) {
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
		return k.exit(a, armed)
	case keys.Interrupt:
		return k.interrupt(a, armed)
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
		return a.apply(compose.Desk{Composer: a.input}.Clipboard()), true
	case keys.Suspend:
		return tea.Suspend, true
	}
	if c := commandFor(act); c != nil && c.can(&a.view) {
		return c.run(a), true
	}
	if m, ok := a.conv.Act(act); ok {
		return a.apply(m), true
	}
	m, ok := a.input.Act(act)
	return a.apply(m), ok
}

// again is how long a key can be pressed a second time to act: as long as the
// screen says so.
const again = 4 * time.Second

// arm makes the next press of a key act, and says so for as long as that holds.
func (k *keyboard) arm(a *App, what, text string) {
	k.armed, k.armedAt = what, a.opts.Now()
	a.notify(dialog.Info, text)
	a.toast.armed = true
}

// disarm forgets a key that was to be pressed a second time, and what was said of it.
func (k *keyboard) disarm(a *App) {
	k.armed = ""
	if a.toast.armed {
		a.toast = toast{}
	}
}

// exit leaves with an empty input, when the key is pressed twice.
func (k *keyboard) exit(a *App, armed string) (tea.Cmd, bool) {
	if !a.input.Empty() {
		return nil, false
	}
	if armed == "exit" {
		return tea.Quit, true
	}
	text := "press it again to leave"
	if a.busy() {
		text = "press it again to leave and stop the turn"
	}
	k.arm(a, "exit", text)
	return a.tick(), true
}

// interrupt stops the turn when it is pressed twice.
func (k *keyboard) interrupt(a *App, armed string) (tea.Cmd, bool) {
	if !a.busy() {
		return nil, true
	}
	if armed != "interrupt" {
		k.arm(a, "interrupt", "press "+a.keys.For(keys.Interrupt)+" again to stop the turn")
		return a.tick(), true
	}
	a.toast = toast{}
	return a.apply(a.undoing.Stop()), true
}

// scrollKey scrolls the conversation while a sheet has the keys.
func (k *keyboard) scrollKey(a *App, stroke string) tea.Cmd {
	for _, act := range a.keys.Plain(stroke) {
		if m, ok := a.conv.Act(act); ok {
			return a.apply(m)
		}
	}
	return nil
}

// paste takes pasted text to where the keys go. It answers nothing: a sheet without a field
// leaves it to the input.
func (a *App) paste(text string) tea.Cmd {
	s := a.sheets.Taking()
	if s == nil || a.writes() {
		return a.apply(a.input.Pasted(text))
	}
	a.keyboard.held = held{n: a.keyboard.held.n}
	if w, ok := s.(dialog.Writer); ok && w.Writes() {
		s.Paste(text)
		return nil
	}
	var first tea.Cmd
	if w, ok := s.(dialog.Worded); ok {
		first = a.apply(w.Words(""))
	}
	if a.sheets.Opened() {
		s.Paste(text)
		return first
	}
	a.sheets.Write()
	return tea.Batch(first, a.apply(a.input.Pasted(text)), a.lookLater())
}

// lookMsg says that the person may have stopped typing, so that an ask takes keys.
type lookMsg struct{}

// lookLater draws the screen again once an ask that was held takes keys.
func (a *App) lookLater() tea.Cmd {
	if !a.sheets.Holds() {
		return nil
	}
	return a.soon(dialog.Soon{After: dialog.Quiet, Then: lookMsg{}})
}
