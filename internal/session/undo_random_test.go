package session_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/undo"
)

// gitDir is what the repository's .git holds.
func (w *world) gitDir() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(w.repo, ".git"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = fmt.Sprint(sha256.Sum256(data))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// numstat is how git counts what differs between two copies of the repository.
func (w *world) numstat(a, b string) *lathe.SessionSummary {
	w.t.Helper()
	cmd := exec.Command("git", "diff", "--no-index", "--no-renames", "--numstat", "--", a, b)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
	raw, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || e.ExitCode() != 1) {
		w.t.Fatal(err)
	}
	sum := &lathe.SessionSummary{}
	for line := range strings.Lines(string(raw)) {
		f := strings.Split(line, "\t")
		add, _ := strconv.Atoi(f[0]) // "-" for binary files
		del, _ := strconv.Atoi(f[1])
		sum.Files, sum.Additions, sum.Deletions = sum.Files+1, sum.Additions+add, sum.Deletions+del
	}
	if sum.Files == 0 {
		return nil
	}
	return sum
}

// counted counts as git does without looking for renames.
func counted(diffs []lathe.FileDiff) *lathe.SessionSummary {
	if len(diffs) == 0 {
		return nil
	}
	sum := &lathe.SessionSummary{Files: len(diffs)}
	for _, d := range diffs {
		sum.Additions, sum.Deletions = sum.Additions+d.Additions, sum.Deletions+d.Deletions
	}
	return sum
}

func (w *world) copy() string {
	w.t.Helper()
	to := w.t.TempDir()
	if out, err := exec.Command("cp", "-a", w.repo+"/.", to).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(to, ".git")); err != nil {
		w.t.Fatal(err)
	}
	return to
}

// doings are commands that a model could run; %s is a file.
var doings = []string{
	"mkdir -p d; printf 'one\\ntwo\\nthree\\n' > %s", "echo more >> %s", "rm -f %s", "mv -f %s d/moved 2>/dev/null; true",
	"chmod 600 %s 2>/dev/null; true", "chmod 755 %s 2>/dev/null; true", "mkdir -p d; head -c 3000 /dev/urandom > %s", "ln -sfn nowhere %s",
	"mkdir -p d; printf 'a\\0b' > %s", "sed -i s/two/2/ %s 2>/dev/null; true", "rm -rf d", "mv d e 2>/dev/null; mv e/e d 2>/dev/null; true",
	"mkdir -p 目录; echo 内容 > 目录/文件; rm -f %s", "true",
}

// TestRevertOfRandomTurns lets turns do random things, with a person who edits in
// between, reverts to a random prompt and goes back.
func TestRevertOfRandomTurns(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	names := []string{"a.txt", "b.sh", "d/c.txt", "d/d.bin", "main.go", "名.txt"}
	before := w.gitDir()
	for round := range 6 {
		what := fmt.Sprintf("seed %d, round %d", seed, round)
		id := w.create(s)
		start := w.copy()
		var states []map[string]string // before each turn
		own := map[string]string{}     // what the person wrote last, by file
		edited := make([]bool, 0)      // whether the person edited from this turn on
		for range 2 + random.IntN(3) {
			states, edited = append(states, w.files()), append(edited, false)
			var script []string
			for range 1 + random.IntN(3) {
				script = append(script, strings.ReplaceAll(doings[random.IntN(len(doings))], "%s", names[random.IntN(len(names))]))
			}
			w.ask(s, id, strings.Join(script, "\n"))
			for f, text := range own { // a turn may have changed it since
				if w.files()[f] != text {
					delete(own, f)
				}
			}
			if round%2 == 1 && random.IntN(2) == 0 {
				f := []string{"a.txt", "b.sh", "notes"}[random.IntN(3)]
				w.write(map[string]string{"repo/" + f: fmt.Sprintf("by hand %d\n", random.Int())})
				own[f] = w.files()[f]
				for i := range edited {
					edited[i] = true
				}
			}
		}
		end := w.files()
		sess, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		diffs, err := s.Diffs.Of(t.Context(), id, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(undo.Summary(diffs), sess.Summary); diff != "" {
			t.Errorf("%s: the session's summary (-want +got):\n%s", what, diff)
		}
		if !edited[0] {
			if diff := cmp.Diff(w.numstat(start, w.copy()), counted(diffs)); diff != "" {
				t.Errorf("%s: what the session changed (-git +got):\n%s", what, diff)
			}
		}
		point := random.IntN(len(states))
		got, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: w.users(s, id)[point]})
		if err != nil {
			t.Fatal(what, err)
		}
		if !edited[point] {
			w.same(what+": after the revert", states[point])
			if len(got.Conflicts) > 0 {
				t.Errorf("%s: conflicts %v", what, got.Conflicts)
			}
		}
		now := w.files()
		for _, f := range slices.Sorted(maps.Keys(own)) {
			if now[f] != own[f] {
				t.Errorf("%s: the person's %s is %q, was %q", what, f, now[f], own[f])
			}
		}
		if _, err := s.Undo.Unrevert(t.Context(), id, false); err != nil {
			t.Fatal(what, err)
		}
		w.same(what+": after the unrevert", end)
		if t.Failed() {
			return
		}
	}
	if diff := cmp.Diff(before, w.gitDir()); diff != "" {
		t.Errorf("the repository's .git (-want +got):\n%s", diff)
	}
}

func TestRevertTakesBackTheUsersCommands(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	start := w.files()
	w.ask(s, id, "echo one > a.txt")
	one := w.files()
	_, run, err := s.Shell(t.Context(), id, session.ShellInput{Command: "echo two >> a.txt; rm main.go", Model: lathe.ModelRef{Provider: "script", Model: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	two := w.files()
	sess, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&lathe.SessionSummary{Additions: 2, Deletions: 1, Files: 2}, sess.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	users := w.users(s, id)
	for _, tt := range []struct {
		point int
		want  map[string]string
	}{{1, one}, {0, start}} {
		got, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[tt.point]})
		if err != nil || len(got.Conflicts) > 0 {
			t.Fatalf("revert: %v, %v", got.Conflicts, err)
		}
		w.same(fmt.Sprintf("after prompt %d was reverted", tt.point), tt.want)
	}
	if _, err := s.Undo.Unrevert(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	w.same("after unrevert", two)
}
