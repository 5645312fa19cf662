package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/llm/llmtest"
	"lathe/internal/sandbox/kerneltest"
)

// faultEnv lets the file layer of a process fail from some moment on: "28 40ms"
// is no space after 40 ms.
const faultEnv = "LATHE_TEST_FAULT"

func init() {
	spec, armed := os.LookupEnv(faultEnv)
	if !armed || os.Getenv(asMain) == "" {
		return
	}
	err := kerneltest.BreakFiles(spec, func(err error) { fmt.Fprintln(os.Stderr, "no fault injected:", err) })
	if err != nil {
		panic("bad " + faultEnv)
	}
}

// TestFileFaults lets the disk of a run, or of an import, be full or broken from
// a random moment on. The process ends and says why; the database is sound, what
// was told is there, and the next run works.
func TestFileFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("notes.txt", "start\n")
	foreign := openCodeStore(t, 30, 6)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	failed := 0
	rounds := killRounds(24)
	for n := range rounds {
		errno := []syscall.Errno{syscall.ENOSPC, syscall.EIO}[n%2]
		moment := time.Duration(random.Int64N(int64(120 * time.Millisecond)))
		what := fmt.Sprintf("seed %d, round %d: %v after %s", seed, n, errno, moment)
		w.model("anthropic", compactingScript(w, n))
		args := []string{"run", "--format", "json", "work"}
		if n%4 == 3 {
			args = []string{"import", foreign}
		}
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %s", faultEnv, errno, moment))
		r := w.finish(cmd)
		if strings.Contains(r.stderr, "no fault injected") || strings.Contains(r.stderr, "panic") || r.code < 0 {
			t.Fatalf("%s: exit code %d\n%s", what, r.code, r.stderr)
		}
		if r.code != 0 {
			failed++
			if !strings.Contains(r.stderr, "lathe: ") && !strings.Contains(r.stdout, `"type":"error"`) {
				t.Errorf("%s: exit code %d and no reason\n%s", what, r.code, r.stdout)
			}
		}
		if found := databases(t, w); len(found) == 0 && r.code != 0 && !strings.Contains(r.stdout, `"type":"text"`) {
			continue // it came before there was anything
		}
		sound(t, what, w)
		remembered(t, what, w, r.stdout)
		s := w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("resumed")}}})
		next := []string{"run", "go on"}
		if n%4 != 3 {
			next = []string{"run", "-c", "go on"}
		}
		if r := w.run(next...); r.code != 0 || r.stdout != "resumed\n" {
			t.Fatalf("%s: the next run: exit code %d, answer %q\n%s", what, r.code, r.stdout, r.stderr)
		}
		accepted(t, s)
	}
	wholeImport(t, w, foreign)
	t.Logf("%d of %d processes were hit", failed, rounds)
	if failed == 0 {
		t.Error("no fault struck")
	}
}

// TestFileFaultsInReverts lets the disk of a revert or unrevert be full or broken
// from a random moment on. What could not be done is said; afterwards all of it
// can be brought back.
func TestFileFaultsInReverts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, start, done := manyChanges(t, w)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	failed := 0
	for n := range killRounds(8) {
		errno := []syscall.Errno{syscall.ENOSPC, syscall.EIO}[n%2]
		work := []string{"revert", "revert", "unrevert", "unrevert"}[n%4]
		if work == "unrevert" {
			w.must(w.run("session", "revert", id))
		}
		moment := time.Duration(random.Int64N(int64(120 * time.Millisecond)))
		what := fmt.Sprintf("seed %d, round %d: %s with %v after %s", seed, n, work, errno, moment)
		cmd := w.command("session", work, id)
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %s", faultEnv, errno, moment))
		r := w.finish(cmd)
		if strings.Contains(r.stderr, "no fault injected") || strings.Contains(r.stderr, "panic") || r.code < 0 {
			t.Fatalf("%s: exit code %d\n%s", what, r.code, r.stderr)
		}
		if r.code != 0 {
			failed++
		}
		sound(t, what, w)
		if random.IntN(2) == 0 {
			if r := w.run("session", "revert", id, "--message", firstPrompt(t, w, id)); r.code != 0 || treeOf(t, w.dir) != start {
				t.Fatalf("%s: the revert cannot be completed: exit code %d\n%s", what, r.code, r.stderr)
			}
		}
		if r := w.run("session", "unrevert", id); r.code != 0 || treeOf(t, w.dir) != done {
			t.Fatalf("%s: the tree did not come back: exit code %d\n%s", what, r.code, r.stderr)
		}
	}
	t.Logf("%d were hit", failed)
}

