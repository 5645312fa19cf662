package paint

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// progress returns what changes the progress in the taskbar from one state to another;
// nothing if they are the same.
func progress(from, to *tea.ProgressBar) string {
	switch {
	case sameProgress(from, to):
		return ""
	case to == nil || to.State == tea.ProgressBarNone:
		return ansi.ResetProgressBar
	case to.State == tea.ProgressBarIndeterminate:
		return ansi.SetIndeterminateProgressBar
	case to.State == tea.ProgressBarWarning:
		return ansi.SetWarningProgressBar(to.Value)
	case to.State == tea.ProgressBarError:
		return ansi.SetErrorProgressBar(to.Value)
	}
	return ansi.SetProgressBar(to.Value)
}

func sameProgress(a, b *tea.ProgressBar) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
