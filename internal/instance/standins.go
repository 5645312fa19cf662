package instance

import (
	"lathe/internal/config"
	"lathe/internal/turn"
)

// standIns returns the models that the configuration names as a fallback; nil where it
// names none.
func (i *Instance) standIns() *turn.StandIns {
	var out turn.StandIns
	for _, name := range i.Config.Fallback {
		ref, err := i.Models.ParseRef(name)
		if err != nil {
			i.Config.Warnings = append(i.Config.Warnings, config.Issue{Path: "fallback", Msg: `"fallback": ` + err.Error()})
			continue
		}
		out.Models = append(out.Models, ref)
	}
	if out.Models == nil {
		return nil
	}
	return &out
}
