// Package editor lets the person use their own editor, which takes over the
// terminal while it runs.
package editor

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
)

// maxEdited bounds what is read back from an editor.
const maxEdited = 4 << 20

// Edit lets the person change a text, and passes on the result.
func Edit(editor []string, text string, changed func(string) tea.Msg) tea.Cmd {
	f, err := os.CreateTemp("", "lathe-*.md")
	if err != nil {
		return func() tea.Msg { return dialog.Fail(fmt.Errorf("write a file for the editor: %w", err)) }
	}
	name := f.Name()
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(name)
		return func() tea.Msg { return dialog.Fail(fmt.Errorf("write a file for the editor: %w", err)) }
	}
	cmd := exec.Command(editor[0], append(append([]string{}, editor[1:]...), name)...)
	done := func(err error) tea.Msg {
		defer os.Remove(name)
		if err != nil {
			return dialog.Fail(fmt.Errorf("editor %s: %w", editor[0], err))
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
			return dialog.Fail(fmt.Errorf("read back from the editor: %w", err))
		}
		return changed(strings.TrimRight(string(data), "\n"))
	}
	return func() tea.Msg { return dialog.Exec{Cmd: cmd, Done: done} }
}

// Read shows a text in the person's own editor. What is changed there is not
// taken back.
func Read(editor []string, name string, data []byte) tea.Cmd {
	return func() tea.Msg {
		f, err := os.CreateTemp("", "*-"+name)
		if err == nil {
			_, err = f.Write(data)
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return dialog.Fail(fmt.Errorf("write a file for the editor: %w", err))
		}
		cmd := exec.Command(editor[0], append(slices.Clone(editor[1:]), f.Name())...)
		return dialog.Exec{Cmd: cmd, Done: func(err error) tea.Msg {
			_ = os.Remove(f.Name())
			if err != nil {
				return dialog.Fail(fmt.Errorf("editor %s: %w", editor[0], err))
			}
			return dialog.Done{}
		}}
	}
}

// Open opens a file on the person's machine.
func Open(editor []string, name string) tea.Msg {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return dialog.Tell{Kind: dialog.Warning, Text: "there is no file " + styled.OneLine(name) + " here"}
	}
	cmd := exec.Command(editor[0], append(slices.Clone(editor[1:]), name)...)
	return tea.Cmd(func() tea.Msg { return dialog.Exec{Cmd: cmd, Done: dialog.Fail} })
}
