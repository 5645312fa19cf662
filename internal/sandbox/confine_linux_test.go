//go:build amd64 || arm64

package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAttacks tries to change what lies outside, to read secrets and to reach other
// processes, at each level. What a lower level lets through is marked.
func TestAttacks(t *testing.T) {
	calls := strings.Fields(`io_uring bpf perf keyctl userfaultfd handle mount bind open_tree open_tree_attr file_setattr umount remount setns ptrace vm_write kill pidfd prlimit
		packet raw vsock alg tiocsti truncate openat2 dirfd opath link linkat_empty rename_exchange memfd mmap mknod chroot userns swapon hostname
		clock module reboot descriptors`)
	scripts := []struct{ name, script string }{
		{"write", `echo x > ../outside/file.txt`},
		{"append", `echo x >> "$BASE/outside/file.txt"`},
		{"create", `touch ../outside/new`},
		{"mkdir", `mkdir ../outside/d`},
		{"remove", `rm -f ../outside/file.txt; rm -rf ../outside/dir`},
		{"move out", `mv a.txt ../outside/`},
		{"move in", `mv ../outside/file.txt .`},
		{"copy over", `cp a.txt ../outside/file.txt`},
		{"truncate by dd", `dd if=/dev/null of=../outside/file.txt`},
		{"sed in place", `sed -i s/outside/x/ ../outside/file.txt`},
		{"symbolic link", `ln -s ../outside/file.txt l; echo x > l`},
		{"link to a directory", `ln -s ../outside d; echo x > d/file.txt; touch d/new`},
		{"hard link", `ln ../outside/file.txt h && echo x > h`},
		{"root of the own process", `echo x > /proc/self/root"$BASE"/outside/file.txt`},
		{"directory of the own process", `echo x > /proc/self/cwd/../outside/file.txt`},
		{"root of lathe", `echo x > /proc/$LATHE/root"$BASE"/outside/file.txt`},
		{"root of the parent", `echo x > /proc/$PPID/root"$BASE"/outside/file.txt`},
		{"root of the first process", `echo x > /proc/1/root"$BASE"/outside/file.txt; cat /proc/1/root"$BASE"/secret/key`},
		{"own namespaces", `unshare -Urm sh -c 'umount "$BASE/secret"; cat "$BASE/secret/key"; echo x > "$BASE/outside/file.txt"'`},
		{"namespace of lathe", `nsenter -t $LATHE -m cat "$BASE/secret/key"`},
		{"chroot", `chroot /proc/1/root cat "$BASE/secret/key"`},
		{"read a secret", `cat ../secret/key ../netrc`},
		{"read a secret by a link", `ln -s ../secret s; cat s/key; ln -s ../netrc n; cat n`},
		{"read a secret by a hard link", `ln ../netrc n && cat n`},
		{"read a secret by tar", `tar cf - -C "$BASE" secret netrc 2>/dev/null | tr -d '\000'`},
		{"read a secret by the shell", `x=$(<../secret/key); echo "$x"; mapfile -t y < ../netrc; echo "${y[@]}"; source ../netrc`},
		{"environment of lathe", `tr '\000' '\n' < /proc/$LATHE/environ; tr '\000' '\n' < /proc/$PPID/environ`},
		{"memory of lathe", `head -c 100 /proc/$LATHE/mem`},
		{"descriptors of lathe", `for f in /proc/$LATHE/fd/*; do cat "$f" < /dev/null; done`},
		{"hook", `echo '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`},
		{"hooks moved", `mv .git/hooks sub/h; mkdir .git/hooks; touch .git/hooks/pre-commit`},
		{"hooks a link", `rm -rf .git/hooks; ln -s ../sub .git/hooks`},
		{"configuration of git", `printf '[core]\n\tfsmonitor = evil\n' >> .git/config`},
		{"configuration of git renamed over", `printf '[alias]\n\tst = !evil\n' > c; mv -f c .git/config`},
		{"configuration of git removed", `rm -f .git/config; printf '[core]\n\tpager = evil\n' > .git/config`},
		{"git moved away", `mv .git g; mkdir -p .git/hooks; cp g/HEAD .git/; printf '[core]\n\teditor = evil\n' > .git/config; touch .git/hooks/post-checkout`},
		{"another common directory", `echo ../sub > .git/commondir`},
		{"tasks of an editor", `echo '{"x":1}' > .vscode/tasks.json`},
		{"directory of tasks moved", `mv .vscode v; mkdir .vscode; echo '{"x":1}' > .vscode/tasks.json`},
		{"start-up file that is not there", `echo 'evil' > .envrc`},
		{"start-up file as a link", `echo evil > e; ln -s e .envrc`},
		{"configuration of lathe", `mkdir -p .lathe/plugin; echo evil > .lathe/plugin/x.js`},
		{"kernel's settings", `echo '|/bin/evil' > /proc/sys/kernel/core_pattern`},
		{"kernel's trigger", `echo h > /proc/sysrq-trigger`},
		{"control groups", `mkdir /sys/fs/cgroup/evil`},
		{"devices", `echo x > /dev/mem; echo x > /dev/sda; echo x > /dev/vda; echo x > /dev/kmsg`},
		{"machine's files", `echo x >> /etc/passwd; touch /usr/evil /etc/cron.d/evil /root/evil`},
		{"coprocess", `coproc { sleep 0.1; echo x > ../outside/file.txt; }; wait`},
		{"background", `(setsid sh -c 'echo x > ../outside/file.txt' &); sleep 0.2`},
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, level Level) {
		for _, tt := range scripts {
			t.Run(tt.name, func(t *testing.T) { tryScript(t, b, tt.script) })
		}
		w := newWorld(t)
		w.attacker()
		for _, name := range calls {
			t.Run(name, func(t *testing.T) {
				w := &world{t: t, base: w.base, work: w.work, policy: w.policy, self: w.self}
				before := w.state()
				got := w.run(b, w.policy, `exec "$SELF"`, "SANDBOX_TEST_ATTACK="+name)
				if got.code != 1 {
					t.Errorf("it succeeded: %s", got.out)
				}
				if diff := cmp.Diff(before, w.state()); diff != "" {
					t.Errorf("(-before +after):\n%s", diff)
				}
			})
		}
	})
}

