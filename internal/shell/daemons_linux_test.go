package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// hop is a program of which each generation starts the next one and ends. It says
// that it goes on by a file; so that a test that fails leaves nothing behind, it ends
// after a while.
const hop = `python3 -c '
import os, time
end = time.time() + 60
n = 0
while time.time() < end:
    if os.fork(): os._exit(0)
    n += 1
    if n % 5 == 0: open("beat", "w").write(str(n))
'`

// hopping are ways to start it; the last one drops both marks.
var hopping = map[string]string{
	"marked":         hop + ` & until [ -s beat ]; do sleep 0.01; done`,
	"no environment": marked + `env -i PATH="$PATH" setsid ` + hop + ` >/dev/null 2>&1 & until [ -s beat ]; do sleep 0.01; done`,
	"no marks": marked + `(ulimit -R unlimited 2>/dev/null || ulimit -SR $(ulimit -HR); exec env -i PATH="$PATH" setsid ` + hop +
		`) & until [ -s beat ]; do sleep 0.01; done`,
}

// goesOn reports whether the program in a directory still hops.
func goesOn(t *testing.T, dir string) bool {
	t.Helper()
	beat := filepath.Join(dir, "beat")
	if err := os.Remove(beat); err != nil {
		t.Fatal(err)
	}
	for range 20 { // a generation takes about a millisecond
		time.Sleep(10 * time.Millisecond)
		if _, err := os.Stat(beat); err == nil {
			return true
		}
	}
	return false
}

func needsPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
}

// A process that is never there for long is ended with its command all the same, and
// with its job.
func TestHopsDoNotSurvive(t *testing.T) {
	needsPython(t)
	r := New(Options{})
	for name, script := range hopping {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, exit := run(t, t.Context(), r, Command{Script: script, Dir: dir})
			if goesOn(t, dir) {
				t.Error("it survives the command")
			}
			if len(exit.Leftover) == 0 {
				t.Error("nothing is said about it")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			run(t, ctx, r, Command{Script: script + "; echo go; sleep 1000", Dir: dir, Output: func([]byte) { cancel() }})
			if goesOn(t, dir) {
				t.Error("it survives an abort")
			}
			l, out := begin(t, r, dir, script+"; echo go; sleep 1000", StartOptions{})
			out.await(t, "go\n")
			l.Stop(noGrace)
			if goesOn(t, dir) {
				t.Error("it survives its job")
			}
		})
	}
}

// The supervisor of a lathe that was killed ends it, too, by its marks.
func TestHopsDoNotSurviveLathe(t *testing.T) {
	needsPython(t)
	for _, name := range []string{"marked", "no environment"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), "SHELL_TEST_VICTIM="+dir, "SHELL_TEST_SCRIPT="+hopping[name])
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the command runs", func() bool { _, err := os.Stat(dir + "/ready"); return err == nil })
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			eventually(t, "it is gone", func() bool { return !goesOnSoon(dir) })
		})
	}
}

// goesOnSoon is goesOn where the file may be missing already.
func goesOnSoon(dir string) bool {
	_ = os.Remove(filepath.Join(dir, "beat"))
	time.Sleep(100 * time.Millisecond)
	_, err := os.Stat(filepath.Join(dir, "beat"))
	return err == nil
}

// A job that becomes a daemon in many steps is not taken for ended meanwhile.
func TestDaemonInTheMaking(t *testing.T) {
	needsPython(t)
	r := New(Options{})
	for range 2 {
		dir := t.TempDir()
		l, _ := begin(t, r, dir, `python3 -c '
import os, time
for n in range(100):
    if os.fork(): os._exit(0)
open("there", "w").close()
while not os.path.exists("go"): time.sleep(0.01)
'`, StartOptions{})
		eventually(t, "it is there, or was taken for ended", func() bool {
			_, err := os.Stat(dir + "/there")
			return err == nil || closed(l.Done())
		})
		if closed(l.Done()) || len(l.PIDs()) == 0 {
			t.Fatalf("processes %v", l.PIDs())
		}
		if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if exit := ended(t, l); exit.Aborted || exit.Code != 0 {
			t.Errorf("%+v", exit)
		}
	}
}
