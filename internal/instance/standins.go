package instance

import (
	"lathe/internal/config"
	"lathe/internal/turn"
)

// standIns returns the models that the configuration names as a fallback; nil where it
// names none.
func (m *Models) standIns(conf *config.Config) *turn.StandIns {
	var out turn.StandIns
	for _, name := range conf.Fallback {
		ref, err := m.ParseRef(name)
		if err != nil {
			conf.Warnings = append(conf.Warnings, config.Issue{Path: "fallback", Msg: `"fallback": ` + err.Error()})
			continue
		}
		out.Models = append(out.Models, ref)
	}
	if out.Models == nil {
		return nil
	}
	return &out
}
