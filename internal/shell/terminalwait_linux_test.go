package shell

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A command that waits for keys on a terminal of its own ends soon, with the reason;
// one that only takes its time does not.
func TestWaitingForATerminal(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3, which makes the terminals of this test")
	}
	spawn := python + ` -c 'import pty,sys; pty.spawn(sys.argv[1:])' `
	tests := []struct {
		name, script string
		want         string // in Waiting
	}{
		{"reads a terminal", spawn + "cat", "cat waits for keys"},
		{"reads a terminal behind a pipe", spawn + "sh -c 'cat >/dev/null' | cat", "cat waits for keys"},
		{"stopped itself", "kill -STOP $$", "stopped itself"},
		{"takes its time", "sleep 0.6", ""},
		{"takes its time with a terminal", spawn + "sleep 0.6", ""},
		{"waits for what comes later", "(sleep 0.6; echo x) | cat", ""},
		{"is typed to by a program", python + ` -c '
import os, pty, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp("head", ["head", "-1"])
time.sleep(0.6)
os.write(fd, b"typed\n")
os.waitpid(pid, 0)'`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := New(Options{Patience: 50 * time.Millisecond})
			defer r.Close()
			exit, err := r.Run(t.Context(), Command{Script: tt.script, Dir: t.TempDir(), Shell: "/bin/bash", Env: os.Environ(), Timeout: time.Minute})
			if err != nil || exit.TimedOut {
				t.Fatalf("%+v, %v", exit, err)
			}
			if (tt.want == "") != (exit.Waiting == "") || !strings.Contains(exit.Waiting, tt.want) {
				t.Errorf("waiting %q, want %q", exit.Waiting, tt.want)
			}
		})
	}
}
