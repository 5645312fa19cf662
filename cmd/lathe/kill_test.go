package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
)

// TestKill ends runs with SIGKILL at random moments of their work. Afterwards
// the database is sound, nothing of the run is left alive, and the next run goes
// on with a request that a real provider accepts: every call has its result.
func TestKill(t *testing.T) {
	t.Parallel()
	endRuns(t, syscall.SIGKILL, 40)
}

// TestInterruptAnywhere does the same with an interrupt, which is obeyed.
func TestInterruptAnywhere(t *testing.T) {
	t.Parallel()
	endRuns(t, syscall.SIGINT, 16)
}

// endRuns starts runs and sends each a signal at a random moment.
func endRuns(t *testing.T, sig syscall.Signal, runs int) {
	w := newWorld(t)
	temp := t.TempDir()
	w.env = append(w.env, "TMPDIR="+temp)
	w.write("notes.txt", "start\n")
	protocols := []string{"anthropic", "openai", "openaichat", "google"}
	// A run that is let alone says how long one takes.
	w.model(protocols[0], killScript(w, 0))
	began := time.Now()
	w.must(w.run("run", "work"))
	span := time.Since(began)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	ended := 0
	for n := 1; n <= runs; n++ {
		protocol := protocols[n%len(protocols)]
		moment := time.Duration(random.Int64N(int64(span) * 11 / 10))
		what := fmt.Sprintf("seed %d, run %d ended after %s, %s", seed, n, moment, protocol)
		s := w.model(protocol, killScript(w, n))
		cmd := w.command("run", "-c", "work")
		mark := fmt.Sprintf("LATHE_KILL_MARK=%d-%d-%d", os.Getpid(), sig, n)
		cmd.Env = append(cmd.Env, mark)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(moment, func() { _ = cmd.Process.Signal(sig) })
		switch code := w.wait(cmd); {
		case code == -int(sig), code == 130 && sig == syscall.SIGINT: // the first: before it was listened for
			ended++
		case code != 0:
			t.Fatalf("%s: exit code %d\n%s", what, code, errs.String())
		}
		kill.Stop()
		accepted(t, s)
		noneLeft(t, what, mark)
		sound(t, what, w)

		s = w.model(protocol, llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("resumed")}}})
		if r := w.run("run", "-c", "go on"); r.code != 0 || r.stdout != "resumed\n" {
			t.Fatalf("%s: the next run: exit code %d, answer %q\n%s", what, r.code, r.stdout, r.stderr)
		}
		accepted(t, s)
	}
	if left := filesIn(t, temp); len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
	for _, name := range filesIn(t, w.home) {
		if strings.Contains(filepath.Base(name), "tmp") {
			t.Errorf("a temporary file is left: %s", name)
		}
	}
	t.Logf("%d of %d runs were ended", ended, runs)
	if ended == 0 {
		t.Error("every run was over before the signal came")
	}
}

// killScript is work of every kind: commands in the fore- and background, an
// edit, a long output and a streamed text.
func killScript(w *world, n int) llmtest.Script {
	file := filepath.Join(w.dir, "notes.txt")
	call := func(name, format string, args ...any) llmtest.Block {
		return llmtest.Call{Name: name, Args: fmt.Sprintf(format, args...)}
	}
	return llmtest.Script{
		{Blocks: []llmtest.Block{
			llmtest.Reasoning{Text: strings.Repeat("think hard ", 20)}, llmtest.Text("Reading and waiting."),
			call("read", `{"filePath":%q}`, file),
			call("bash", `{"command":"sleep 1000 & seq 1 5000; sleep 0.02","description":"count"}`),
		}},
		{Blocks: []llmtest.Block{
			call("write", `{"filePath":%q,"content":"kill %d\n"}`, file, n),
			call("bash", `{"command":"echo %d >> log; sleep 0.02","description":"log"}`, n),
		}},
		{Blocks: []llmtest.Block{llmtest.Text(strings.Repeat("many words stream by ", 100))}},
	}
}

// noneLeft waits until no process has the mark in its environment.
func noneLeft(t *testing.T, what, mark string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		pids := marked(t, mark)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: processes are left: %q", what, pids)
		}
		time.Sleep(2 * time.Millisecond) // strangers cannot be waited for
	}
}

func marked(t *testing.T, mark string) []string {
	t.Helper()
	envs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range envs {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(mark+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			out = append(out, filepath.Base(filepath.Dir(path))+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// sound checks the database with SQLite's own means.
func sound(t *testing.T, what string, w *world) {
	t.Helper()
	found := databases(t, w)
	if len(found) != 1 {
		t.Fatalf("databases %q", found)
	}
	db, err := sql.Open("sqlite", found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, check := range []string{"PRAGMA integrity_check", "SELECT coalesce(group_concat(\"table\"), 'ok') FROM pragma_foreign_key_check"} {
		var answer string
		if err := db.QueryRow(check).Scan(&answer); err != nil || answer != "ok" {
			t.Fatalf("%s: %s: %q, %v", what, check, answer, err)
		}
	}
}

func databases(t *testing.T, w *world) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.home, "data", "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
