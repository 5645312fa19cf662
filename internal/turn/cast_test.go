package turn_test

import (
	"testing"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/tokens"
	"lathe/internal/turn"
)

// countingHost counts how often a turn asks who takes part.
type countingHost struct {
	*rig
	agents int
}

func (h *countingHost) Agent(name string) (turn.Agent, error) {
	h.agents++
	return h.rig.Agent(name)
}

// TestCastIsResolvedOnceARound runs two steps, before each of which the window is
// measured: the agent, the model and the tools are looked up once for both.
func TestCastIsResolvedOnceARound(t *testing.T) {
	r := newRig(t, "tool echo {}\n---\ntext done", echo())
	host := &countingHost{rig: r}
	r.Host = host
	k := tokens.NewCorrection(1)
	r.Context = &turn.Context{
		Settings: compact.Settings{Auto: true, Prune: true}, Correction: func(lathe.ModelRef) *tokens.Correction { return k },
	}
	if out := r.run(t); out.Failure != nil || out.Steps != 2 {
		t.Fatalf("outcome %+v", out)
	}
	if host.agents != 2 {
		t.Errorf("the agent was looked up %d times in 2 rounds", host.agents)
	}
}
