// Package worktrees shows the git worktrees that lathe made for the repository: what is not
// merged in each and which session worked there. The person goes on in one, or removes it.
package worktrees

import (
	"context"
	"fmt"
	"path/filepath"

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

// GoOn says that the person wants to go on in a worktree.
type GoOn struct {
	api.Worktree
	Made bool // for this; otherwise it was there, and its last session goes on
}

// Room is where a person looks after worktrees.
type Room struct {
	access *engine.Access
}

// New returns the room. The engine must support worktrees.
func New(access *engine.Access) Room { return Room{access} }

// Make makes a worktree to go on in. An empty name gets a made-up one.
func (r Room) Make(name string) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		made, err := r.access.Able.Worktrees.CreateWorktree(ctx, name)
		if err != nil {
			return dialog.Fail(err)
		}
		return GoOn{made, true}
	})
}

// List shows the worktrees.
func (r Room) List() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		all, err := r.access.Able.Worktrees.Worktrees(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		var sessions []lathe.Session
		if len(all) > 0 {
			if sessions, err = r.access.Able.Worktrees.AllSessions(ctx); err != nil {
				return dialog.Fail(err)
			}
		}
		return dialog.Open{Sheet: r.list(all, sessions)}
	})
}

func (r Room) list(all []api.Worktree, sessions []lathe.Session) *dialog.List {
	l := dialog.List{Title: "worktrees", Hint: "enter open · ctrl+k remove · esc close", Empty: "there is none; /worktree makes one"}
	byDir := map[string]api.Worktree{}
	for _, w := range all {
		byDir[w.Directory] = w
		l.Items = append(l.Items, dialog.Item{
			ID: w.Directory, Title: styled.OneLine(look.Or(w.Branch, w.Name)), Detail: newest(sessions, w.Directory), Right: unmerged(w), Current: r.here(w),
		})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if w := byDir[it.ID]; !r.here(w) {
			return GoOn{Worktree: w}
		}
		return dialog.Tell{Kind: dialog.Info, Text: "you are in this worktree"}
	}
	l.Foot = func(l look.Look, it dialog.Item) styled.Line {
		return styled.Plain(styled.OneLine(it.ID), l.FG(theme.Muted))
	}
	sheet := dialog.NewList(l)
	sheet.Strokes = map[string]func(dialog.Item) tea.Msg{"ctrl+k": func(it dialog.Item) tea.Msg {
		if w := byDir[it.ID]; !r.here(w) {
			return dialog.All{dialog.Close{Sheet: sheet}, r.remove(w)}
		}
		return dialog.Tell{Kind: dialog.Warning, Text: "you are in this worktree; leave it before it is removed"}
	}}
	return sheet
}

// here reports whether the screen works in a worktree.
func (r Room) here(w api.Worktree) bool { return within(w.Directory, r.access.Able.Worktrees.Dir()) }

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// newest returns the title of the session that worked below a directory last.
func newest(sessions []lathe.Session, dir string) string {
	var last lathe.Session
	for _, s := range sessions {
		if within(dir, s.Directory) && s.ParentID == "" && (last.ID == "" || s.Updated.After(last.Updated)) {
			last = s
		}
	}
	return styled.OneLine(last.Title)
}

// unmerged says what was changed in a worktree.
func unmerged(w api.Worktree) string {
	added, removed := w.Total()
	if len(w.Changes) == 0 {
		return "nothing changed"
	}
	return say.Plural(len(w.Changes), "file") + fmt.Sprintf(", +%d -%d", added, removed)
}

// remove asks once more, then removes a worktree and shows the list again.
func (r Room) remove(w api.Worktree) tea.Msg {
	l := dialog.List{Title: "remove " + styled.OneLine(w.Name) + "?", Hint: "its work is kept on a branch"}
	l.Items = []dialog.Item{{ID: "no", Title: "keep it", Own: true}, {ID: "yes", Title: "remove it", Own: true, Detail: unmerged(w)}}
	l.Closed = r.List
	l.Pick = func(it dialog.Item) tea.Msg {
		if it.ID != "yes" {
			return r.List()
		}
		then := r.List()
		return r.access.Do(func(ctx context.Context) tea.Msg {
			out, err := r.access.Able.Worktrees.RemoveWorktree(ctx, w.Name)
			text := "removed " + w.Name
			if out.Kept != "" {
				text += "; its work is on branch " + out.Kept
			}
			return dialog.Done{Text: text, Err: err, Then: then}
		})
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}
