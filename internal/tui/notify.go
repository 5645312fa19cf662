package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/attend"
	"lathe/internal/tui/clip"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/paint"
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
	return tea.Raw(a.opts.Desk.terminal().Notification(a.look.T(text), a.title()))
}

// state says how things stand for a person who looks elsewhere.
func (v *view) state() attend.State {
	switch {
	case len(v.sheets.Waiting()) > 0:
		return attend.Waiting
	case v.busy():
		return attend.Busy
	}
	return attend.Idle
}

// progress is what the taskbar shows.
func (v *view) progress() *tea.ProgressBar {
	if !v.opts.Desk.terminal().ShowsProgress() {
		return nil
	}
	switch v.state() {
	case attend.Waiting:
		return tea.NewProgressBar(tea.ProgressBarWarning, 100)
	case attend.Busy:
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	return tea.NewProgressBar(tea.ProgressBarNone, 0) // also takes back what one left that was killed here
}

func (d *Desk) terminal() attend.Terminal {
	return attend.Terminal{Notify: d.Notify, Progress: d.Progress, Getenv: d.Getenv}
}

// Desk is what the screen can use on the person's own machine. Its zero value
// has nothing.
type Desk struct {
	Memory    *memory.Memory
	Clipboard *clip.Clipboard
	// Notify and Progress say how a person who looks elsewhere is told; see [attend.Terminal].
	Notify, Progress string
	// Bidi says whether text that is written from right to left is isolated from what is
	// around it; nil: where [paint.Arranges] knows the terminal.
	Bidi *bool
	// NoPictures shows the names of pictures alone.
	NoPictures bool
	Getenv     func(string) string // may be nil
	Editor     []string            // the person's own editor and its arguments; empty: none
	// WriteFile writes a new file where the person works and returns its path; nil:
	// files cannot be written.
	WriteFile func(name string, data []byte) (string, error)
}

// isolates reports whether text that is written from right to left is isolated.
func (d Desk) isolates(env []string) bool {
	if d.Bidi != nil {
		return *d.Bidi
	}
	return paint.Arranges(env)
}
