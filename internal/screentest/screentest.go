// Package screentest runs a program on a terminal of its own for tests: it waits for what
// the program draws, and types.
package screentest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// stuck is how long a test waits for what has to come.
const stuck = 2 * time.Minute

// Screen is a program on a terminal. One goroutine uses it.
type Screen struct {
	t    testing.TB
	name string
	tty  *os.File

	mu    sync.Mutex
	shown []byte
	seen  int // up to where it was looked at
	more  chan struct{}
}

// Open starts a program on a terminal of so many rows and columns, and ends it with the
// test. Failures call the screen by its name.
func Open(t testing.TB, name string, cmd *exec.Cmd, rows, cols uint16) *Screen {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: cols})
	if err != nil {
		t.Fatal(err)
	}
	s := &Screen{t: t, name: name, tty: tty, more: make(chan struct{}, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		<-read
	})
	return s
}

// read keeps what is drawn until the terminal closes.
func (s *Screen) read() {
	for buf := make([]byte, 4096); ; {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.shown = append(s.shown, buf[:n]...)
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// Sees waits until a text was drawn since what was waited for before. The text has
// to be one word: what lies between words may be drawn apart.
func (s *Screen) Sees(word string) {
	s.t.Helper()
	s.wait(word, nil, "")
}

// Answers presses a key of an ask until a word is drawn: an ask takes no keys
// before it can be read, and none of somebody who is typing.
func (s *Screen) Answers(key, word string) {
	s.t.Helper()
	press := time.NewTicker(1500 * time.Millisecond)
	defer press.Stop()
	s.wait(word, press.C, key)
}

// Types types a text.
func (s *Screen) Types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits until a word is drawn, and presses the key with each tick until then.
func (s *Screen) wait(word string, press <-chan time.Time, key string) {
	s.t.Helper()
	late := time.NewTimer(stuck)
	defer late.Stop()
	for {
		text, found := s.look(word)
		if found {
			return
		}
		select {
		case <-s.more:
		case <-press:
			s.Types(key)
		case <-late.C:
			s.t.Fatalf("%s does not show %q (pressed: %q):\n%s", s.name, word, key, text)
		}
	}
}

// look returns what was drawn since the last look that found what it looked for, and
// whether the word is in it.
func (s *Screen) look(word string) (text string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = ansi.Strip(string(s.shown[s.seen:]))
	if found = strings.Contains(text, word); found {
		s.seen = len(s.shown)
	}
	return text, found
}
