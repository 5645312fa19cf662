package run

import (
	"context"
	"fmt"

	"lathe/internal/client"
	"lathe/internal/instance"
)

// leader returns the agent that a run asks for, or none and the reason if that
// agent cannot lead a session: a subagent works for another agent, a hidden one
// for lathe. An unknown name is left to the session, which lists the names there
// are.
func leader(ctx context.Context, c *client.Client, name string) (agent, warning string, err error) {
	if name == "" {
		return "", "", nil
	}
	agents, err := c.Agents(ctx)
	if err != nil {
		return "", "", err
	}
	for _, a := range agents {
		switch {
		case a.Name != name:
		case a.Mode == instance.ModeSubagent:
			return "", fmt.Sprintf("agent %q is a subagent, which works for another; the default agent takes over (to hand it work, write @%s in the message)", name, name), nil
		case a.Hidden:
			return "", fmt.Sprintf("agent %q is lathe's own; the default agent takes over", name), nil
		}
	}
	return name, "", nil
}
