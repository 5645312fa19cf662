//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"lathe/internal/cli/console"
	"lathe/internal/workspace"
)

// seen collects what a terminal was sent.
type seen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *seen) waitFor(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		text := s.buf.String()
		s.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the terminal never shows %q; it shows %q", want, text)
		}
	}
}

// TestScreenOnATerminal opens the real program on a real terminal, asks a
// scripted model, puts a text aside and leaves. In the next run, and on a server,
// both are found again.
func TestScreenOnATerminal(t *testing.T) {
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.txt"), []byte("text It is forty-two.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"TERM=xterm-256color", "LATHE_HOME=" + filepath.Join(dir, "home"), "LATHE_DISABLE_MODELS_FETCH=1", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	getenv := func(name string) string {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
	aside := func(s *seen, term *os.File) {
		io.WriteString(term, "and then what\x13")
		s.waitFor(t, "takes it back")
	}
	takeBack := func(s *seen, term *os.File) {
		s.waitFor(t, "forty-two.")
		io.WriteString(term, "\x13")
		s.waitFor(t, "then what")
	}
	server := start(t, dir, map[string]string{"HOME": dir, "LATHE_HOME": filepath.Join(dir, "home")}, "--port", "0").ready()
	for _, turn := range []struct {
		args []string
		play func(*seen, *os.File)
		last string
	}{
		{[]string{"-m", "script/model.txt"}, func(s *seen, term *os.File) {
			s.waitFor(t, "ask anything")
			io.WriteString(term, "what is it?\r")
			s.waitFor(t, "forty-two.")
			aside(s, term)
		}, "continue with: lathe -s ses_"},
		{[]string{"tui", "-c"}, func(s *seen, term *os.File) {
			takeBack(s, term)
			io.WriteString(term, "\x13")
			s.waitFor(t, "takes it back")
		}, "continue with: lathe -s ses_"},
		{[]string{"attach", server.url, "-c"}, func(s *seen, term *os.File) {
			takeBack(s, term)
			io.WriteString(term, "\x03") // a text that was not sent keeps the screen open
		}, "continue with: lathe attach " + server.url + " -s ses_"},
	} {
		person, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
			t.Fatal(err)
		}
		var out, stderr seen
		go io.Copy(&out, person) // ends when both sides are closed
		code := make(chan int, 1)
		go func() {
			code <- Main(console.Env{
				Args: turn.args, Stdin: tty, Stdout: tty, Stderr: &stderr, Dir: dir, Getenv: getenv, Environ: environ, Now: time.Now,
				StdinTTY: true, StdoutTTY: true, Width: 80, Exit: os.Exit,
			})
		}()
		t.Cleanup(func() {
			if t.Failed() {
				t.Log(stderr.buf.String())
			}
		})
		turn.play(&out, person)
		io.WriteString(person, "\x18q")
		if got := <-code; got != console.ExitDone {
			t.Errorf("%v: exit code %d: %s", turn.args, got, stderr.buf.String())
		}
		out.waitFor(t, "\x1b[?1049l")
		stderr.waitFor(t, turn.last)
		tty.Close()
		person.Close()
	}
	server.stop()
}
