package review

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
)

// commitPrompt asks the model for the commit.
const commitPrompt = "Commit what is staged: read it with `git diff --cached`, write a message as this repository's history does it, and commit. Stage nothing else."

// stage puts changes into git's index and says what came of it.
func (r *Room) stage(session lathe.SessionID, in api.Stage) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		out, err := r.access.Able.Review.Stage(ctx, session, in)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Tell{Kind: dialog.Info, Text: staged(in, out)}
	})
}

// staged says what was staged.
func staged(in api.Stage, out api.Staged) string {
	switch {
	case out.Already:
		return fmt.Sprintf("hunk %d was staged already", in.Hunk)
	case out.Whole:
		return "staged the file"
	case in.Hunk > 0:
		return fmt.Sprintf("staged hunk %d", in.Hunk)
	case len(out.Files) == 1:
		return "staged 1 file as it is now"
	}
	return fmt.Sprintf("staged %d files as they are now", len(out.Files)) // more than one
}
