package run

import (
	"encoding/json"
	"fmt"

	"lathe"
	"lathe/internal/cli/console"
)

// confined notes what the sandbox refused a command that complained of it and ended well
// all the same, and hosts that a rule denied it. Where a person can be asked they see that;
// a run without one has not done all of it.
func (v *view) confined(p lathe.Part) {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok || v.opts.permission == "ask" || v.refusals.told[p.ID] {
		return
	}
	var list []refusal
	switch state := call.State.(type) {
	case *lathe.ToolDone:
		list = append(complaints(state.Metadata, state.Title), deniedHosts(state.Metadata, commandOf(state.Input))...)
	case *lathe.ToolFailed:
		list = deniedHosts(state.Metadata, commandOf(state.Input))
	}
	for _, r := range list {
		if v.refusals.told == nil {
			v.refusals.told = map[lathe.PartID]bool{}
		}
		v.refusals.told[p.ID] = true
		v.refusals.add(r, call.Tool, &lathe.ToolRef{MessageID: p.MessageID})
	}
}

// complaints lists what the sandbox refused a command that complained of it.
func complaints(meta map[string]any, title string) (out []refusal) {
	var list []struct {
		Op, Path string
		Told     bool
	}
	read(meta["refused"], &list)
	for _, r := range list {
		if r.Told {
			out = append(out, refusal{what: console.OneLine(r.Op+" "+r.Path+", for: "+title, 300), protected: r.Op == "read"})
		}
	}
	return out
}

// deniedHosts lists the hosts that a rule kept a command from.
func deniedHosts(meta map[string]any, command string) (out []refusal) {
	var list []struct{ Host, Rule string }
	read(meta["unreached"], &list)
	for _, r := range list {
		if r.Rule != "" {
			what := fmt.Sprintf("network: %s, which the rule %q denies, for: %s", r.Host, r.Rule, command)
			out = append(out, refusal{what: console.OneLine(what, 300), denied: true})
		}
	}
	return out
}

// read reads a list of metadata; of another version's it reads nothing.
func read[T any](v any, list *[]T) {
	raw, err := json.Marshal(v)
	if v == nil || err != nil || json.Unmarshal(raw, list) != nil {
		*list = nil
	}
}

// commandOf returns the command of a call's arguments.
func commandOf(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(input, &in) // without one the tool has already said so
	return in.Command
}
