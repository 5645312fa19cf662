package server

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/sandbox"
)

// The health says how far commands are confined, once that was found.
func TestHealthTellsTheSandbox(t *testing.T) {
	level := sandbox.Detect().String()
	res := newRig(t).do("GET", "/global/health", "")
	var got struct{ Sandbox string }
	if err := json.Unmarshal(res.body, &got); err != nil {
		t.Fatalf("%v in %.200s", err, res.body)
	}
	if diff := cmp.Diff(level, got.Sandbox); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