func tryScript(t *testing.T, b *Box, script string) {
	w := newWorld(t)
	before := w.state()
	got := w.run(b, w.policy, script)
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("(-before +after):\n%s%s", diff, got.out)
	}
	if strings.Contains(got.out, secret) {
		t.Errorf("a secret was read: %s", got.out)
	}
}

// What is allowed works.
func TestConfined(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"files of the project", `echo x > new; mkdir -p d/e; mv new d/e/; cat d/e/new; rm -r d; ln a.txt h; ln -s a.txt l; chmod +x a.txt; mv sub t; cat t/b.txt`, "x\nb"},
		{"a cache", `echo x > ../cache/y; cat ../cache/y; mv ../cache/y here; cat here`, "x\nx\n"},
		{"other files are read", `cat ../outside/file.txt`, "outside"},
		{"devices", `echo a > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; [ -w /dev/shm ] && echo shm`, "3\n3\nshm\n"},
		{"descriptors", `echo out > /dev/stdout; echo fd > /proc/self/fd/1; cat <(echo sub)`, "out\nfd\nsub\n"},
		{"exit code", `exit 7`, ""},
		{"processes", `sleep 100 & kill $!; wait $! ; echo $?`, "143\n"},
		{"a commit's files", `echo x > .git/index.lock && mv .git/index.lock .git/index && mkdir -p .git/refs/heads && echo x > .git/refs/heads/main && echo y > .git/HEAD && cat .git/index`, "x\n"},
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, level Level) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w := newWorld(t)
				got := w.run(b, w.policy, tt.script)
				code := map[string]int{"exit code": 7}[tt.name]
				if diff := cmp.Diff(ran{out: tt.want, code: code}, got, cmp.AllowUnexported(ran{})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
}

// What was refused is told, and what was made in protected places is moved away.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name, script string
		grant        Grant
		want         []Refusal
	}{
		{name: "outside", script: `echo x > ../outside/file.txt; mkdir ../outside/d; rm ../outside/file.txt`,
			want: []Refusal{{Op: "write", Path: "outside/file.txt"}, {Op: "create", Path: "outside/d"}, {Op: "remove", Path: "outside/file.txt"}}},
		{name: "once each", script: `for i in 1 2 3; do echo x > ../outside/file.txt; done`, want: []Refusal{{Op: "write", Path: "outside/file.txt"}}},
		{name: "by a link", script: `ln -s ../outside o; echo x > o/new`, want: []Refusal{{Op: "write", Path: "outside/new"}}},
		{name: "made", script: `echo x > .envrc`, want: []Refusal{{Op: "create", Path: "work/.envrc", Undone: "it was moved to cache/aside/.envrc"}}},
		{name: "nothing", script: `echo x > a.txt; cat ../outside/file.txt; touch /dev/null`},
		{name: "granted", script: `echo x > ../outside/file.txt; echo x > .envrc; cat ../netrc`, grant: Grant{Within: []string{"outside"}, Change: []string{"work/.envrc"}, Read: []string{"netrc"}}},
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, level Level) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w := newWorld(t)
				var grant Grant
				for _, list := range []struct{ to, from *[]string }{{&grant.Within, &tt.grant.Within}, {&grant.Change, &tt.grant.Change}, {&grant.Read, &tt.grant.Read}} {
					for _, name := range *list.from {
						*list.to = append(*list.to, filepath.Join(w.base, name))
					}
				}
				got := w.run(b, w.policy.With(grant), tt.script+"\nexit 0")
				for i := range got.refused {
					r := &got.refused[i]
					r.Path, r.Undone = strings.TrimPrefix(r.Path, w.base+"/"), strings.ReplaceAll(r.Undone, w.base+"/", "")
				}
				if diff := cmp.Diff(tt.want, got.refused); diff != "" {
					t.Errorf("(-want +got):\n%s%s", diff, got.out)
				}
				if tt.name == "granted" && !strings.Contains(got.out, secret) {
					t.Errorf("not allowed: %s", got.out)
				}
			})
		}
	})
}