// mounted makes a small file system of its own the home of a world.
func mounted(t *testing.T, w *world, size string) (remount func(options string)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	if err := unix.Mount("tmpfs", w.home, "tmpfs", 0, "size="+size); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("root may not mount in this container")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(w.home, unix.MNT_DETACH) })
	for _, dir := range []string{"config", "data"} {
		if err := os.Mkdir(w.home+"/"+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return func(options string) {
		t.Helper()
		flags := uintptr(unix.MS_REMOUNT)
		if options == "ro" {
			flags, options = flags|unix.MS_RDONLY, ""
		}
		if err := unix.Mount("tmpfs", w.home, "tmpfs", flags, options); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk fills a real file system by what a turn stores.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	remount := mounted(t, w, "1m")
	w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"head -c 400000 /dev/urandom | base64 | head -c 45000; head -c 1500000 /dev/urandom > big.bin","description":"much"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text(strings.Repeat("words without end ", 40_000))}},
		{Blocks: []llmtest.Block{llmtest.Text("done")}},
	})
	r := w.run("run", "--format", "json", "work")
	if r.code == 0 || !strings.Contains(r.stdout+r.stderr, "no space left") {
		t.Errorf("on a full disk: exit code %d\n%s", r.code, r.stderr)
	}
	sound(t, "full", w)
	if r := w.run("import", openCodeStore(t, 60, 12)); r.code == 0 || !strings.Contains(r.stderr, "no space left") {
		t.Errorf("import on a full disk: exit code %d\n%s", r.code, r.stderr)
	}
	if list := w.run("session", "list"); list.code != 0 {
		t.Errorf("list on a full disk: exit code %d\n%s", list.code, list.stderr)
	}
	remount("size=64m")
	sound(t, "freed", w)
	remembered(t, "freed", w, r.stdout)
	w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("resumed")}}})
	if r := w.run("run", "-c", "go on"); r.code != 0 || r.stdout != "resumed\n" {
		t.Errorf("after space was freed: exit code %d, %q\n%s", r.code, r.stdout, r.stderr)
	}
}

// TestReadOnlyData reads sessions on a file system that cannot be written: one
// that was left in order, and one on which a process died.
func TestReadOnlyData(t *testing.T) {
	t.Parallel()
	for _, left := range []bool{false, true} {
		t.Run(fmt.Sprintf("log=%v", left), func(t *testing.T) { readOnlyData(t, left) })
	}
}

func readOnlyData(t *testing.T, left bool) {
	w := newWorld(t)
	remount := mounted(t, w, "16m")
	w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("the answer")}}})
	w.must(w.run("run", "the question"))
	id, _, _ := strings.Cut(w.must(w.run("session", "list")), " ")
	if left {
		killAtWork(t, w)
		if info, err := os.Stat(w.home + "/data/lathe.db-wal"); err != nil || info.Size() == 0 {
			t.Fatalf("no log was left: %v", err)
		}
	}
	remount("ro")
	for _, args := range [][]string{{"session", "list"}, {"session", "show", id}, {"export", id}, {"stats"}, {"db", "check"}, {"doctor"}, {"db", "query", "SELECT 1"}} {
		r := w.run(args...)
		if r.code != 0 || !strings.Contains(r.stderr, "cannot be written: sessions can be read") {
			t.Errorf("%q: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	if r := w.run("session", "show", id); !strings.Contains(r.stdout, "the answer") {
		t.Errorf("shown: %s", r.stdout)
	}
	if r := w.run("session", "list"); left && !strings.Contains(r.stdout, "cut off") {
		t.Errorf("what the log holds is not listed:\n%s", r.stdout)
	}
	if r := w.run("doctor"); !strings.Contains(r.stdout, "sound") || !strings.Contains(r.stdout, "sessions can be read") {
		t.Errorf("doctor: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, args := range [][]string{{"run", "more"}, {"session", "rename", id, "x"}, {"session", "delete", id}} {
		if r := w.run(args...); r.code == 0 || !strings.Contains(r.stderr, "hint: check who owns") {
			t.Errorf("%q: exit code %d\n%s", args, r.code, r.stderr)
		}
	}
	remount("size=16m")
	w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("resumed")}}})
	w.must(w.run("run", "-s", id, "go on"))
	sound(t, "writable again", w)
}

// killAtWork kills a run while its tool works.
func killAtWork(t *testing.T, w *world) {
	t.Helper()
	w.write("wait.txt", "tool bash {\"command\":\"echo printed so far; touch began; sleep 1000\",\"description\":\"waits\"}\n")
	cmd := w.command("run", "--title", "cut off", "--permission", "allow", "-m", "script/"+filepath.Join(w.dir, "wait.txt"), "wait")
	mark := fmt.Sprintf("LATHE_KILL_MARK=%d-work", os.Getpid())
	cmd.Env = append(cmd.Env, mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.await("began")
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if strings.Contains(w.must(w.run("export")), `"output": "printed so far\n"`) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what the command printed is not seen from outside")
		}
	}
	_ = cmd.Process.Kill()
	w.wait(cmd)
	noneLeft(t, "killed at work", mark)
}

// TestInterruptedIsShownSo kills a run while its tool works. Whoever looks at the
// session next sees that it was cut off, and what the tool had shown.
func TestInterruptedIsShownSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model("anthropic", nil)
	killAtWork(t, w)
	out := w.must(w.run("export"))
	if strings.Contains(out, `"status": "running"`) || !strings.Contains(out, "interrupted") {
		t.Errorf("the session seems to work:\n%s", out)
	}
	if !strings.Contains(out, `"output": "printed so far\n"`) {
		t.Errorf("what the command printed is lost:\n%s", out)
	}
	if out := w.must(w.run("doctor")); strings.Contains(out, "at work") {
		t.Errorf("doctor:\n%s", out)
	}
}
