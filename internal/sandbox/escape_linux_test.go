//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// escape is something that a program tries. It worked if a file changed that it may not
// change, if a secret came out, if somebody was reached, or if it says so itself by
// printing [out].
type escape struct {
	name   string
	script string // of bash, in the project
	// known says why it works at each level, files why at the level [Files]; empty: it is
	// held.
	known, files string
	alone        bool // it would disturb others that run in the same shell
	// network is set where it takes a network of its own to be sure that nothing is sent.
	network bool
}

// out is what a program prints to say that it got out: $OUT.
const out = "GOT" + "-OUT"

// arena is a project with a home directory and other programs around it.
type arena struct {
	*world
	home    string
	reached atomic.Int32 // how often somebody outside was
	env     []string
	victim  *exec.Cmd
	pty     int
}

// places of the arena: the first ones hold nothing secret.
var arenaFiles = map[string]string{
	"work/.git/hooks/pre-commit": "#!/bin/sh\nexit 0\n", "work/.github/workflows/ci.yml": "on: push\n", "work/.husky/pre-commit": "true\n", "work/.mcp.json": "{}",
	"home/.bashrc": "# none\n", "home/.profile": "# none\n", "home/.gitconfig": "[user]\n\tname = x\n", "home/.npmrc": "x=1\n", "home/.config/autostart/a.desktop": "[Desktop Entry]\n",
	"home/.config/systemd/user/a.service": "[Service]\n", "home/.local/bin/tool": "#!/bin/sh\n", "home/doc.txt": "doc",
	"home/.ssh/id_ed25519": secret, "home/.ssh/authorized_keys": "# none\n", "home/.aws/credentials": secret, "home/.netrc": secret, "home/.git-credentials": secret,
	"home/.docker/config.json": secret, "home/.kube/config": secret, "home/.config/gh/hosts.yml": secret, "home/.bash_history": secret,
	"home/.mozilla/firefox/p/logins.json": secret, "home/.gnupg/private-keys-v1.d/k.key": secret, "home/.m2/settings.xml": secret, "home/.m2/repository/a.jar": "jar",
	"home/.claude/.credentials.json": secret, "home/.codex/auth.json": secret,
}

// arenaProtects are the files of the arena's project that steer other programs.
var arenaProtects = []string{".git/config", ".git/config.worktree", ".git/hooks", ".git/commondir", ".git/gitdir", ".vscode/tasks.json", ".vscode/settings.json", ".envrc", ".lathe", ".opencode",
	".github/workflows", ".husky", ".mcp.json", ".gitlab-ci.yml", "lathe.json", "opencode.json"}

func newArena(t testing.TB) *arena {
	t.Helper()
	w := newWorld(t)
	a := &arena{world: w, home: filepath.Join(w.base, "home")}
	for name, text := range arenaFiles {
		path := filepath.Join(w.base, name)
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	machine := Machine{Home: a.home, Getenv: func(name string) string { return map[string]string{"PATH": "/usr/bin:/bin"}[name] }}
	var protect []string
	for _, name := range arenaProtects {
		protect = append(protect, filepath.Join(w.work, name))
	}
	protect = append(protect, machine.StartUp()...)
	w.policy.Protect = func() []string { return there(protect) }
	w.policy.Hide = append(w.policy.Hide, machine.Hidden()...)
	w.policy.Write = append(w.policy.Write, filepath.Join(a.home, ".m2"))
	a.serve()
	a.start()
	return a
}

// serve listens where commands may reach nobody: a service of the person's on loopback,
// agents' sockets, and one that has no file.
func (a *arena) serve() {
	abstract := fmt.Sprintf("@lathe-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, at := range []struct{ variable, network, address string }{
		{"PORT", "tcp", "127.0.0.1:0"}, {"ABSTRACT", "unix", abstract}, {"AGENT", "unix", filepath.Join(a.home, ".gnupg/S.gpg-agent")}, {"DOCKER", "unix", filepath.Join(a.home, ".docker/contexts")},
	} {
		l, err := net.Listen(at.network, at.address)
		if err != nil {
			a.t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				a.reached.Add(1)
				_, _ = io.WriteString(c, secret+"\n")
				c.Close()
			}
		}()
		a.t.Cleanup(func() { l.Close(); <-done })
		address := l.Addr().String()
		if at.network == "tcp" {
			_, address, _ = net.SplitHostPort(address)
		}
		a.env = append(a.env, at.variable+"="+strings.TrimPrefix(address, "@"))
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		a.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 512); ; {
			if _, _, err := packets.ReadFrom(buf); err != nil {
				return
			}
			a.reached.Add(1)
		}
	}()
	a.t.Cleanup(func() { packets.Close(); <-done })
	_, port, _ := net.SplitHostPort(packets.LocalAddr().String())
	a.env = append(a.env, "UDP="+port)
}