// A configuration of git that was given may change where it executes nothing new.
func TestGitConfigIsPutBack(t *testing.T) {
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, level Level) {
		w := newWorld(t)
		config := filepath.Join(w.work, ".git/config")
		policy := w.policy.With(Grant{Change: []string{config}})
		script := `printf '[remote "o"]\n\turl = https://example.org/x\n' >> .git/config`
		if got := w.run(b, policy, script); len(got.refused) > 0 {
			t.Errorf("a remote: %+v", got.refused)
		}
		want, _ := os.ReadFile(config)
		got := w.run(b, policy, `printf '[core]\n\tfsmonitor = evil\n' >> .git/config`)
		now, _ := os.ReadFile(config)
		if diff := cmp.Diff(string(want), string(now)); diff != "" || len(got.refused) != 1 || !strings.Contains(string(want), "example.org") {
			t.Errorf("%+v (-want +got):\n%s", got.refused, diff)
		}
	})
}

// Processes of a box see each other and nothing else; they share a network, which lathe
// serves.
func TestNetwork(t *testing.T) {
	if Detect() < Full {
		t.Skip(Missing())
	}
	b := NewBox(Options{Network: OwnNetwork})
	defer b.Close()
	l, err := b.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.WriteString(c, "from lathe\n")
			c.Close()
		}
		served <- err
	}()
	w := newWorld(t)
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	got := w.run(b, w.policy, `cat < /dev/tcp/127.0.0.1/`+port+`; cat /proc/net/dev | grep -c :; (echo > /dev/tcp/1.1.1.1/80) 2>&1 | grep -q unreachable && echo 1`)
	if diff := cmp.Diff("from lathe\n1\n1\n", got.out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestProcesses(t *testing.T) {
	if Detect() < Full {
		t.Skip(Missing())
	}
	b := NewBox(Options{})
	defer b.Close()
	w := newWorld(t)
	got := w.run(b, w.policy, `set -- /proc/[0-9]*; echo $#; kill -0 $LATHE 2>&1 | grep -c 'No such process'; readlink /proc/self/ns/ipc | grep -c "$IPC"`, "IPC="+link("/proc/self/ns/ipc"))
	if diff := cmp.Diff("2\n1\n0\n", got.out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	first := w.run(b, w.policy, `readlink /proc/self/ns/pid`)
	second := w.run(b, w.policy, `readlink /proc/self/ns/pid`)
	if first.out != second.out {
		t.Errorf("commands of a box are apart: %s, %s", first.out, second.out)
	}
}

func link(path string) string {
	to, _ := os.Readlink(path)
	return to
}

// What cannot be started says what was wrong, and leaves nothing.
func TestStartFails(t *testing.T) {
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, level Level) {
		w := newWorld(t)
		for name, proc := range map[string]Process{
			"program":   {Path: "/none", Args: []string{"none"}, Dir: w.work},
			"directory": {Path: "/bin/true", Args: []string{"true"}, Dir: "/none"},
		} {
			proc.Mark = Limit{Cur: ^uint64(0), Max: ^uint64(0)}
			if run, err := b.Start(proc, w.policy); err == nil || !os.IsNotExist(err) {
				t.Errorf("%s: %v, %v", name, run, err)
			}
		}
		policy := w.policy
		policy.Required = true
		if level < Full {
			if _, err := b.Start(Process{Path: "/bin/true", Args: []string{"true"}, Dir: w.work}, policy); err == nil {
				t.Error("less than required was enough")
			}
		}
	})
}

func BenchmarkStart(b *testing.B) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	b.Run("unconfined", func(b *testing.B) {
		for b.Loop() {
			p, err := os.StartProcess("/bin/bash", []string{"bash", "-c", "exec /bin/true"}, &os.ProcAttr{Files: []*os.File{null, null, null}})
			if err != nil {
				b.Fatal(err)
			}
			_, _ = p.Wait()
		}
	})
	for _, level := range []Level{Files, Full} {
		b.Run(level.String(), func(b *testing.B) {
			w, box := newWorld(b), NewBox(Options{Most: &level})
			defer box.Close()
			for b.Loop() {
				w.run(box, w.policy, "exec /bin/true")
			}
		})
	}
}
