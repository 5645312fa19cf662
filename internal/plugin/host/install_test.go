//go:build unix

package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/plugin"
	"lathe/internal/plugin/host"
	"lathe/internal/shell"
)

// installer is a program in npm's place: it installs what it is told to, or fails on cue.
const installer = `#!/bin/sh
echo "$1" >>"$NPM_CALLS"
mkdir -p node_modules/demo
case "$NPM_FAILS" in
halfway) echo "npm error network went away" >&2; exit 1;;
full) echo "npm error nospc ENOSPC: no space left on device, write" >&2; exit 1;;
large)
	head -c 4000000 /dev/zero >node_modules/demo/large || { echo "npm error it does not fit" >&2; exit 1; }
	head -c 65536 /dev/zero >package-lock.json;;
esac
echo '{"main":"index.js"}' >node_modules/demo/package.json
echo 'export const Demo = async () => ({})' >node_modules/demo/index.js
[ -e package-lock.json ] || echo "{\"lock\":${NPM_LOCK:-1}}" >package-lock.json
`

// packages are installed by that program.
func packages(t *testing.T, fails string, offline bool, cache, data string) (p host.Packages, calls string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(installer), 0o700); err != nil {
		t.Fatal(err)
	}
	runner := shell.New(shell.Options{})
	t.Cleanup(func() { _ = runner.Close() })
	calls = filepath.Join(bin, "calls")
	return host.NewPackages(host.Options{
		Dir: t.TempDir(), Runner: runner, Cache: cache, Data: data, Offline: offline,
		Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin, "NPM_CALLS=" + calls, "NPM_FAILS=" + fails, "NPM_LOCK=" + os.Getenv("NPM_LOCK")},
	}), calls
}

// What fails leaves nothing behind and says why; what is installed is pinned, and is enough
// without a network.
func TestInstallFailsAndIsPinned(t *testing.T) {
	cache, data := t.TempDir(), t.TempDir()
	for fails, want := range map[string]string{"halfway": "network went away", "full": "no space left"} {
		p, _ := packages(t, fails, false, cache, data)
		if _, err := p.Install(t.Context(), "demo@1.0.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", fails, err)
		}
		left, err := filepath.Glob(filepath.Join(cache, "plugins", "pkg-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range left {
			if !strings.HasSuffix(path, ".lock") {
				t.Errorf("%s leaves %s", fails, path)
			}
		}
	}
	p, _ := packages(t, "", true, cache, data)
	if _, err := p.Install(t.Context(), "demo@1.0.0"); err == nil || !strings.Contains(err.Error(), "offline") {
		t.Errorf("offline without a cache: %v", err)
	}
	p, calls := packages(t, "", false, cache, data)
	dir, err := p.Install(t.Context(), "demo@1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, calls); got != "install\n" {
		t.Errorf("npm was called with %q", got)
	}
	p, _ = packages(t, "halfway", true, cache, data)
	if again, err := p.Install(t.Context(), "demo@1.0.0"); err != nil || again != dir {
		t.Errorf("offline with a cache: %q, %v", again, err)
	}
	// A lost cache is filled with what the lock says.
	p, calls = packages(t, "", false, t.TempDir(), data)
	if dir, err = p.Install(t.Context(), "demo@1.0.0"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, calls); got != "ci\n" {
		t.Errorf("npm was called with %q, though there is a lock", got)
	}
	if got := read(t, filepath.Join(dir, "package-lock.json")); got != "{\"lock\":1}\n" {
		t.Errorf("the lock is now %q", got)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Twenty plugins share one process.
func TestTwentyPluginsInOneProcess(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		for i := range 20 {
			r.write(fmt.Sprintf("plugin/p%02d.js", i), `export const P = async () => ({ async "experimental.text.complete"(i, o) { o.text += process.pid + " " } })`)
		}
		h := r.start(`{}`)
		got := r.chain(h).TextComplete(t.Context(), plugin.TextInput{}, "")
		if want := strings.Repeat(fmt.Sprint(h.PID(), " "), 20); got != want {
			t.Errorf("processes %q, want %q", got, want)
		}
	})
}

// A plugin that takes all the memory there is ends the plugins' process, not more, and the
// others run again.
func TestPluginWithoutEnoughMemory(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.o.Limit = time.Minute
		r.write("plugin/greedy.js", `const all = []
export const G = async () => ({ async "experimental.text.complete"(i, o) { for (;;) { all.push(new Array(1e6).fill(i + all.length)); await new Promise((f) => setTimeout(f, 0)) } } })`)
		r.write("plugin/good.js", `export const G = async () => ({ async "shell.env"(i, o) { o.env.GOOD = "1" } })`)
		h := r.start(`{}`)
		c := r.chain(h)
		if got := c.TextComplete(t.Context(), plugin.TextInput{}, "old"); got != "old" {
			t.Errorf("text %q", got)
		}
		if said := r.said(); !strings.Contains(said, "died") {
			t.Errorf("told %q", said)
		}
		for c.ShellEnv(t.Context(), plugin.ShellEnvInput{})["GOOD"] != "1" {
			select {
			case <-t.Context().Done():
				t.Fatal("the process does not run again")
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}
