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
	if out, err := goIn(t, time.Minute, "testdata/gosdk", "mod", "download"); err != nil {
		t.Skipf("the Go SDK is not in the module cache and cannot be fetched: %v\n%s", err, out)
	}
	// The first build compiles much of the standard library.
	if out, err := goIn(t, 5*time.Minute, "testdata/gosdk", "build", "-o", program, "."); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	r := newClientRig(t)
	model := r.script("sdk.txt", sdkScript)
	if out := r.run(t, program, r.url, model, r.dir); strings.TrimSpace(out) != "ok" {
		t.Errorf("%s", out)
	}
}

func goIn(t *testing.T, limit time.Duration, dir string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
