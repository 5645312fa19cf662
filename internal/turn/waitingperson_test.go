package turn_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

// TestWaitingForThePersonIsTold holds that a call says how long it waited for answers, and that
// one which the rules allowed says nothing of it.
func TestWaitingForThePersonIsTold(t *testing.T) {
	for _, tt := range []struct {
		name string
		wait time.Duration
		want map[string]any
	}{
		{"a person answers", 14 * time.Second, map[string]any{"exit": 0, lathe.MetaWaited: int64(14_000)}},
		{"the rules answer", time.Millisecond, map[string]any{"exit": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			meta := map[string]any{"exit": 0}
			r := newRig(t, "tool ask {}\n---\ntext ok", newTool("ask", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
				return tool.Result{Metadata: meta}, c.Ask(ctx, tool.Request{Permission: "bash", Patterns: []string{"x"}})
			}))
			var passed atomic.Int64
			r.Now = func() time.Time { return time.Unix(0, passed.Load()) }
			r.ask = func(context.Context, permission.AskInput) error {
				passed.Add(int64(tt.wait))
				return nil
			}
			r.run(t)
			for _, p := range r.History[1].Parts {
				c, ok := p.Body.(*lathe.ToolCall)
				if !ok {
					continue
				}
				if diff := cmp.Diff(tt.want, c.State.(*lathe.ToolDone).Metadata); diff != "" {
					t.Errorf("metadata (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(map[string]any{"exit": 0}, meta); diff != "" {
				t.Errorf("the tool's own metadata was changed:\n%s", diff)
			}
		})
	}
}
