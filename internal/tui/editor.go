package tui

import (
	"fmt"
	"os"
	"os/exec"

	tea "charm.land/bubbletea/v2"
)

// maxEdited bounds what is read back from an editor.
const maxEdited = 4 << 20

// editText lets the person change a text in their own editor, which has the
// terminal meanwhile. The file is gone afterwards.
func editText(editor []string, text string) tea.Cmd {
	f, err := os.CreateTemp("", "lathe-*.md")
	if err != nil {
		return func() tea.Msg { return doneMsg{err: fmt.Errorf("write a file for the editor: %w", err)} }
	}
	name := f.Name()
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(name)
		return func() tea.Msg { return doneMsg{err: fmt.Errorf("write a file for the editor: %w", err)} }
	}
	cmd := exec.Command(editor[0], append(append([]string{}, editor[1:]...), name)...)
	done := func(err error) tea.Msg {
		defer os.Remove(name)
		if err != nil {
			return doneMsg{err: fmt.Errorf("editor %s: %w", editor[0], err)}
		}
		info, err := os.Stat(name)
		if err == nil && info.Size() > maxEdited {
			err = fmt.Errorf("the text is larger than %d bytes", maxEdited)
		}
		var data []byte
		if err == nil {
			data, err = os.ReadFile(name)
		}
		if err != nil {
			return doneMsg{err: fmt.Errorf("read back from the editor: %w", err)}
		}
		return doneMsg{then: func(a *App) tea.Cmd {
			text := string(data)
			for len(text) > 0 && text[len(text)-1] == '\n' {
				text = text[:len(text)-1]
			}
			a.input.Set(text)
			return nil
		}}
	}
	return func() tea.Msg { return execMsg{cmd, done} }
}
