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

// npm returns the directory that LATHE_NPM names, in which npm has installed
// OpenCode's packages; without one the test is skipped.
func npm(t *testing.T, pkg string) string {
	t.Helper()
	dir := os.Getenv("LATHE_NPM")
	if dir == "" {
		t.Skip("LATHE_NPM names no directory with OpenCode's npm packages")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	dir = filepath.Join(dir, "node_modules", pkg)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is not installed: %v", pkg, err)
	}
	return dir
}

const sdkScript = "tool bash {\"command\":\"echo hi\",\"description\":\"says hi\"}\n---\ntext All done.\n---\ntimes 3\ntext ## Goal\ntext Say hi with a command, as the user asked.\ntext ## Done\ntext The command echo hi ran once and said hi; nothing is left to do, no file was changed, and nothing failed on the way.\n"

// The JavaScript SDK of OpenCode 1.1.34 works, both clients of it.
func TestJavaScriptSDK(t *testing.T) {
	sdk := npm(t, "@opencode-ai/sdk")
	r := newRig(t)
	model := r.script("sdk.txt", sdkScript)
	out := r.run(t, "node", "testdata/sdk.mjs", sdk, r.url, model, r.dir)
	if strings.TrimSpace(out) != "ok" {
		t.Errorf("%s", out)
	}
}

// opencode run --attach of 1.18.33 works. It sends the prompt without waiting for
// its event stream to be open, so the turn takes a moment.
func TestOpenCodeRunAttach(t *testing.T) {
	dir := npm(t, "opencode-ai")
	r := newRig(t)
	model := r.script("run.txt", strings.Replace(sdkScript, "echo hi", "sleep 5; echo hi", 1))
	out := r.run(t, filepath.Join(dir, "..", ".bin", "opencode"), "run", "--attach", r.url, "--dir", r.dir, "-m", "script/"+model, "go")
	if !strings.Contains(out, "All done.") {
		t.Errorf("%s", out)
	}
}

// run runs a program and returns what it says.
func (r *rig) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	home := t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
