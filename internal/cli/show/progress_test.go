package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/cli/console"
)

// TestProgress: a long call tells that it runs, less and less often; a short one
// and one that waits for a person say nothing.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		o := New(&console.Env{Stdout: &bytes.Buffer{}, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}, Options{})
		o.Progress = NewProgress(o)
		show := func(id lathe.PartID, state lathe.ToolState) {
			o.Part(lathe.Part{ID: id, Body: &lathe.ToolCall{Tool: "bash", State: state}}, true)
		}
		start := time.Now()
		input := json.RawMessage(`{"command":"go test ./..."}`)
		show("long", &lathe.ToolRunning{Input: input, Start: start})
		show("short", &lathe.ToolRunning{Input: json.RawMessage(`{"command":"true"}`), Start: start})
		time.Sleep(time.Second)
		show("short", &lathe.ToolDone{Input: json.RawMessage(`{"command":"true"}`), Time: lathe.Span{Start: start, End: start}})
		time.Sleep(3 * time.Second)
		show("long", &lathe.ToolRunning{Input: input, Start: start, Metadata: map[string]any{"output": "ok  \ta\nok  \tb\x1b[2J\n"}})
		time.Sleep(7 * time.Second)
		o.Progress.Hold(true)
		time.Sleep(20 * time.Second)
		o.Progress.Hold(false)
		time.Sleep(30 * time.Second)
		o.Progress.Stop()
		time.Sleep(time.Hour)
		want := []string{
			"● bash  true",
			"… bash go test ./... (3s)",
			"… bash go test ./... (10s): ok b",
			"… bash go test ./... (1m0s): ok b",
		}
		if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(stderr.String()), "\n")); diff != "" {
			t.Errorf("standard error (-want +got):\n%s", diff)
		}
	})
}
