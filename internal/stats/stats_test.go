package stats

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/catalog"
	"lathe/internal/store"
)

// TestWaitingIsNotWork holds that what calls waited for a person does not count as their time.
func TestWaitingIsNotWork(t *testing.T) {
	g := gatherer{times: map[*api.ToolTally]time.Duration{}, out: &api.Stats{Tools: map[string]*api.ToolTally{}}}
	span := lathe.Span{Start: time.Unix(10, 0), End: time.Unix(45, 0)}
	waited := map[string]any{lathe.MetaWaited: float64(30_000)} // as it comes from the store
	for _, state := range []lathe.ToolState{
		&lathe.ToolDone{Time: span, Metadata: waited}, &lathe.ToolFailed{Time: span, Metadata: waited},
		&lathe.ToolDone{Time: lathe.Span{Start: span.Start, End: span.Start.Add(time.Second)}}, &lathe.ToolRunning{Start: span.Start},
	} {
		if err := g.tool(store.ToolUse{ToolCall: &lathe.ToolCall{Tool: "bash", State: state}}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(api.ToolTally{Calls: 4, Failed: 1, Millis: 11_000}, *g.out.Tools["bash"]); diff != "" {
		t.Errorf("bash (-want +got):\n%s", diff)
	}
}

func TestMissPrice(t *testing.T) {
	models := catalog.New([]catalog.Provider{{ID: "p", Models: []catalog.Model{
		{ID: "cached", Cost: catalog.Cost{Prices: lathe.Prices{Input: 3_000_000, CacheRead: 300_000}}},
		{ID: "plain", Cost: catalog.Cost{Prices: lathe.Prices{Input: 3_000_000}}},
	}}})
	for _, tt := range []struct {
		ref  lathe.ModelRef
		want string
	}{
		{lathe.ModelRef{Provider: "p", Model: "cached"}, "$2.70"},
		{lathe.ModelRef{Provider: "p", Model: "plain"}, "$0.00"},
		{lathe.ModelRef{Provider: "p", Model: "unknown"}, "$0.00"},
		{lathe.ModelRef{Provider: "nobody", Model: "x"}, "$0.00"},
	} {
		if got := missPrice(models, tt.ref, 1_000_000).String(); got != tt.want {
			t.Errorf("%s: a million missed tokens cost %s more, want %s", tt.ref, got, tt.want)
		}
	}
}