// start starts a process of the person's with a secret in its environment and memory, a
// terminal of the person's, and memory that their programs share.
func (a *arena) start() {
	a.victim = exec.Command("/bin/sleep", "1000")
	a.victim.Env = []string{"TOKEN=" + secret}
	a.victim.Dir = a.base
	a.victim.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := a.victim.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = a.victim.Process.Kill(); _ = a.victim.Wait() })
	name := filepath.Join("/dev/shm", fmt.Sprintf("lathe-test-%d-%d", os.Getpid(), a.victim.Process.Pid))
	if err := os.WriteFile(name, []byte(secret), 0o600); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { os.Remove(name) })
	terminal := a.terminal()
	a.env = append(a.env, fmt.Sprint("VICTIM=", a.victim.Process.Pid), "SHM="+name, "PTS="+terminal, "OUT="+out)
}

// terminal opens a terminal; what is written to it counts as reaching somebody.
func (a *arena) terminal() (name string) {
	pty, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		a.t.Skip("no terminals here: ", err)
	}
	a.t.Cleanup(func() { unix.Close(pty) })
	n, err := unix.IoctlGetInt(pty, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(pty, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	name = fmt.Sprint("/dev/pts/", n)
	keep, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { keep.Close() })
	silent, err := unix.IoctlGetTermios(pty, unix.TCGETS)
	if err != nil {
		a.t.Fatal(err)
	}
	silent.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(pty, unix.TCSETS, silent); err != nil {
		a.t.Fatal(err)
	}
	_, _ = unix.Write(pty, []byte(secret+"\n")) // what the person types
	a.pty = pty
	return name
}

// shown returns how much was written to the terminal since it was asked last.
func (a *arena) shown() int {
	n, _ := unix.Read(a.pty, make([]byte, 4096))
	return max(n, 0)
}

// alive reports whether the victim is there and not stopped or traced.
func (a *arena) alive() bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.victim.Process.Pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(state, "S") || strings.HasPrefix(state, "R")
}

// snapshot is all that must be as before.
func (a *arena) snapshot() string {
	var b strings.Builder
	_ = filepath.WalkDir(a.base, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, a.base+"/")
		in := func(dirs ...string) bool {
			for _, dir := range dirs {
				if below(name, dir) {
					return true
				}
			}
			return false
		}
		switch {
		case err != nil:
			return nil
		case in("home/.m2") && !in("home/.m2/settings.xml"), name == a.base, in("cache", "attacker"):
			return nil
		case in("work"):
			if text, err := readBounded(path); err == nil && strings.Contains(string(text), secret) {
				fmt.Fprintf(&b, "%s holds a secret\n", name)
			}
			steers := false
			for _, p := range arenaProtects {
				steers = steers || in("work/"+p)
			}
			if !steers || d.IsDir() || in("work/.git/config") {
				return nil
			}
			text, _ := readBounded(path)
			fmt.Fprintf(&b, "%s %s %q\n", name, d.Type(), text)
			return nil
		}
		var st unix.Stat_t
		_ = unix.Lstat(path, &st)
		list := make([]byte, 256)
		n, _ := unix.Llistxattr(path, list)
		text, _ := readBounded(path)
		fmt.Fprintf(&b, "%s %o %d %d %d %d %q %q\n", name, st.Mode, st.Uid, st.Nlink, st.Mtim.Sec, st.Ino, list[:max(n, 0)], text)
		return nil
	})
	text, _ := os.ReadFile(filepath.Join(a.work, ".git/config"))
	fmt.Fprintf(&b, "work/.git/config %q\n", text)
	for _, v := range a.env {
		if name, ok := strings.CutPrefix(v, "SHM="); ok {
			text, err := os.ReadFile(name)
			fmt.Fprintf(&b, "shared memory %q %v\n", text, err)
		}
	}
	fmt.Fprintf(&b, "reached %d, alive %v\n", a.reached.Load(), a.alive())
	if n := a.shown(); n > 0 {
		fmt.Fprintf(&b, "%d bytes on the terminal\n", n)
	}
	return b.String()
}

