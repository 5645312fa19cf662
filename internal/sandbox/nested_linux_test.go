//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// person runs git, outside the sandbox, in every checkout of the project as a person would
// later, and reports whether anything that a command left there was executed: a program
// called evil.
func (w *world) person(t *testing.T) bool {
	t.Helper()
	ran := filepath.Join(w.base, "ran")
	_ = os.Remove(ran)
	_ = filepath.WalkDir(w.work, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" && path != filepath.Join(w.work, ".git") {
			for _, args := range []string{"status", "commit -q --allow-empty -m x", "st"} {
				w.git(filepath.Dir(path), strings.Fields(args)...)
				if exists(ran) {
					return fs.SkipAll
				}
			}
		}
		return nil
	})
	return exists(ran)
}

// git runs git as the person and returns what it printed; it may fail.
func (w *world) git(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Join(w.base, "bin") + ":/usr/bin:/bin", "HOME=" + w.base, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.org", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.org"}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// withNested is a project with a repository below it, which has a submodule and a worktree,
// and is confined like a command. At is from nestedParts.
func withNested(t *testing.T, at string) *world {
	t.Helper()
	w := newWorld(t)
	w.policy.Checkouts = []string{w.work}
	w.policy.Write = append(w.policy.Write, filepath.Join(w.base, "tmp"))
	if out, err := exec.Command("cp", "-a", at+"/.", w.base).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, text := range map[string]string{"w/.git": "gitdir: " + w.work + "/n/.git/worktrees/w\n", "n/.git/worktrees/w/gitdir": w.work + "/w/.git\n"} {
		if err := os.WriteFile(filepath.Join(w.work, name), []byte(text), 0o644); err != nil { // git writes absolute paths
			t.Fatal(err)
		}
	}
	return w
}

