//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// show is a running screen.
type show struct {
	cmd   *exec.Cmd
	term  *os.File
	begun time.Time

	mu    sync.Mutex
	bytes int
	tail  []byte
	done  chan struct{}
}

func (p place) show(args ...string) (*show, error) {
	s := &show{cmd: exec.Command(p.program, args...), begun: time.Now(), done: make(chan struct{})}
	s.cmd.Dir = p.work
	s.cmd.Env = append(os.Environ(), "LATHE_HOME="+p.home, "LATHE_DISABLE_MODELS_FETCH=1", "TERM=xterm-256color", "COLORTERM=truecolor", "TMUX=", "LANG=C.UTF-8")
	var err error
	if s.term, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		return nil, err
	}
	go s.read() // ends with the terminal
	return s, nil
}

func (s *show) read() {
	defer close(s.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.term.Read(buf)
		s.mu.Lock()
		s.bytes += n
		s.tail = append(s.tail, buf[:n]...)
		if over := len(s.tail) - 256<<10; over > 0 {
			s.tail = s.tail[over:]
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// mark forgets what was written and returns how much that was in all.
func (s *show) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = nil
	return s.bytes
}

func (s *show) wait(words string) error {
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		found := bytes.Contains(s.tail, []byte(words))
		s.mu.Unlock()
		if found {
			return nil
		}
	}
	return fmt.Errorf("the screen never shows %q", words)
}

func (s *show) leave() error {
	if _, err := s.term.WriteString("\x18q"); err != nil {
		return err
	}
	err := s.cmd.Wait()
	<-s.done
	return errors.Join(err, s.term.Close())
}

// switches returns how often threads of the process gave up a processor.
func (s *show) switches() (n int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", s.cmd.Process.Pid))
	for _, f := range files {
		n += field(f, "voluntary_ctxt_switches:") + field(f, "nonvoluntary_ctxt_switches:")
	}
	return n
}

func (s *show) memory() int {
	return field(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmRSS:") / 1024
}

func field(file, name string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// cpu returns the processor time of the process, in clock ticks of 10 ms.
func (s *show) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

const idleFor = 10 * time.Second

// idle measures a screen on which nothing happens.
func idle(p place, _ *model) error {
	s, err := p.show()
	if err != nil {
		return err
	}
	if err := s.wait("ask anything"); err != nil {
		return err
	}
	fmt.Printf("start to the first frame     %v\n", time.Since(s.begun).Round(time.Millisecond))
	time.Sleep(5 * time.Second)
	fmt.Printf("memory of an empty screen    %d MB\n", s.memory())
	before, used := s.switches(), s.cpu()
	time.Sleep(idleFor)
	fmt.Printf("wakeups in %v idle          %d, %v of CPU\n", idleFor, s.switches()-before, s.cpu()-used)
	return s.leave()
}

// spinner measures a turn that waits for its model.
func spinner(p place, m *model) error {
	m.set(1, 0, true)
	s, err := p.show()
	if err != nil {
		return err
	}
	if err := s.wait("ask anything"); err != nil {
		return err
	}
	s.term.WriteString("go\r")
	if err := s.wait("working"); err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	const watched = 30 * time.Second
	used, bytes := s.cpu(), s.mark()
	time.Sleep(watched)
	fmt.Printf("spinner                      %.2f %% of a core, %d bytes a second\n", 100*(s.cpu()-used).Seconds()/watched.Seconds(), (s.mark()-bytes)/30)
	s.term.WriteString("\x1b")
	time.Sleep(200 * time.Millisecond)
	s.term.WriteString("\x1b")
	if err := s.wait("stopped"); err != nil {
		return err
	}
	return s.leave()
}

// inline streams into the terminal's scrollback.
func inline(p place, m *model) error {
	const rate = 1000
	m.set(5*rate, 10*time.Second/rate, false)
	s, err := p.show("--inline")
	if err != nil {
		return err
	}
	if err := s.wait("ask anything"); err != nil {
		return err
	}
	s.term.WriteString("go\r")
	if err := s.wait("word"); err != nil {
		return err
	}
	begun, bytes, used := time.Now(), s.mark(), s.cpu()
	if err := s.wait("ask anything"); err != nil {
		return err
	}
	fmt.Printf("%6d tokens, --inline       %.1f bytes a token, %.0f %% of a core\n", rate, float64(s.mark()-bytes)/(5*rate), 100*(s.cpu()-used).Seconds()/time.Since(begun).Seconds())
	return s.leave()
}

// flood types while 10,000 tokens a second arrive.
func flood(p place, m *model) error {
	for _, rate := range []int{100, 1000, 10_000} {
		tokens := 5 * rate
		m.set(tokens, 10*time.Second/time.Duration(rate), false)
		s, err := p.show()
		if err != nil {
			return err
		}
		if err := s.wait("ask anything"); err != nil {
			return err
		}
		s.term.WriteString("go\r")
		if err := s.wait("word"); err != nil {
			return err
		}
		begun, bytes, used := time.Now(), s.mark(), s.cpu()
		typed := ""
		if rate == 10_000 {
			typed = s.typing()
		}
		if err := s.wait("ask anything"); err != nil && typed == "" {
			return err
		}
		took := time.Since(begun)
		if typed == "" {
			fmt.Printf("%6d tokens a second       %.1f bytes a token, %.0f %% of a core\n", rate, float64(s.mark()-bytes)/float64(tokens), 100*(s.cpu()-used).Seconds()/took.Seconds())
		}
		if typed != "" {
			fmt.Printf("%6d tokens a second       %.1f bytes a token while %d keys are typed\n", rate, float64(s.mark()-bytes)/float64(tokens), len(typed))
			m.set(1, 0, false)
			s.term.WriteString("\r")
			for until := time.Now().Add(20 * time.Second); !m.asked(typed); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(until) {
					return errors.New("a keystroke was lost")
				}
			}
			fmt.Printf("keystrokes lost              0 of %d; memory after it %d MB\n", len(typed), s.memory())
		}
		if err := s.leave(); err != nil {
			return err
		}
	}
	return nil
}

// typing types for as long as the stream flows and returns what was typed.
func (s *show) typing() string {
	var b strings.Builder
	for i := range 400 {
		word := fmt.Sprintf("%03d ", i)
		b.WriteString(word)
		s.term.WriteString(word)
		time.Sleep(15 * time.Millisecond)
	}
	return strings.TrimSpace(b.String())
}

// large opens a session of 10,000 messages and scrolls through it.
func large(p place, _ *model) error {
	const id = "ses_large00000000000000000000"
	if err := p.fill(context.Background(), id, 10_000); err != nil {
		return err
	}
	var best time.Duration
	for range 5 {
		s, err := p.show("-s", id)
		if err != nil {
			return err
		}
		if err := s.wait("9999"); err != nil {
			return err
		}
		if took := time.Since(s.begun); best == 0 || took < best {
			best = took
		}
		if err := s.leave(); err != nil {
			return err
		}
	}
	fmt.Printf("10,000 messages opened in    %v, from the start of the program\n", best.Round(time.Millisecond))
	s, err := p.show("-s", id)
	if err != nil {
		return err
	}
	if err := s.wait("9999"); err != nil {
		return err
	}
	used, begun := s.cpu(), time.Now()
	const pages = 200
	for range pages {
		s.term.WriteString("\x1b[5~")
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Printf("scrolling                    %.1f ms of CPU a page, %v for %d pages\n", float64((s.cpu()-used).Milliseconds())/pages, time.Since(begun).Round(10*time.Millisecond), pages)
	fmt.Printf("memory after it              %d MB\n", s.memory())
	return s.leave()
}
