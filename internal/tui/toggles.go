package tui

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

func (a *App) toggleTimes() tea.Cmd {
	a.look.Times = !a.look.Times
	a.prefs.Times = a.look.Times
	return a.remember()
}

// shownName is what prompts are signed with, if they are.
func shownName(o Options) string {
	if !o.Prefs.Names {
		return ""
	}
	return look.Or(styled.OneLine(o.User), "you")
}

func (a *App) toggleNames() tea.Cmd {
	a.prefs.Names = !a.prefs.Names
	a.opts.Prefs.Names = a.prefs.Names
	a.look.Name = shownName(a.opts)
	return a.remember()
}

func (a *App) toggleTips() tea.Cmd {
	a.prefs.NoTips = !a.prefs.NoTips
	return a.remember()
}

// toMessage scrolls to the next message, the one before, or for 0 to the
// person's last one.
func (a *App) toMessage(dir int) tea.Cmd {
	list := a.conv.visible()
	if dir == 0 {
		for _, e := range slices.Backward(list) {
			if _, ok := e.m.Info.(*lathe.User); ok && e.text() != "" {
				a.conv.jump(e.m.ID, a.scrollTop, a.pane().draw)
				return nil
			}
		}
		return nil
	}
	i, shown := a.conv.index(list, a.pane().draw)
	y := a.scrollTop - shown // the line on screen where the entry begins
	var next *entry
	for ; i >= 0; i-- {
		if list[i].text() != "" {
			if dir > 0 && y > 0 {
				next = list[i]
			} else if dir < 0 && y < 0 {
				a.conv.jump(list[i].m.ID, a.scrollTop, a.pane().draw)
				return nil
			}
		}
		if i > 0 {
			y -= len(a.pane().draw(list[i-1]))
		}
	}
	switch {
	case dir < 0:
		return a.scroll(-a.scrollTop) // where older ones are read, if there are any
	case next == nil:
		a.conv.bottom.e = nil
	default:
		a.conv.jump(next.m.ID, a.scrollTop, a.pane().draw)
	}
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
