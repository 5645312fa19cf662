package server

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// OpenCode's published Go SDK completes a session. Its program is a module of its
// own; where the SDK is neither in the module cache nor can be fetched, the test
// is skipped.
func TestGoSDK(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gosdk")
	if out, err := buildModule(t, "testdata/gosdk", program, "GOPROXY=off"); err != nil {
		t.Logf("not in the module cache: %s", out)
		if out, err = buildModule(t, "testdata/gosdk", program); err != nil {
			t.Skipf("the Go SDK cannot be built here: %v\n%s", err, out)
		}
	}
	r := newRig(t)
	model := r.script("sdk.txt", sdkScript)
	if out := r.run(t, program, r.url, model, r.dir); strings.TrimSpace(out) != "ok" {
		t.Errorf("%s", out)
	}
}

func buildModule(t *testing.T, dir, program string, env ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
