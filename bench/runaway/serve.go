//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// served is what a server took for an answer.
type served struct {
	name         string
	idle, peak   int64 // bytes
	after        int64 // once memory was given back, or giveBack had passed
	wall         time.Duration
	answer, sent int64 // bytes of the answer over HTTP and of all events
}

func (s served) String() string {
	return fmt.Sprintf("%-26s %4d MB idle, %4d MB at most, %4d MB after, %5.1f s, an answer of %d MB, events of %d MB",
		s.name, s.idle>>20, s.peak>>20, s.after>>20, s.wall.Seconds(), s.answer>>20, s.sent>>20)
}

// giveBack is how long a server has to give back what an answer took.
const giveBack = 20 * time.Second

// serve starts a server whose provider answers with a, waits for the answer over
// HTTP, and lets as many clients follow the events, which are sent whole parts.
func serve(program string, listeners int, a answer, environ ...string) (s served, err error) {
	p, err := newPlace(a, environ)
	if err != nil {
		return s, err
	}
	defer p.close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "serve", "--port", "0")
	cmd.Dir, cmd.Env = p.repo, append(p.env, "LATHE_TRUST=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	if err := cmd.Start(); err != nil {
		return s, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // an interrupt is how it ends
	}()
	url, err := address(out)
	if err != nil {
		return s, err
	}
	c := caller{ctx: ctx, url: url, pid: cmd.Process.Pid}
	s = served{name: fmt.Sprintf("%s, %d listen", a.name, listeners)}
	err = c.measure(&s, listeners)
	return s, err
}

// address reads where a server listens.
func address(out io.Reader) (string, error) {
	lines := bufio.NewScanner(out)
	where := regexp.MustCompile(`http://[\d.]+:\d+`)
	for lines.Scan() {
		if url := where.FindString(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
			return url, nil
		}
	}
	return "", errors.Join(errors.New("the server did not start"), lines.Err())
}

// caller is a client of a server.
type caller struct {
	ctx context.Context
	url string
	pid int
}

func (c caller) measure(s *served, listeners int) error {
	var heard atomic.Int64
	for range listeners {
		res, err := c.open("GET", "/event", "")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		go func() { _, _ = io.Copy(counter{&heard}, res.Body) }() // ends with the body
	}
	res, err := c.open("POST", "/session", "{}")
	if err != nil {
		return err
	}
	var session struct{ ID string }
	err = json.NewDecoder(res.Body).Decode(&session)
	_ = res.Body.Close()
	if err != nil {
		return err
	}
	if s.idle, err = c.memory("VmHWM"); err != nil {
		return err
	}
	began := time.Now()
	res, err = c.open("POST", "/session/"+session.ID+"/message", `{"model":{"providerID":"p","modelID":"m"},"parts":[{"type":"text","text":"go on"}]}`)
	if err != nil {
		return err
	}
	s.answer, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err != nil {
		return err
	}
	s.wall = time.Since(began)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for until := began.Add(s.wall + giveBack); err == nil && time.Now().Before(until); <-tick.C {
		s.sent = heard.Load()
		if s.after, err = c.memory("VmRSS"); s.after < s.idle+bound && s.sent >= int64(listeners)*s.answer {
			break
		}
	}
	if err != nil {
		return err
	}
	s.peak, err = c.memory("VmHWM")
	return err
}

func (c caller) open(method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(c.ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept-Encoding", "identity")
	res, err := http.DefaultClient.Do(req)
	if err == nil && res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		err = fmt.Errorf("%s %s: %s", method, path, res.Status)
	}
	return res, err
}

// memory reads what the kernel says of the server's memory.
func (c caller) memory(field string) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(data, []byte(field+":"))
	words := strings.Fields(string(rest))
	if len(words) == 0 {
		return 0, fmt.Errorf("no %s of process %d", field, c.pid)
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	return n << 10, err
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
