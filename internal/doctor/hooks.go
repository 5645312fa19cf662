package doctor

import (
	"lathe/internal/api"
	"lathe/internal/instance"
)

// foreignHooks says which hooks of other tools wait for the person's word.
func foreignHooks(inst *instance.Instance) (out []api.Check) {
	all, err := inst.ClaudeHooks()
	if err != nil {
		return []api.Check{note("hooks", "%v", err)}
	}
	for _, h := range all {
		if h.State == api.HooksAsk {
			out = append(out, note("hooks", "those in %s do not run until you agree: see them with: lathe plugin hooks", h.File))
		}
	}
	return out
}
