package run

import (
	"encoding/json"

	"lathe"
	"lathe/internal/cli/console"
)

// confined notes what the sandbox refused a command that complained of it and ended well
// all the same. Where a person can be asked they see that; a run without one has not done
// all of it.
func (v *view) confined(p lathe.Part) {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok || v.opts.permission == "ask" {
		return
	}
	done, ok := call.State.(*lathe.ToolDone)
	if !ok {
		return
	}
	if done.Metadata["refused"] == nil || v.refusals.told[p.ID] {
		return
	}
	raw, err := json.Marshal(done.Metadata["refused"])
	var list []struct {
		Op, Path string
		Told     bool
	}
	if err != nil || json.Unmarshal(raw, &list) != nil {
		return // of another version
	}
	for _, r := range list {
		if !r.Told {
			continue
		}
		if v.refusals.told == nil {
			v.refusals.told = map[lathe.PartID]bool{}
		}
		v.refusals.told[p.ID] = true
		what := console.OneLine(r.Op+" "+r.Path+", for: "+done.Title, 300)
		v.refusals.add(refusal{what: what, protected: r.Op == "read"}, call.Tool, &lathe.ToolRef{MessageID: p.MessageID})
	}
}
