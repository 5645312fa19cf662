//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// lasting is a world whose processes last.
func lasting(t *testing.T) *world {
	w := newWorld(t)
	w.policy.Lasting, w.policy.Checkouts = true, []string{w.work}
	forbidden := []string{"work/.envrc", "work/.lathe/x", "work/.github/workflows"}
	w.policy.Forbid = func(path string, whole bool) bool {
		for _, name := range forbidden {
			at := filepath.Join(w.base, name)
			if below(path, at) || whole && below(at, path) {
				return true
			}
		}
		return false
	}
	return w
}

// What lies in the project when a lasting process ends may be somebody else's: nothing is
// moved away or put back. In return its own calls fail, at both levels.
func TestLastingUndoesNothing(t *testing.T) {
	if !detect().tells {
		t.Skip("refusals cannot be told here")
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, _ Level) {
		w := lasting(t)
		work := func(name string) string { return filepath.Join(w.work, name) }
		theirs := func(*Run) { // the person at work, meanwhile
			for _, name := range []string{".envrc", "go"} {
				if err := os.WriteFile(work(name), []byte("theirs"), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
		script := `until [ -e go ]; do sleep 0.01; done; echo changed > .vscode/tasks.json; mkdir .lathe && echo x > .lathe/x; echo fine > b.txt; exit 0`
		got := w.runNear(b, w.policy, nil, script, theirs)
		want := []Refusal{{Op: "write", Path: work(".vscode/tasks.json")}, {Op: "write", Path: work(".lathe/x")}}
		if diff := cmp.Diff(want, got.refused); diff != "" {
			t.Errorf("refused (-want +got):\n%s%s", diff, got.out)
		}
		files := map[string]string{".envrc": "theirs", ".vscode/tasks.json": "{}", "b.txt": "fine\n"}
		for name, want := range files {
			if text, err := os.ReadFile(work(name)); err != nil || string(text) != want {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if _, err := os.Lstat(work(".lathe/x")); err == nil {
			t.Error(".lathe/x was made")
		}
	})
}

// No way to make a protected file works for a lasting process, at either level.
func TestLastingMakesNothingProtected(t *testing.T) {
	if !detect().tells {
		t.Skip("refusals cannot be told here")
	}
	attempts := map[string]string{
		"written":                   `echo x > .envrc`,
		"moved":                     `mv a.txt .envrc`,
		"linked":                    `ln a.txt .envrc`,
		"linked by name":            `ln -s a.txt .envrc`,
		"by a link":                 `ln -s .envrc l; echo x > l`,
		"by two links":              `ln -s "$BASE/work/k" l; ln -s .envrc k; echo x > l`,
		"by .. of a link":           `mkdir -p sub/e; ln -s sub/e l; echo x > l/../../.envrc`,
		"by /proc/self/cwd":         `echo x > /proc/self/cwd/.envrc`,
		"by the shell's cwd":        `echo x > /proc/$BASHPID/cwd/.envrc`,
		"by its root":               `echo x > /proc/self/root$BASE/work/.envrc`,
		"by another's root":         `sleep 9 & echo x > /proc/$!/root$BASE/work/.envrc; kill $!`,
		"by a descriptor":           `exec 9<"$BASE/work"; echo x > /proc/self/fd/9/.envrc`,
		"by /dev/fd":                `exec 9<"$BASE/work"; echo x > /dev/fd/9/.envrc`,
		"by a descriptor of a file": `exec 9<.vscode/tasks.json; echo x > /dev/fd/9`,
		"after cd":                  `cd sub; echo x > ../.envrc`,
		"as a directory":            `mkdir -p d/workflows; mv d .github`,
		"in a directory":            `mkdir -p .github/workflows; echo x > .github/workflows/x.yml`,
		"a link of a directory":     `mkdir -p d/workflows; ln -s d .github; echo x > .github/workflows/x.yml`,
		"exchanged":                 `A=a.txt B=.vscode/tasks.json ` + call(unix.SYS_RENAMEAT2, `, -100, "$ENV{A}\0", -100, "$ENV{B}\0", 2`),
		"moved away":                `mv .vscode v; echo x > v/tasks.json`,
		"linked and written":        `ln .vscode/tasks.json l; echo x > l`,
		"hook":                      `echo x > .git/hooks/pre-commit`,
		"configuration":             `printf '[core]\n\tfsmonitor = x\n' > .git/config`,
		"by git":                    `git init -q; git config core.fsmonitor x`,
		"nested hook":               `git init -q sub/n; echo x > sub/n/.git/hooks/pre-commit`,
		"nested configuration":      `git init -q sub/n; git -C sub/n config core.fsmonitor x`,
		"nested, written":           `git init -q sub/n; printf '[core]\n\tfsmonitor = x\n' >> sub/n/.git/config`,
		"nested, moved":             `mkdir -p m/hooks sub/n; echo x > m/hooks/pre-commit; mv m sub/n/.git`,
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, _ Level) {
		for name, script := range attempts {
			t.Run(name, func(t *testing.T) {
				if _, err := exec.LookPath("git"); err != nil && strings.Contains(script, "git ") {
					t.Skip(err)
				}
				w := lasting(t)
				got := w.run(b, w.policy, script)
				if made := w.steering(script); made != nil {
					t.Errorf("made %v: %s", made, got.out)
				}
				free := lasting(t)
				got = free.run(b, Policy{Write: w.policy.Write[:0:0], Given: []string{free.work}}, script)
				if free.steering(script) == nil {
					t.Errorf("the attempt does not work anywhere: %s", got.out)
				}
			})
		}
	})
}

// steering lists what a script of lasting processes made or changed that steers a program.
func (w *world) steering(script string) (made []string) {
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(w.work, name))
		return string(text)
	}
	for _, name := range []string{".envrc", ".github/workflows/x.yml", ".git/hooks/pre-commit", "sub/n/.git/hooks/pre-commit"} {
		if _, err := os.Stat(filepath.Join(w.work, name)); err == nil {
			made = append(made, name)
		}
	}
	if _, err := os.Stat(filepath.Join(w.work, ".github/workflows")); err == nil && strings.Contains(script, " d ") {
		made = append(made, ".github")
	}
	for _, name := range []string{".git/config", "sub/n/.git/config"} {
		if strings.Contains(read(name), "fsmonitor") {
			made = append(made, name)
		}
	}
	if read(".vscode/tasks.json") != "{}" {
		made = append(made, "tasks.json")
	}
	return made
}

// What lasting processes do every day works.
func TestLastingWorks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, _ Level) {
		w := lasting(t)
		got := w.run(b, w.policy, `set -e
mkdir -p .vscode .github; echo x > .vscode/extensions.json; echo x > .github/notes.md
git init -q sub/n; cd sub/n; git config user.name n; git config user.email n@example.org; git remote add o ../m
echo x > f; git add f; git commit -qm f; git branch side; cd ../..; rm -rf sub/n
git init -q "$BASE/cache/r"; echo x > "$BASE/cache/r/.git/hooks/pre-commit"; git -C "$BASE/cache/r" config core.fsmonitor x; echo x > /dev/null; echo x > /dev/fd/1`)
		if got.code != 0 || got.refused != nil {
			t.Errorf("exit %d, refused %v: %s", got.code, got.refused, got.out)
		}
	})
}

