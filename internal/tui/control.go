package tui

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
)

// controls are what other programs may make the screen do, by OpenCode's names.
// They cannot leave the screen or answer what lathe asks: that is up to the
// person.
var controls = map[string]keys.Action{
	"help.show": keys.Help, "session.list": keys.Sessions, "session.new": keys.NewSession, "session.share": keys.Share,
	"session.compact": keys.Compact, "session.timeline": keys.Timeline, "theme.list": keys.Themes, "model.list": keys.Models,
	"agent.list": keys.Agents, "agent.cycle": keys.AgentNext, "prompt.submit": keys.Submit,
}

var scrolls = map[string]keys.Action{
	"session.page.up": keys.PageUp, "session.page.down": keys.PageDown, "session.half.page.up": keys.HalfUp,
	"session.half.page.down": keys.HalfDown, "session.line.up": keys.LineUp, "session.line.down": keys.LineDown,
	"session.first": keys.First, "session.last": keys.Last,
}

// controlled does what another program asks of the screen, such as an editor that
// puts a selection into the input. Anything malformed or unknown is ignored.
func (a *App) controlled(ev lathe.ClientEvent) tea.Cmd {
	var in struct {
		Text, Command, Title, Message, Variant string
		SessionID                              lathe.SessionID
	}
	if json.Unmarshal(ev.Properties, &in) != nil {
		return nil
	}
	switch ev.Type {
	case "tui.prompt.append":
		return a.apply(a.input.Append(in.Text))
	case "tui.command.execute":
		return a.commanded(in.Command)
	case "tui.toast.show":
		if in.Title != "" {
			in.Message = in.Title + ": " + in.Message
		}
		kind := dialog.Info
		switch in.Variant {
		case "warning":
			kind = dialog.Warning
		case "error":
			kind = dialog.Failure
		}
		a.notify(kind, in.Message)
		return a.tick()
	case "tui.session.select":
		if lathe.CheckID(string(in.SessionID), lathe.PrefixSession) == nil {
			a.sheets.Clear()
			return a.open(in.SessionID)
		}
	}
	return nil
}

func (a *App) commanded(name string) tea.Cmd {
	switch name {
	case "prompt.clear":
		a.input.Reset()
		return a.apply(a.input.Changed())
	case "session.interrupt":
		cmd, _ := a.keyboard.interrupt(a, "interrupt")
		return cmd
	}
	if act, ok := scrolls[name]; ok {
		m, _ := a.conv.Act(act)
		return a.apply(m)
	}
	if act, ok := controls[name]; ok {
		cmd, _ := a.keyboard.action(a, act, "")
		return cmd
	}
	return nil
}
