package builtin

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// beforehand asks whether a command in the background may change files of the project,
// where every change asks: what it is refused later nobody would see in time. Where nobody
// can be asked it runs without.
func (e bashRun) beforehand(ctx context.Context, c *shell.Command) error {
	if c.Confine == nil || e.call.Ask == nil || e.call.Rules.Action("edit", anyFile) != lathe.AskMe {
		return nil
	}
	if box, _ := c.Confine(shell.KindCommand); box == nil || box.Level() == sandbox.RulesOnly {
		return nil
	}
	err := ask(ctx, e.call, tool.Request{
		Permission: "edit", Patterns: []string{"*"}, Always: []string{"*"},
		Doing: "this command would run in the background and change files of the project", Instead: "run it in the foreground",
		Metadata: map[string]any{"command": e.in.Command, "reason": "what it may not change later would be refused unseen"},
	})
	if _, alone := errors.AsType[*permission.Unanswered](err); alone {
		return nil
	}
	if err == nil {
		c.Confine = e.confine(true)
	}
	return err
}
