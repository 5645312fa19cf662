package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lathe/internal/tui/clip"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/memory"
)

// copy copies a text by all means there are: the terminal's sequence, and the
// programs of the desktop or of tmux.
func (a *App) copy(text, said string) tea.Cmd {
	board := a.opts.Desk.Clipboard
	cmds := []tea.Cmd{tea.Raw(clip.New(a.opts.Desk.getenv).Sequence(text))}
	if board != nil {
		cmds = append(cmds, func() tea.Msg {
			if err := board.Copy(a.access.Context(), text); err != nil {
				return doneMsg{err: err}
			}
			return nil
		})
	}
	a.notify(dialog.Info, said)
	return tea.Batch(append(cmds, a.tick())...)
}

func (d *Desk) getenv(name string) string {
	if d.Getenv == nil {
		return ""
	}
	return d.Getenv(name)
}

// attention tells a person who looks elsewhere, with the terminal's own means.
func (a *App) attention(text string) tea.Cmd {
	if a.focused {
		return nil
	}
	return tea.Raw(Notification(text, a.opts.Desk.Notify, a.opts.Desk.getenv))
}

// Notification returns the sequence that shows a text as a notification, and rings
// the bell, which multiplexers show too.
func Notification(text, how string, getenv func(string) string) string {
	const bell = "\a"
	seq := ""
	switch how {
	case "off":
		return ""
	case "bell":
	case "osc777":
		seq = "\x1b]777;notify;lathe;" + text + bell
	case "osc9":
		seq = "\x1b]9;" + text + bell
	default:
		seq = "\x1b]9;" + text + bell
		if strings.HasPrefix(getenv("TERM"), "rxvt") || strings.HasPrefix(getenv("TERM"), "foot") || getenv("VTE_VERSION") != "" {
			seq = "\x1b]777;notify;lathe;" + text + bell
		}
	}
	if seq != "" && getenv("TMUX") != "" {
		seq = ansi.TmuxPassthrough(seq)
	}
	return seq + bell
}

// Desk is what the screen can use on the person's own machine. Its zero value
// has nothing.
type Desk struct {
	Memory    *memory.Memory
	Clipboard *clip.Clipboard
	// Notify says how a person who looks elsewhere is told: "auto", "osc9",
	// "osc777", "bell" or "off".
	Notify string
	// NoPictures shows the names of pictures alone.
	NoPictures bool
	Getenv     func(string) string // may be nil
	Editor     []string            // the person's own editor and its arguments; empty: none
	// WriteFile writes a new file where the person works and returns its path; nil:
	// files cannot be written.
	WriteFile func(name string, data []byte) (string, error)
}
