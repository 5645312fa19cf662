package server

import (
	"context"

	"lathe/internal/api"
)

// foreign lists the hooks in the settings of other tools.
func (c plugs) foreign() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	list, err := inst.ClaudeHooks()
	if list == nil {
		list = []api.ForeignHooks{}
	}
	return list, err
}

// decide keeps what the person says of them. It is refused while a session works in the
// directory, which has the hooks that it began with.
func (c plugs) decide() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	var in api.HooksDecision
	if err := c.need(&in); err != nil {
		return nil, err
	}
	change := func(ctx context.Context) error { return inst.DecideClaudeHooks(ctx, in) }
	return true, repositories(c).change(inst.Root.Dir, change)
}
