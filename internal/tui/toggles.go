package tui

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
)

func (a *App) toggleTimes() tea.Cmd {
	a.look.times = !a.look.times
	a.prefs.Times = a.look.times
	return a.remember()
}

func (a *App) toggleTips() tea.Cmd {
	a.prefs.NoTips = !a.prefs.NoTips
	return a.remember()
}

// toMessage scrolls to the next message, the one before, or for 0 to the
// person's last one.
func (a *App) toMessage(dir int) tea.Cmd {
	list := slices.DeleteFunc(slices.Clone(a.conv.visible()), func(e *entry) bool { return e.text() == "" })
	if len(list) == 0 {
		return nil
	}
	at := len(list)
	if a.passed != "" && a.conv.bottom.e != nil {
		if i := slices.IndexFunc(list, func(e *entry) bool { return e.m.ID == a.passed }); i >= 0 {
			at = i
		}
	}
	switch {
	case dir == 0:
		for at = len(list) - 1; at > 0; at-- {
			if _, ok := list[at].m.Info.(*lathe.User); ok {
				break
			}
		}
	case at+dir >= len(list):
		a.conv.bottom.e, a.passed = nil, ""
		return nil
	default:
		at = max(0, at+dir)
	}
	a.passed = list[at].m.ID
	a.conv.jump(a.passed, a.scrollTop, a.look.draw)
	return nil
}

// readText shows a text in the person's own editor. What is changed there is not
// taken back.
func readText(editor []string, name string, data []byte) tea.Cmd {
	return func() tea.Msg {
		f, err := os.CreateTemp("", "*-"+name)
		if err == nil {
			_, err = f.Write(data)
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return doneMsg{err: fmt.Errorf("write a file for the editor: %w", err)}
		}
		cmd := exec.Command(editor[0], append(slices.Clone(editor[1:]), f.Name())...)
		return execMsg{cmd, func(err error) tea.Msg {
			_ = os.Remove(f.Name())
			if err != nil {
				return doneMsg{err: fmt.Errorf("editor %s: %w", editor[0], err)}
			}
			return doneMsg{}
		}}
	}
}