// try runs scripts one after the other in one shell and says what they did; empty: nothing.
func (a *arena) try(b *Box, list []escape) string {
	before := a.snapshot()
	var script strings.Builder
	script.WriteString("export HOME=$BASE/home; exec 2>/dev/null; ulimit -c 0\n")
	for _, e := range list {
		if e.alone {
			script.WriteString(e.script)
			continue
		}
		fmt.Fprintf(&script, "(\n%s\n) </dev/null\n", e.script)
	}
	var printed string
	if b == nil {
		printed = a.unconfined(script.String())
	} else {
		printed = a.run(b, a.policy, script.String(), a.env...).out
	}
	did := ""
	if strings.Contains(printed, secret) {
		did += "a secret was printed\n"
	}
	if strings.Contains(printed, out) {
		did += "it got out: " + printed + "\n"
	}
	return did + cmp.Diff(before, a.snapshot())
}

// unconfined runs a script without a sandbox.
func (a *arena) unconfined(script string) string {
	cmd := exec.Command("/bin/bash", "-c", script)
	cmd.Dir, cmd.Env = a.work, append([]string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "BASE=" + a.base, fmt.Sprint("LATHE=", os.Getpid())}, a.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	text, _ := cmd.Output()
	return string(text)
}

// batch is how many attempts share a shell as long as none of them works.
const batch = 100

// tryAll tries all in a box and returns which worked.
func tryAll(t *testing.T, b *Box, list []escape) map[string]string {
	worked := map[string]string{}
	a := newArena(t)
	each := func(list []escape) {
		for _, e := range list {
			if did := a.try(b, []escape{e}); did != "" {
				worked[e.name] = did
				a = newArena(t)
			}
		}
	}
	var together []escape
	flush := func() {
		if len(together) > 0 && a.try(b, together) != "" {
			a = newArena(t)
			each(together)
		}
		together = nil
	}
	for _, e := range list {
		switch {
		case e.alone || e.files != "":
			each([]escape{e})
		default:
			if together = append(together, e); len(together) == batch {
				flush()
			}
		}
	}
	flush()
	return worked
}

// holds tries all at each level. At Full nothing may work; what works at Files is marked.
func holds(t *testing.T, list []escape) {
	for _, level := range []Level{Full, Files} {
		t.Run(level.String(), func(t *testing.T) {
			if Detect() < level {
				t.Skipf("not here: %s", Missing())
			}
			network := HostNetwork
			if level == Full {
				network = OwnNetwork
			}
			b := NewBox(Options{Most: &level, Network: network})
			defer b.Close()
			var tried []escape
			for _, e := range list {
				if e.known != "" {
					e.files = e.known
				} else if level == Full {
					e.files = ""
				}
				if level == Full || !e.network {
					tried = append(tried, e)
				}
			}
			worked := tryAll(t, b, tried)
			for _, e := range tried {
				if did := worked[e.name]; did != "" && e.files == "" {
					t.Errorf("%s: it worked:\n%s\n%s", e.name, e.script, did)
				}
			}
			t.Logf("%d tried", len(tried))
		})
	}
}

// TestEscapes tries what programs do to get out of a sandbox, or to act outside it later.
func TestEscapes(t *testing.T) {
	list := escapes()
	if len(list) < 300 {
		t.Errorf("only %d", len(list))
	}
	holds(t, list)
}

// TestAdversary runs programs that try to carry secrets out, or to stay.
func TestAdversary(t *testing.T) {
	if len(adversaries) < 100 {
		t.Errorf("only %d", len(adversaries))
	}
	holds(t, adversaries)
}

// TestEscapesWorkWithoutSandbox holds that the attacks are such: without a sandbox they
// work.
func TestEscapesWorkWithoutSandbox(t *testing.T) {
	for _, e := range made(writes, targets[:1], spellings[:1]) {
		if newArena(t).try(nil, []escape{e}) == "" {
			t.Errorf("%s does nothing:\n%s", e.name, e.script)
		}
	}
	for _, e := range slices.Concat(made(writes[1:2], targets[:1], spellings), made(reads, secrets[:1], spellings[:1]), made(reads[:1], secrets[:1], spellings)) {
		if newArena(t).try(nil, []escape{e}) == "" {
			t.Errorf("%s does nothing:\n%s", e.name, e.script)
		}
	}
}
