package cli

import (
	"context"
	"fmt"

	"lathe/internal/session"
)

// leader returns the agent that a run asks for, or none and why where that agent
// cannot lead a session: a subagent works for another, a hidden one for lathe. An
// unknown name is left to the session, which tells the names there are.
func leader(ctx context.Context, app *app, dir, name string) (agent, warning string, err error) {
	if name == "" {
		return "", "", nil
	}
	inst, err := app.svc.Instance(ctx, dir)
	if err != nil {
		return "", "", err
	}
	for _, a := range inst.Agents {
		switch {
		case a.Name != name:
		case a.Mode == session.ModeSubagent:
			return "", fmt.Sprintf("agent %q is a subagent, which works for another; the default agent takes over (to hand it work, write @%s in the message)", name, name), nil
		case a.Hidden:
			return "", fmt.Sprintf("agent %q is lathe's own; the default agent takes over", name), nil
		}
	}
	return name, "", nil
}
