package instance_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lathe/internal/sandbox"
	"lathe/internal/tool"
)

// BenchmarkConfined measures what confinement adds to a call of bash, in pairs: one that is
// only judged, and at once afterwards one at the level full with a network of its own. It
// reports the quickest of each, and of the differences the lower quarter and the median.
func BenchmarkConfined(b *testing.B) {
	if sandbox.Detect() < sandbox.Full {
		b.Skip(sandbox.Missing())
	}
	home, vars := everydayHome(b)
	plain, confined := pairedBash(b, home, vars, "off"), pairedBash(b, home, vars, "on")
	var without, with, added []time.Duration
	for b.Loop() {
		one, two := plain(), confined()
		without, with, added = append(without, one), append(with, two), append(added, two-one)
	}
	for _, list := range [][]time.Duration{without, with, added} {
		slices.Sort(list)
	}
	b.ReportMetric(float64(without[0].Microseconds()), "µs-plain-best")
	b.ReportMetric(float64(with[0].Microseconds()), "µs-confined-best")
	b.ReportMetric(float64(added[len(added)/4].Microseconds()), "µs-added-quarter")
	b.ReportMetric(float64(added[len(added)/2].Microseconds()), "µs-added-median")
	b.ReportMetric(0, "ns/op") // of a pair, which says nothing
}

// pairedBash returns what runs /bin/true by the tool of an instance, and says how long that took.
func pairedBash(b *testing.B, home string, vars []string, mode string) func() time.Duration {
	dir, own := filepath.Join(home, mode), filepath.Join(home, "lathe-"+mode)
	vars = append(slices.Clip(vars), "LATHE_HOME="+own)
	if err := os.MkdirAll(filepath.Join(own, "config"), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "config", "lathe.json"), []byte(`{"sandbox": "`+mode+`"}`), 0o600); err != nil {
		b.Fatal(err)
	}
	git := exec.CommandContext(b.Context(), "git", "init", "-q", dir)
	git.Env = vars
	if out, err := git.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	_, _, bash := everydayInstance(b, dir, vars)
	input, err := json.Marshal(map[string]any{"command": "exec /bin/true"})
	if err != nil {
		b.Fatal(err)
	}
	return func() time.Duration {
		began := time.Now()
		res, err := bash.Run(b.Context(), &tool.Call{
			SessionID: "ses_1", MessageID: "msg_1", CallID: "call_1", Agent: "build", Input: input, Ask: func(context.Context, tool.Request) error { return nil },
		})
		took := time.Since(began)
		if err != nil || res.Metadata["exit"] != 0 {
			b.Fatalf("%v\n%s", err, res.Output)
		}
		return took
	}
}
