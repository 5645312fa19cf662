package permission

import (
	"maps"
	"slices"

	"lathe"
	"lathe/internal/tool"
)

// combine makes one ask from the requests that need one. If one of them is about a
// command, that comes first: it is the one that clients without support for
// several show, and the one that the person's own patterns apply to.
func (s *Service) combine(in AskInput, wants []tool.Request) lathe.Ask {
	if i := slices.IndexFunc(wants, func(r tool.Request) bool { return r.Permission == "bash" }); i > 0 {
		first := wants[i]
		copy(wants[1:i+1], wants[:i])
		wants[0] = first
	}
	ask := lathe.Ask{
		ID: s.opts.IDs.Ask(), SessionID: in.SessionID, Permission: wants[0].Permission,
		Patterns: wants[0].Patterns, Always: wants[0].Always, Metadata: wants[0].Metadata, Tool: in.Tool,
	}
	if len(wants) == 1 && s.opts.Shared == nil {
		return ask
	}
	ask.Metadata = maps.Clone(ask.Metadata)
	if ask.Metadata == nil {
		ask.Metadata = map[string]any{}
	}
	if s.opts.Shared != nil {
		ask.Metadata[tool.MetaShared] = true
	}
	if len(wants) == 1 {
		return ask
	}
	var also []any
	for _, w := range wants[1:] {
		for k, v := range w.Metadata {
			if _, ok := ask.Metadata[k]; !ok {
				ask.Metadata[k] = v
			}
		}
		also = append(also, map[string]any{"permission": w.Permission, "patterns": w.Patterns, "always": w.Always})
	}
	ask.Metadata[tool.MetaAlso] = also
	return ask
}