// nestedParts makes what withNested adds to a project, once for many.
func nestedParts(t *testing.T) string {
	if _, err := exec.LookPath("git"); err != nil || !detect().tells {
		t.Skip("no git, or refusals cannot be told here")
	}
	at := t.TempDir()
	w := &world{t: t, base: at, work: filepath.Join(at, "work")}
	for name, text := range map[string]string{"bin/evil": "#!/bin/sh\necho >> \"$HOME/ran\"\n", ".gitconfig": "[protocol \"file\"]\n\tallow = always\n", "tmp/x": "x"} {
		path := filepath.Join(at, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	n := filepath.Join(w.work, "n")
	for _, dir := range []string{filepath.Join(at, "m"), n} {
		w.git(at, "init", "-q", dir)
		w.git(dir, "commit", "-q", "--allow-empty", "-m", "x")
	}
	w.git(n, "submodule", "--quiet", "add", "file://"+at+"/m", "lib/m")
	w.git(n, "worktree", "add", "-q", "../w")
	w.git(n, "config", "alias.mine", "!true")
	if out := w.git(n, "commit", "-q", "-m", "submodule"); out != "" {
		t.Fatal(out)
	}
	if err := os.WriteFile(filepath.Join(n, ".git/hooks/post-commit"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return at
}

// hook, badly and fake are what the attempts leave behind.
const (
	hook  = `evil=$(printf '#!/bin/sh\nevil\n'); put() { echo "$evil" > "$1"; chmod +x "$1"; }; `
	badly = `bad() { printf '[core]\n\tfsmonitor = evil\n[alias]\n\tst = !evil\n' >> "$1"; }; `
	fake  = hook + badly + `fake() { mkdir -p $1/hooks $1/objects $1/refs; echo ref: refs/heads/main > $1/HEAD; put $1/hooks/pre-commit; bad $1/config; }; `
)

// nestedAttempts prepare something for git to execute in a checkout below the project.
var nestedAttempts = map[string]string{
	"hook":                            hook + `put n/.git/hooks/pre-commit`,
	"hook, copied":                    hook + `put h; cp h n/.git/hooks/pre-commit`,
	"hook, moved":                     hook + `put h; mv h n/.git/hooks/pre-commit`,
	"hook, linked":                    hook + `put h; ln h n/.git/hooks/pre-commit`,
	"hook, linked by name":            hook + `put h; ln -s ../../../h n/.git/hooks/pre-commit`,
	"hook by /proc/self/cwd":          hook + `put /proc/self/cwd/n/.git/hooks/pre-commit`,
	"hook by a descriptor":            hook + `exec 9<n/.git/hooks; put /proc/self/fd/9/pre-commit`,
	"hook by .. of a link":            hook + `mkdir n/d; ln -s n/d l; put l/../.git/hooks/pre-commit`,
	"hook by .. of a directory":       hook + `mkdir n/d; cd n/d; put /proc/self/cwd/../.git/hooks/pre-commit`,
	"hook by a link to /proc":         hook + `ln -s /proc/self/cwd c; put c/n/.git/hooks/pre-commit`,
	"hook by /proc, with slashes":     hook + `put /proc//self/./cwd/n/.git/hooks/pre-commit`,
	"hook by a way to /proc":          hook + `put /usr/../proc/self/cwd/n/.git/hooks/pre-commit`,
	"hook by the shell's directory":   hook + `put /proc/$BASHPID/cwd/n/.git/hooks/pre-commit`,
	"hook by a link that leads there": hook + `ln -s ../d/../.git/hooks/pre-commit n/lib/k; mkdir n/d; put n/lib/k`,
	"hook, linked out":                `ln n/.git/hooks/post-commit h; printf '#!/bin/sh\nevil\n' > h; chmod +x h`,
	"hook, linked out by a link":      `ln -s n/.git/hooks/post-commit l; ln -L l h; printf '#!/bin/sh\nevil\n' > h; chmod +x h`,
	"hook, within":                    hook + `cd n/.git/hooks; put pre-commit`,
	"hook, in a moved checkout":       hook + `mv n o; put o/.git/hooks/pre-commit; mv o n`,
	"hook, git moved away":            hook + `mv n/.git n/g; put n/g/hooks/pre-commit; mv n/g n/.git`,
	"hook, in a place that was new":   hook + `git init -q new; mv new old; mv n new; put new/.git/hooks/pre-commit; mv new n`,
	"hooks, moved":                    hook + `mkdir h; put h/pre-commit; mv n/.git/hooks o; mv h n/.git/hooks`,
	"hooks, a link":                   hook + `mkdir h; put h/pre-commit; rm -rf n/.git/hooks; ln -s ../../h n/.git/hooks`,
	"hooks, exchanged":                hook + `mkdir h; put h/pre-commit; A=n/.git/hooks B=h perl -e 'syscall(316, -100, "$ENV{A}\0", -100, "$ENV{B}\0", 2)'`,
	"hooks, exchanged the other way":  hook + `mkdir h; put h/pre-commit; A=h B=n/.git/hooks perl -e 'syscall(316, -100, "$ENV{A}\0", -100, "$ENV{B}\0", 2)'`,
	"setting":                         `git -C n config core.fsmonitor evil`,
	"setting, written":                badly + `bad n/.git/config`,
	"setting, copied":                 badly + `bad c; cp c n/.git/config`,
	"setting, moved":                  badly + `cp n/.git/config c; bad c; mv c n/.git/config`,
	"setting, without HEAD":           badly + `cp n/.git/config c; bad c; mv n/.git/HEAD H; cat c > n/.git/config; mv H n/.git/HEAD`,
	"setting, by a descriptor":        `cp n/.git/config n/.git/config.lock; exec 9>>n/.git/config.lock; mv n/.git/config.lock n/.git/config; printf '[core]\n\tfsmonitor = evil\n' >&9`,
	"setting, linked":                 badly + `cp n/.git/config c; rm n/.git/config; ln c n/.git/config; bad c`,
	"setting, linked and moved":       badly + `cp n/.git/config c; ln c n/.git/config.lock; mv n/.git/config.lock n/.git/config; bad c`,
	"setting of a worktree":           badly + `git -C n config extensions.worktreeConfig true; bad n/.git/worktrees/w/config.worktree`,
	"setting of a submodule":          `git -C n/lib/m config core.fsmonitor evil`,
	"hook of a submodule":             hook + `put n/.git/modules/lib/m/hooks/pre-commit`,
	"submodules, moved":               fake + `fake k/lib/m; mv n/.git/modules o; mv k n/.git/modules`,
	"common directory":                fake + `fake k; echo ../../k > n/.git/commondir`,
	"common directory of a worktree":  fake + `fake k; echo "$PWD/k" > n/.git/worktrees/w/commondir`,
	"the same, removed first":         fake + `fake k; rm n/.git/worktrees/w/commondir; echo "$PWD/k" > n/.git/worktrees/w/commondir`,
	"the same, linked":                fake + `fake k; echo ../.. > c; rm n/.git/worktrees/w/commondir; ln c n/.git/worktrees/w/commondir; echo "$PWD/k" > c`,
	"worktree without the rest":       fake + `cp -r n/.git/objects n/.git/refs n/.git/worktrees/w/; rm n/.git/worktrees/w/commondir; mkdir n/.git/worktrees/w/hooks; put n/.git/worktrees/w/hooks/pre-commit`,
	"git's directory, moved":          fake + `fake k; mkdir s; mv k s/.git`,
	"git's directory, in its place":   fake + `fake k; rm -rf n/.git; mv k n/.git`,
	"git's directory, exchanged":      fake + `fake k; A=k B=n/.git perl -e 'syscall(316, -100, "$ENV{A}\0", -100, "$ENV{B}\0", 2)'`,
	"git's directory, linked":         fake + `fake k; mkdir s; ln -s ../k s/.git`,
	"git's directory, elsewhere":      fake + `fake ../tmp/k; mkdir s; echo "gitdir: $BASE/tmp/k" > s/.git`,
	"the same, moved":                 fake + `fake ../tmp/k; mkdir s; echo "gitdir: $BASE/tmp/k" > g; mv g s/.git`,
	"git's directory, inside another": fake + `fake n/.git/k; mkdir s; echo "gitdir: ../n/.git/k" > s/.git`,
	"the same, among objects":         fake + `mkdir s; fake n/.git/modules/lib/m/objects/k; echo "gitdir: ../n/.git/modules/lib/m/objects/k" > s/.git`,
	"new repository":                  fake + `git init -q s; put s/.git/hooks/pre-commit; bad s/.git/config`,
	"new repository, moved":           fake + `git init -q s; put s/.git/hooks/pre-commit; bad s/.git/config; mkdir d; mv s d/t; mv d e`,
	"new repository, in a new one":    fake + `git init -q s; git init -q s/.git/modules/x; fake s/.git/modules/y; mkdir s/t; echo "gitdir: ../.git/modules/y" > s/t/.git`,
	"repository from elsewhere":       fake + `mkdir -p ../tmp/a/b; git init -q ../tmp/a/b; put ../tmp/a/b/.git/hooks/pre-commit; bad ../tmp/a/b/.git/config; mv ../tmp/a a`,
}

// Nothing that a command does in checkouts below the project makes git execute something
// there later.
func TestNestedCheckouts(t *testing.T) {
	at := nestedParts(t)
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, level Level) {
		for i, name := range slices.Sorted(maps.Keys(nestedAttempts)) {
			script := nestedAttempts[name]
			if (level < Full || testing.Short()) && i%4 != 0 {
				continue // it is the same code at each level and for each user
			}
			t.Run(name, func(t *testing.T) {
				w := withNested(t, at)
				got := w.run(b, w.policy, "export GIT_CONFIG_GLOBAL=$BASE/.gitconfig; "+script)
				if w.person(t) {
					t.Errorf("git executed it: exit %d, refused %v, %s", got.code, got.refused, got.out)
				}
				if len(got.refused) == 0 {
					t.Errorf("nothing was refused: exit %d, %s", got.code, got.out)
				}
			})
		}
	})
}

// The attempts are such: without a sandbox each of them works.
func TestNestedAttemptsWorkWithoutSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("another user's attempts are the same")
	}
	at := nestedParts(t)
	for name, script := range nestedAttempts {
		t.Run(name, func(t *testing.T) {
			w := withNested(t, at)
			cmd := exec.Command("/bin/bash", "-c", script)
			cmd.Dir, cmd.Env = w.work, []string{"PATH=/usr/bin:/bin", "HOME=" + w.base, "BASE=" + w.base}
			out, _ := cmd.CombinedOutput()
			if !w.person(t) {
				t.Errorf("it does nothing: %s", out)
			}
		})
	}
}

