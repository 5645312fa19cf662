// Package modes shows how much the session on screen asks before something is done, and
// changes it. The engine keeps to the mode; the screen only says which one holds.
package modes

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/theme"
)

// Room knows the mode of the session on screen.
type Room struct {
	access *engine.Access
	holds  lathe.ApprovalMode // what the engine keeps to; empty: not known
	wanted lathe.ApprovalMode // what was chosen and is not acknowledged yet; empty: nothing
}

// Changed says how choosing a mode ended.
type Changed struct {
	Session lathe.SessionID
	Mode    lathe.ApprovalMode
	Err     error
}

// New returns the room of an engine.
func New(access *engine.Access) *Room { return &Room{access: access} }

// words say what a mode is: its name in the state line, and what it means.
var words = map[lathe.ApprovalMode][2]string{
	lathe.ByRules:     {"by rules", "asks what your rules say"},
	lathe.AskFirst:    {"ask first", "asks before every change and every command"},
	lathe.AcceptEdits: {"accept edits", "changes files of the project unasked, asks before commands"},
	lathe.PlanOnly:    {"plan only", "changes nothing"},
	lathe.Auto:        {"auto", "changes and confined commands unasked; asks what leaves the project"},
}

// Words are the name of a mode, and what it means.
func Words(m lathe.ApprovalMode) (name, means string) { return words[m][0], words[m][1] }

// Label names the mode that holds, for the state line, in its colour; empty where the
// engine knows no modes.
func (r *Room) Label() (text string, key theme.Key) {
	if r.access.Able.Modes == nil {
		return "", theme.Text
	}
	key = theme.Muted
	switch r.mode() {
	case lathe.AskFirst, lathe.AcceptEdits:
		key = theme.Info
	case lathe.PlanOnly:
		key = theme.Secondary
	case lathe.Auto:
		key = theme.Warning
	}
	text = words[r.mode()][0]
	if r.wanted != "" && r.holds != "" {
		text += " …"
	}
	return text, key
}

func (r *Room) mode() lathe.ApprovalMode {
	switch {
	case r.wanted != "":
		return r.wanted
	case r.holds != "":
		return r.holds
	}
	return lathe.ByRules
}

// Visit takes the mode of the session that is on screen now.
func (r *Room) Visit(m lathe.ApprovalMode) { r.holds, r.wanted = m, "" }

// Fresh begins a new session in the mode of the one before. [lathe.Auto] has to be chosen anew.
func (r *Room) Fresh() {
	mode := r.mode()
	if mode == lathe.Auto {
		mode = ""
	}
	r.holds, r.wanted = "", mode
}

// Told takes what the engine says of the session on screen.
func (r *Room) Told(m lathe.ApprovalMode) {
	r.holds = m
	if r.wanted == m {
		r.wanted = ""
	}
}

// Done takes the outcome of a choice.
func (r *Room) Done(m Changed) tea.Msg {
	if r.wanted == m.Mode {
		r.wanted = ""
	}
	if m.Err != nil {
		return dialog.Fail(m.Err)
	}
	r.holds = m.Mode
	return nil
}

// Cycle goes to the next mode.
func (r *Room) Cycle(session lathe.SessionID) tea.Msg {
	all := lathe.ApprovalModes()
	return r.choose(session, all[(slices.Index(all, r.mode())+1)%len(all)])
}

// choose changes the mode. Without a session it is kept for the one that the next prompt
// begins.
func (r *Room) choose(session lathe.SessionID, mode lathe.ApprovalMode) tea.Msg {
	can := r.access.Able.Modes
	if can == nil {
		return dialog.Tell{Kind: dialog.Warning, Text: "this server knows no modes of approval"}
	}
	r.wanted = mode
	tell := dialog.Tell{Kind: dialog.Info, Text: words[mode][0] + ": " + words[mode][1]}
	if session == "" {
		return tell
	}
	return dialog.All{tell, r.access.Do(func(ctx context.Context) tea.Msg {
		return Changed{session, mode, can.SetApprovalMode(ctx, session, mode)}
	})}
}

// Begin returns what to do with a session that was just made, before its first prompt.
func (r *Room) Begin() func(ctx context.Context, id lathe.SessionID) error {
	can, mode := r.access.Able.Modes, r.wanted
	if can == nil || mode == "" || mode == lathe.ByRules {
		return func(context.Context, lathe.SessionID) error { return nil }
	}
	return func(ctx context.Context, id lathe.SessionID) error { return can.SetApprovalMode(ctx, id, mode) }
}

// List offers the modes with what they mean.
func (r *Room) List(session lathe.SessionID) tea.Msg {
	l := dialog.List{Title: "how much is asked", Hint: "enter choose · esc close"}
	for _, m := range lathe.ApprovalModes() {
		l.Items = append(l.Items, dialog.Item{ID: string(m), Title: words[m][0], Detail: words[m][1], Current: m == r.mode()})
	}
	l.Pick = func(it dialog.Item) tea.Msg { return r.choose(session, lathe.ApprovalMode(it.ID)) }
	return dialog.Open{Sheet: dialog.NewList(l)}
}