// A configuration of git that was given may be changed, but not so that git executes more.
func TestLastingGitConfig(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || !detect().tells {
		t.Skip("no git, or refusals cannot be told here")
	}
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, _ Level) {
		w := lasting(t)
		config := filepath.Join(w.work, ".git/config")
		if out, err := exec.Command("git", "init", "-q", w.work).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		policy := w.policy.With(Grant{Change: []string{config}})
		got := w.run(b, policy, `git remote add o ../m; git config core.fsmonitor x; printf '[core]\n\tpager = x\n' >> .git/config`)
		text, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(text); !strings.Contains(s, "url = ../m") || strings.Contains(s, "fsmonitor") || strings.Contains(s, "pager") {
			t.Errorf("the configuration is\n%s%s", s, got.out)
		}
	})
}

// A process that goes on is looked at once when that is decided, and lasts from then on.
func TestOutlive(t *testing.T) {
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, _ Level) {
		w := lasting(t)
		w.policy.Lasting = false
		var before []Refusal
		got := w.runNear(b, w.policy, nil, `echo mine > .envrc; echo > made; until [ -e go ]; do sleep 0.01; done; echo again > .lathe/x; echo later > b.txt`, func(run *Run) {
			for {
				if _, err := os.Lstat(filepath.Join(w.work, "made")); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			before = run.Outlive()
			for _, name := range []string{".lathe/theirs", ".envrc", "go"} {
				path := filepath.Join(w.work, name)
				_ = os.MkdirAll(filepath.Dir(path), 0o755)
				if err := os.WriteFile(path, []byte("theirs"), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
		if len(before) != 1 || before[0].Path != filepath.Join(w.work, ".envrc") || before[0].Undone == "" {
			t.Errorf("undone when it was kept: %v", before)
		}
		for _, name := range []string{".lathe/theirs", ".envrc"} {
			if text, err := os.ReadFile(filepath.Join(w.work, name)); err != nil || string(text) != "theirs" {
				t.Errorf("%s: %q, %v: %v", name, text, err, got.refused)
			}
		}
		if _, err := os.Lstat(filepath.Join(w.work, ".lathe/x")); err == nil && detect().tells {
			t.Error("it made a protected file afterwards")
		}
	})
}
