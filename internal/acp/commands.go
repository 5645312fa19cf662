package acp

import (
	"context"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
)

// ownCommands are what lathe does without a model's help.
var ownCommands = []struct {
	availableCommand
	run func(*conversation, context.Context) error
}{
	{availableCommand{Name: "compact", Description: "Summarise the conversation so that it takes less of the model's window"}, (*conversation).compact},
	{availableCommand{Name: "undo", Description: "Take back the last prompt and everything it changed"}, (*conversation).undo},
	{availableCommand{Name: "redo", Description: "Bring back what was taken back"}, (*conversation).redo},
}

// tellCommands tells the editor which slash commands there are.
func (t *conversation) tellCommands(ctx context.Context) {
	list, err := t.c.Commands(ctx)
	if err != nil {
		t.a.Log.Warn("the commands are not known", "err", err)
	}
	u := commandsUpdate{Update: "available_commands_update", Commands: []availableCommand{}}
	for _, c := range ownCommands {
		u.Commands = append(u.Commands, c.availableCommand)
	}
	for _, c := range list {
		if isOwn(c.Name) {
			continue
		}
		a := availableCommand{Name: c.Name, Description: c.Description}
		if len(c.Hints) > 0 {
			a.Input = &commandInput{strings.Join(c.Hints, " ")}
		}
		u.Commands = append(u.Commands, a)
	}
	t.a.notify(t.id, u)
	t.pending(ctx)
}

func isOwn(name string) bool {
	for _, c := range ownCommands {
		if c.Name == name {
			return true
		}
	}
	return false
}

// slash turns a prompt that begins with a slash command into that command. It
// reports whether the command is already done.
func (t *conversation) slash(ctx context.Context, in *api.Prompt) (done bool, err error) {
	first, ok := in.Parts[0].(*lathe.Text)
	if !ok || !strings.HasPrefix(first.Text, "/") {
		return false, nil
	}
	name, args, _ := strings.Cut(strings.TrimSpace(first.Text[1:]), " ")
	for _, c := range ownCommands {
		if c.Name == name {
			return true, c.run(t, ctx)
		}
	}
	list, err := t.c.Commands(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range list {
		if c.Name == name {
			in.Command, in.Arguments = name, strings.TrimSpace(args)
			in.Parts = in.Parts[1:]
			return false, nil
		}
	}
	return false, nil // a path, or words: the model reads it as it is
}

func (t *conversation) compact(ctx context.Context) error {
	t.mu.Lock()
	model := t.chosen.model
	t.mu.Unlock()
	if err := t.c.Summarize(ctx, t.id, model); err != nil {
		return err
	}
	t.say("The conversation was compacted.")
	return nil
}

func (t *conversation) undo(ctx context.Context) error {
	r, err := t.c.Revert(ctx, t.id, api.Revert{Last: true})
	if err != nil {
		return err
	}
	t.say(undone("Taken back", r))
	return nil
}

func (t *conversation) redo(ctx context.Context) error {
	r, err := t.c.Unrevert(ctx, t.id, api.Unrevert{})
	if err != nil {
		return err
	}
	t.say(undone("Brought back", r))
	return nil
}

// undone describes what happened to the files.
func undone(what string, r api.Reverted) string {
	text := fmt.Sprintf("%s: %s changed.", what, say.Plural(len(r.Changed), "file"))
	if r.Conflicts > 0 {
		text += fmt.Sprintf(" %d were left as they are, because somebody else changed them since:", r.Conflicts)
		for _, k := range r.Kept {
			text += "\n- " + k.Path + ": " + k.Reason
		}
	}
	if r.Unrecorded != "" {
		text += " " + r.Unrecorded
	}
	return text
}
