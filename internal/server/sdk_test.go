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

// npm returns a package of OpenCode's in the directory that LATHE_NPM names, in
// which .ci/npm was installed. Of several names the first that is there counts;
// without one the test is skipped.
func npm(t *testing.T, names ...string) string {
	t.Helper()
	dir := os.Getenv("LATHE_NPM")
	if dir == "" {
		t.Skip("LATHE_NPM names no directory with OpenCode's npm packages")
	}
	for _, name := range names {
		path := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("not installed in %s: %s", dir, strings.Join(names, ", "))
	return ""
}

// opencode returns the program of OpenCode 1.18, or of 1.1.
func opencode(t *testing.T, old bool) string {
	t.Helper()
	names := []string{"opencode-linux-x64/bin/opencode", ".bin/opencode"}
	if old {
		names = []string{"opencode-linux-x64-old/bin/opencode"}
	}
	program := npm(t, names...)
	if err := exec.CommandContext(t.Context(), program, "--version").Run(); err != nil {
		t.Skipf("%s does not run here: %v", program, err)
	}
	return program
}

// sdkScript is what the model of testdata/sdk.mjs says, and of the Go SDK's program.
const sdkScript = `reasoning I think.
tool bash {"command":"echo one","description":"says one"}
---
tool bash {"command":"echo two > made.txt","description":"writes two"}
---
tool bash {"command":"echo three > made2.txt","description":"writes three"}
---
text All done.
---
tool question {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"red","description":"r"},{"label":"blue","description":"b"}]}]}
---
text You chose.
---
tool question {"questions":[{"question":"Which size?","header":"Size","options":[{"label":"big","description":"b"},{"label":"small","description":"s"}]}]}
---
tool bash {"command":"touch never.txt","description":"touches"}
---
text Now I wait.
stall
---
times 9
text ## Goal
text Say what the user asked for, with commands, questions and a file that holds the word two, as was wished.
text ## Done
text The commands ran, one question was answered and one dismissed; one command was refused, and the last answer was stopped.
`

// The JavaScript SDK of OpenCode completes a session: the clients v1 and v2 of
// 1.1.34 and of the newest 1.x.
func TestJavaScriptSDK(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	for _, pkg := range []string{"@opencode-ai/sdk", "opencode-sdk-newest"} {
		for _, version := range []string{"v1", "v2"} {
			t.Run(strings.ReplaceAll(pkg, "/", "-")+"-"+version, func(t *testing.T) {
				sdk := npm(t, pkg)
				r := newClientRig(t)
				model := r.script("sdk.txt", sdkScript)
				out := r.run(t, node, "testdata/sdk.mjs", sdk, version, r.url, model, r.dir)
				if strings.TrimSpace(out) != "ok" {
					t.Errorf("%s", out)
				}
			})
		}
	}
}

// opencode run --attach of 1.18.33 works. It sends the prompt without waiting for
// its event stream to be open, so the turn takes a moment.
func TestOpenCodeRunAttach(t *testing.T) {
	program := opencode(t, false)
	r := newClientRig(t)
	model := r.script("run.txt", "tool bash {\"command\":\"sleep 1; echo hi\",\"description\":\"says hi\"}\n---\ntext All done.\n")
	out := r.run(t, program, "run", "--attach", r.url, "--dir", r.dir, "-m", "script/"+model, "go")
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

// The SDK lists, resizes, watches and ends the terminal of a job as any other.
func TestJavaScriptSDKTerminals(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	for _, pkg := range []string{"@opencode-ai/sdk", "opencode-sdk-newest"} {
		for _, version := range []string{"v1", "v2"} {
			t.Run(strings.ReplaceAll(pkg, "/", "-")+"-"+version, func(t *testing.T) {
				sdk := npm(t, pkg)
				f := newJobFace(t, `tool bash {"command":"echo ready; while read x; do stty size; echo got $x; done","pty":true,"description":"Ask"}`)
				if out := f.rig.run(t, node, "testdata/sdkpty.mjs", sdk, version, f.rig.url, f.rig.dir); strings.TrimSpace(out) != "ok" {
					t.Errorf("%s", out)
				}
			})
		}
	}
}
