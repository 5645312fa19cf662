// Package attend tells a person who looks elsewhere how things stand: by a notification of
// the terminal, its bell, the title of its window, and the progress in the taskbar. Control
// characters and escape sequences in the texts are removed here.
package attend

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"lathe/internal/jsonc"
	"lathe/internal/printable"
)

// State is how things stand.
type State uint8

// The states, which a person who looks elsewhere has to tell apart.
const (
	Idle    State = iota
	Busy          // a turn runs
	Waiting       // a permission or an answer is needed
)

// maxText bounds what a title or a notification says, in characters.
const maxText = 120

// Title returns the title of the window: its mark shows the state in a list of tabs.
func Title(s State, about string) string {
	name := "lathe"
	if about = printable.Shorten(printable.Line(about), maxText); about != "" {
		name += " · " + about
	}
	switch s {
	case Busy:
		return "● " + name
	case Waiting:
		return "? " + name
	}
	return name
}

// Terminal is what the person's terminal is told by.
type Terminal struct {
	// Notify is "auto", "osc9", "osc99", "osc777", "bell" or "off"; empty is auto.
	Notify string
	// Progress is "on" or "off"; anything else is on where the terminal is known to show it.
	Progress string
	// Unseen says that it is not known whether the terminal is in front: it decides itself, if it can.
	Unseen bool
	// Getenv reads the environment of the terminal; nil: it is empty.
	Getenv func(string) string
}

// Configured returns the terminal as the "tui" object of the configuration, which may be nil, wants
// it used.
func Configured(tui *jsonc.Value) (t Terminal) {
	if tui == nil {
		return t
	}
	switch how := tui.Get("notify").Any().(type) {
	case string:
		t.Notify = how
	case bool:
		if !how {
			t.Notify = "off"
		}
	}
	if on, ok := tui.Get("progress").Any().(bool); ok {
		t.Progress = map[bool]string{true: "on", false: "off"}[on]
	}
	return t
}

func (t Terminal) env(name string) string {
	if t.Getenv == nil {
		return ""
	}
	return t.Getenv(name)
}

// Notification returns the sequence that shows what happened and what it is about, and rings
// the bell, which multiplexers show too.
func (t Terminal) Notification(what, about string) string {
	const bell = "\a"
	text := printable.Shorten(printable.Line(what), maxText)
	if about = printable.Shorten(printable.Line(about), maxText); about != "" {
		text += ": " + about
	}
	seq := ""
	switch t.kind() {
	case "off":
		return ""
	case "osc777": // its fields are separated by ";"
		seq = "\x1b]777;notify;lathe;" + strings.ReplaceAll(text, ";", ",") + bell
	case "osc99":
		when := ""
		if t.Unseen && t.env("TMUX") == "" { // a window of tmux may be hidden in a terminal that is in front
			when = ":o=unfocused"
		}
		seq = "\x1b]99;i=lathe:d=0" + when + ";lathe\x1b\\\x1b]99;i=lathe:d=1" + when + ":p=body;" + text + "\x1b\\"
	case "osc9": // a digit and ";" at the beginning would be a command of ConEmu's
		seq = "\x1b]9;lathe: " + text + bell
	}
	return t.through(seq) + bell
}

// kind returns how this terminal is told.
func (t Terminal) kind() string {
	switch t.Notify {
	case "osc9", "osc99", "osc777", "bell", "off":
		return t.Notify
	}
	name := t.env("TERM")
	switch {
	case name == "linux" || name == "dumb" || strings.HasPrefix(name, "vt1") || strings.HasPrefix(name, "vt2"):
		return "bell"
	case t.env("KITTY_WINDOW_ID") != "" || strings.HasPrefix(name, "xterm-kitty"):
		return "osc99"
	case strings.HasPrefix(name, "rxvt") || strings.HasPrefix(name, "foot") || t.env("VTE_VERSION") != "":
		return "osc777"
	}
	return "osc9"
}

// through passes a sequence through a multiplexer to the terminal.
func (t Terminal) through(seq string) string {
	switch {
	case seq == "":
	case t.env("TMUX") != "":
		return ansi.TmuxPassthrough(seq)
	case strings.HasPrefix(t.env("TERM"), "screen") && t.env("STY") != "":
		return ansi.ScreenPassthrough(seq, 0)
	}
	return seq
}

// ShowsProgress reports whether the taskbar is told that something runs. Terminals that do
// not know the sequence take it for a notification, so only those that do get it.
func (t Terminal) ShowsProgress() bool {
	switch t.Progress {
	case "on":
		return true
	case "off":
		return false
	}
	if t.env("TMUX") != "" || t.env("STY") != "" {
		return false
	}
	return t.env("WT_SESSION") != "" || t.env("ConEmuANSI") == "ON" || t.env("TERM_PROGRAM") == "ghostty" || t.env("TERM") == "xterm-ghostty"
}
