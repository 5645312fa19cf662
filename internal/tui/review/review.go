// Package review is where a person looks through what a session changed: by prompt, file and
// hunk. review.go fetches and carries out, overview.go lists prompts and files, file.go shows
// a file with its changes in place, stage.go puts changes into git's index.
package review

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Room knows what was looked at.
type Room struct {
	access *engine.Access
	looked map[string]bool // changes, by their [api.ReviewedFile.Key]
}

// What the person wants done with what they see.
type (
	// Comment is a remark for the next prompt, with the place it is about.
	Comment struct{ Text string }
	// Ask is a prompt for the model, to be sent by the person.
	Ask struct{ Prompt string }
	// Revert goes back to before a prompt.
	Revert struct{ Message lathe.MessageID }
	// Jump shows a prompt in the conversation.
	Jump struct{ Message lathe.MessageID }
)

// New returns the room of an engine.
func New(access *engine.Access) *Room {
	return &Room{access: access, looked: map[string]bool{}}
}

// Open shows the changes of a session.
func (r *Room) Open(session lathe.SessionID) tea.Msg {
	o := &overview{room: r, session: session, mark: -1}
	return r.load(o, dialog.Open{Sheet: o})
}

// load reads the changes for an overview, and then does what follows.
func (r *Room) load(o *overview, then tea.Msg) tea.Cmd {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.Able.Review.Review(ctx, o.session)
		if err != nil {
			return dialog.Fail(err)
		}
		marked := r.marked(ctx, o.session)
		return dialog.Here(func() tea.Msg {
			if marked != nil {
				r.looked = marked
			}
			o.take(list)
			return then
		})
	})
}

// marked reads what was looked at; nil if that cannot be read. It replaces what this screen
// knows, because another one may have taken marks back.
func (r *Room) marked(ctx context.Context, session lathe.SessionID) map[string]bool {
	can := r.access.Able.Notes
	if can == nil {
		return nil
	}
	notes, err := can.Notes(ctx, session)
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, name := range notes.Looked {
		out[name] = true
	}
	return out
}

// look marks changes as looked at, or not, and keeps that with the session.
func (r *Room) look(session lathe.SessionID, names []string, on bool) tea.Msg {
	for _, name := range names {
		r.looked[name] = on
	}
	in := api.NotesChange{Unlook: names}
	if on {
		in = api.NotesChange{Look: names}
	}
	can := r.access.Able.Notes
	if can == nil {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		_, err := can.Note(ctx, session, in)
		return dialog.Fail(err)
	})
}

// compare shows what changed from one prompt on until before another one.
func (r *Room) compare(session lathe.SessionID, from, to api.Reviewed) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		files, err := r.access.Able.Review.Between(ctx, session, from.Message, to.Message)
		if err != nil {
			return dialog.Fail(err)
		}
		o := &overview{room: r, session: session, mark: -1, fixed: true, from: from.Text, until: to.Message}
		o.take([]api.Reviewed{{Message: from.Message, Text: to.Text, Created: to.Created, Files: files}})
		return dialog.Open{Sheet: o}
	})
}

// takeBack asks what taking changes back would do, then the person.
func (r *Room) takeBack(o *overview, in api.TakeBack, what string, above ...dialog.Sheet) tea.Msg {
	dry := in
	dry.DryRun = true
	return r.access.Do(func(ctx context.Context) tea.Msg {
		out, err := r.access.Able.Review.TakeBack(ctx, o.session, dry)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Open{Sheet: newConfirm("take back "+what, outcome(out, "would be changed", o.name), len(out.Changed) > 0, func() tea.Msg {
			return r.access.Do(func(ctx context.Context) tea.Msg {
				done, err := r.access.Able.Review.TakeBack(ctx, o.session, in)
				if err != nil {
					return dialog.Fail(err)
				}
				then := dialog.All{}
				for _, s := range above {
					then = append(then, dialog.Close{Sheet: s})
				}
				return dialog.Done{Text: "took back " + what + kept(done), Then: append(then, r.load(o, nil))}
			})
		})}
	})
}

// revert asks what going back to before a prompt would do, then the person.
func (r *Room) revert(o *overview, p api.Reviewed) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		out, err := r.access.Able.Review.PreviewRevert(ctx, o.session, p.Message)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Open{Sheet: newConfirm("undo this prompt and all after it", outcome(out, "would be taken back", o.name), true, func() tea.Msg {
			return dialog.All{dialog.Close{Sheet: o}, Revert{p.Message}}
		})}
	})
}

// kept says how many files were left alone.
func kept(out api.Reverted) string {
	if out.Conflicts == 0 {
		return ""
	}
	return "; left " + say.Plural(out.Conflicts, "file") + " alone"
}

// outcome says what would become of files, by the names that name gives their paths.
func outcome(out api.Reverted, done string, name func(path string) string) func(l look.Look) []styled.Line {
	return func(l look.Look) []styled.Line {
		var lines []styled.Line
		for _, f := range out.Changed {
			word := done
			switch {
			case slices.Contains(out.Deleted, f):
				word = "would be deleted"
			case slices.Contains(out.Created, f):
				word = "would be restored"
			case slices.Contains(out.Emptied, f):
				word = "would stay as an empty file"
			}
			lines = append(lines, styled.Line{{Text: l.Glyph("● ", "* "), Style: l.FG(theme.Success)}, {Text: styled.OneLine(name(f)), Style: l.FG(theme.Text)}, {Text: "  " + l.T(word), Style: l.FG(theme.Muted)}})
		}
		for _, k := range out.Kept {
			line := styled.Line{{Text: l.Glyph("⚠ ", "! ") + styled.OneLine(name(k.Path)), Style: l.FG(theme.Warning)}, {Text: l.T("  kept as it is: " + styled.OneLine(k.Reason)), Style: l.FG(theme.Muted)}}
			lines = append(lines, styled.Wrap(line, l.Width-4, l.Method)...)
		}
		if out.Unrecorded != "" {
			lines = append(lines, styled.Wrap(styled.Plain(l.T("cannot be undone: "+styled.OneLine(out.Unrecorded)), l.FG(theme.Warning)), l.Width-4, l.Method)...)
		}
		if len(lines) == 0 {
			lines = append(lines, styled.Plain(l.T("no file would be changed"), l.FG(theme.Muted)))
		}
		return lines
	}
}

// confirm shows what would happen and asks whether it should.
type confirm struct {
	dialog.Choice
	title string
	text  func(l look.Look) []styled.Line
	yes   func() tea.Msg
}

func newConfirm(title string, text func(look.Look) []styled.Line, can bool, yes func() tea.Msg) *confirm {
	c := &confirm{title: title, text: text, yes: yes}
	c.Given, c.Left = c.answer, func() tea.Msg { return dialog.Close{Sheet: c} }
	c.Answers = [][2]string{{"n", "leave it"}}
	if can {
		c.Answers = [][2]string{{"y", "do it"}, {"n", "leave it"}}
		c.Yes, c.At = 1, 1
	}
	return c
}

func (c *confirm) answer(i int) tea.Msg {
	if c.Answers[i][0] == "y" {
		return dialog.All{dialog.Close{Sheet: c}, c.yes()}
	}
	return dialog.Close{Sheet: c}
}

// Draw shows what would happen, and the answers.
func (c *confirm) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	return c.Show(l, height, l.Title(styled.OneLine(c.title), "nothing is done yet"), c.text(l), nil)
}

// short is the beginning of a prompt.
func short(text string) string {
	text = styled.OneLine(text)
	if r := []rune(text); len(r) > 30 {
		return strings.TrimSpace(string(r[:30])) + "…"
	}
	return text
}
