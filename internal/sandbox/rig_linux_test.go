//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// TestMain lets the test program be the program that tries to get out, and run the tests
// again as another user.
func TestMain(m *testing.M) {
	if name := os.Getenv("SANDBOX_TEST_ATTACK"); name == "serve" {
		os.Exit(serve(os.Args[1]))
	} else if name == "forks" {
		os.Exit(forks())
	} else if name != "" {
		os.Exit(attack(name))
	}
	without()
	goleak.VerifyTestMain(m)
}

// world is a project, and what lies around it.
type world struct {
	t      testing.TB
	base   string
	work   string
	policy Policy
	self   string // this program, where all may execute it
}

const secret = "SECRET-CONTENT"

func newWorld(t testing.TB) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base, work: filepath.Join(base, "work"), self: filepath.Join(base, "attacker")}
	for name, text := range map[string]string{
		"work/a.txt": "a", "work/.git/config": "[core]\n\tbare = false\n", "work/.git/hooks/x.sample": "#!/bin/sh\n", "work/.git/HEAD": "ref: refs/heads/main\n",
		"work/.vscode/tasks.json": "{}", "work/sub/b.txt": "b", "outside/file.txt": "outside", "outside/dir/c.txt": "c",
		"secret/key": secret, "netrc": secret, "cache/x": "x",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(base, name) }
	protect := []string{"work/.git/config", "work/.git/hooks", "work/.git/commondir", "work/.vscode/tasks.json", "work/.envrc", "work/.lathe"}
	for i, name := range protect {
		protect[i] = at(name)
	}
	w.policy = Policy{
		Write: []string{w.work, at("cache")}, Protect: func() []string { return there(protect) },
		Hide: []string{at("secret"), at("netrc")}, Aside: at("cache/aside"),
	}
	return w
}

func there(paths []string) (list []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}

// attacker puts this program where processes of any user find it.
func (w *world) attacker() {
	w.t.Helper()
	program, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	if out, err := exec.Command("cp", program, w.self).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// ran is what became of a script.
type ran struct {
	out     string
	code    int
	refused []Refusal
	lost    []netip.AddrPort
}

// run runs a script of bash in a box.
func (w *world) run(b *Box, policy Policy, script string, env ...string) ran {
	w.t.Helper()
	return w.runNear(b, policy, nil, script, nil, env...)
}

// runNear is run for a script that may reach servers of the machine as near says. What
// has to happen while it runs is done by meanwhile, if that is not nil.
func (w *world) runNear(b *Box, policy Policy, near Near, script string, meanwhile func(*Run), env ...string) ran {
	w.t.Helper()
	r, out, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		w.t.Fatal(err)
	}
	defer null.Close()
	started, err := b.Start(Process{
		Path: "/bin/bash", Args: []string{"bash", "-c", script}, Dir: w.work,
		Env: append([]string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + w.base, "LC_ALL=C",
			"BASE=" + w.base, "SELF=" + w.self, fmt.Sprint("LATHE=", os.Getpid())}, env...),
		Files: []*os.File{null, out, out}, Mark: Limit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY},
		Near: near,
	}, policy)
	out.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile(started)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		w.t.Fatal(err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(started.PID, &status, 0, nil); err != nil {
		w.t.Fatal(err)
	}
	lost := started.Lost()
	return ran{string(text), status.ExitStatus(), started.Ended(), lost}
}

// state is what lies outside the project, and what steers programs in it.
func (w *world) state() string {
	w.t.Helper()
	var b strings.Builder
	for _, dir := range []string{"outside", "work/.git", "work/.vscode", "secret"} {
		_ = filepath.WalkDir(filepath.Join(w.base, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil {
				text, _ := os.ReadFile(path)
				fmt.Fprintf(&b, "%s %s %q\n", strings.TrimPrefix(path, w.base), d.Type(), text)
			}
			return nil
		})
	}
	for _, name := range []string{"work/.envrc", "work/.lathe", "netrc"} {
		text, err := os.ReadFile(filepath.Join(w.base, name))
		_, there := os.Lstat(filepath.Join(w.base, name))
		fmt.Fprintf(&b, "%s %q %v %v\n", name, text, err == nil, there == nil)
	}
	return b.String()
}

// atLevels runs a test at each level that there is here.
func atLevels(t *testing.T, network Network, test func(t *testing.T, b *Box, level Level)) {
	for _, level := range []Level{Full, Files} {
		t.Run(level.String(), func(t *testing.T) {
			if Detect() < level {
				t.Skipf("not here: %s", Missing())
			}
			b := NewBox(Options{Most: &level, Network: network})
			defer b.Close()
			test(t, b, level)
		})
	}
}

// TestAsOrdinaryUser runs the tests again as a user without rights.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs to be root to become another user")
	}
	dir, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "sandbox.test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", self, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.short", "-test.run", "^(TestConfined|TestEscapes$|TestAdversary|TestAttacks|TestRefusals|TestNetwork|TestProcesses|TestLimit|TestLasting|TestNested)")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		failed := strings.Index(string(out), "--- FAIL")
		t.Errorf("%v\n%s", err, out[max(failed, 0):])
	}
	if !strings.Contains(string(out), "--- PASS: TestAttacks") {
		t.Errorf("nothing was tested:\n%s", out)
	}
}
