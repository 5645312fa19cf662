package turn

import (
	"context"
	"encoding/json"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// beside runs another tool on behalf of a running call. It is a part of its own in the same
// message; permission, hooks and result work as for a call that the model made itself.
func (s *step) beside(ctx context.Context, name string, raw json.RawMessage) (tool.Result, error) {
	r := &running{s: s, started: s.Now(), done: make(chan struct{}), name: name, input: raw}
	defer close(r.done)
	if len(raw) == 0 {
		r.input = json.RawMessage("{}")
	}
	unknown := tool.Result{}
	if t, ok := s.tools.Lookup(strings.ToLower(strings.TrimSpace(name))); ok && t.Spec().Name != tool.InvalidName {
		r.name, r.tool = t.Spec().Name, t
	} else {
		unknown = tool.Failf("Tool %q is not available here. The tools are: %s", name, strings.Join(s.tools.Names(), ", "))
	}
	s.mu.Lock()
	r.part = s.fold.add(nil)
	r.callID = string(r.part.ID)
	r.part.Body = &lathe.ToolCall{CallID: r.callID, Tool: r.name, State: &lathe.ToolRunning{Input: r.input, Start: r.started}}
	s.mu.Unlock()
	if err := s.record(ctx, r.part); err != nil {
		return tool.Result{}, err
	}
	if r.tool == nil {
		r.settleLate(ctx, unknown, nil)
		return unknown, nil
	}
	res, err := r.execute(ctx)
	r.settleLate(ctx, res, err)
	return res, err
}