// What people do with checkouts below the project works, and leaves them as git makes them.
func TestNestedCheckoutsWork(t *testing.T) {
	tests := map[string]string{
		"remove":           `rm -rf n w; test ! -e n`,
		"move":             `mv w v; mv n x; git -C x worktree repair ../v; git -C x status`,
		"clone":            `git clone -q file://$BASE/m c; git -C c log --oneline; git clone -q --local n d; git clone -q --bare file://$BASE/m e.git`,
		"clone elsewhere":  `git clone -q --recurse-submodules n ../tmp/c; mv ../tmp/c c; git -C c/lib/m log --oneline`,
		"commit":           `cd n; echo x > f; git add f; git commit -qm f; git branch config; git branch hooks/x; git checkout -q config; git tag v1; git gc -q; git stash list`,
		"submodule":        `cd n; git submodule --quiet deinit -f lib/m; git submodule --quiet update --init; git -C lib/m branch config; git -C lib/m commit -q --allow-empty -m x`,
		"new submodule":    `git clone -q file://$BASE/m c; cd c; git submodule --quiet add file://$BASE/m s; git commit -qm s; git submodule --quiet sync`,
		"worktree":         `cd n; git worktree add -q ../v; git -C ../v commit -q --allow-empty -m x; git worktree move ../v ../u; git worktree remove ../u; git worktree remove -f -f ../w; git worktree prune`,
		"settings":         `cd n; git config user.name x; git remote add o ../../m; git fetch -q o; git config branch.x.remote o; git config --unset user.name; git remote remove o`,
		"absorbed":         `cd n; git init -q a; git -C a commit -q --allow-empty -m x; git submodule --quiet add ./a a; git submodule absorbgitdirs; git -C a status`,
		"template's hooks": `mkdir -p ../tmp/t/hooks; echo true > ../tmp/t/hooks/pre-commit; git clone -q --template=../tmp/t file://$BASE/m c; git -C c status`,
		"tests' own hooks": `git init -q t; printf '#!/bin/sh\necho ran > hooked\n' > t/.git/hooks/post-commit; chmod +x t/.git/hooks/post-commit; git -C t commit -q --allow-empty -m x; cat t/hooked; rm -rf t`,
		"replaced":         `rm -rf n; git clone -q file://$BASE/m n; git -C n commit -q --allow-empty -m x`,
	}
	at := nestedParts(t)
	atLevels(t, HostNetwork, func(t *testing.T, b *Box, _ Level) {
		for name, script := range tests {
			t.Run(name, func(t *testing.T) {
				w := withNested(t, at)
				got := w.run(b, w.policy, "set -e; export GIT_CONFIG_GLOBAL=$BASE/.gitconfig\n"+script,
					"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.org", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.org")
				if got.code != 0 || len(got.refused) > 0 && name != "template's hooks" {
					t.Errorf("exit %d, refused %v: %s", got.code, got.refused, got.out)
				}
			})
		}
	})
}
