// Command serve measures a server under load: turns of many sessions at once, with
// many clients that follow the events of their directory. It starts lathe serve,
// plays a script in every session, and says what the server's process took.
//
//	go build -o /tmp/lathe ./cmd/lathe && go run ./bench/serve -lathe /tmp/lathe
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.lathe, "lathe", "lathe", "program to measure")
	flag.IntVar(&o.sessions, "sessions", 200, "sessions")
	flag.IntVar(&o.running, "running", 0, "turns at once; 0 for all sessions")
	flag.IntVar(&o.tools, "tools", 20, "tool calls of a turn")
	flag.IntVar(&o.streams, "streams", 1000, "clients that follow the events")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	lathe                             string
	sessions, running, tools, streams int
}

// target is the server that is measured.
type target struct {
	url, addr string
	pid       int
	client    http.Client
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "lathe-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var script strings.Builder
	for i := range o.tools {
		fmt.Fprintf(&script, "text step %d\ntool read {\"filePath\":\"a.txt\",\"limit\":%d}\n---\n", i, i+1)
	}
	script.WriteString("text The end.\n")
	for name, text := range map[string]string{"a.txt": "hello\nworld\n", "script.txt": script.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, o.lathe, "serve", "--port", "0")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "LATHE_HOME="+filepath.Join(dir, "home"), "LATHE_DISABLE_MODELS_FETCH=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
		_, _ = io.Copy(io.Discard, out)
		err = errors.Join(err, cmd.Wait())
	}()
	sc := bufio.NewScanner(out)
	if !sc.Scan() {
		return errors.New("the server does not start")
	}
	t := &target{pid: cmd.Process.Pid}
	t.url = strings.TrimPrefix(sc.Text(), "lathe server listening on ")
	t.addr = strings.TrimPrefix(t.url, "http://")
	t.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	return t.measure(o)
}

func (t *target) measure(o options) error {
	t.report("started")
	paths := make([]string, o.sessions)
	for i := range paths {
		var sess struct{ ID string }
		if err := t.post("/session", "{}", &sess); err != nil {
			return err
		}
		paths[i] = "/session/" + sess.ID
	}
	t.report(fmt.Sprintf("%d sessions made", o.sessions))
	var readers sync.WaitGroup
	all := make([]*follower, o.streams)
	for i := range all {
		f, err := t.follow()
		if err != nil {
			return err
		}
		all[i] = f
		readers.Go(f.read)
	}
	t.report(fmt.Sprintf("%d streams open", o.streams))
	before, start := t.cpu(), time.Now()
	if o.running == 0 {
		o.running = o.sessions
	}
	slots := make(chan struct{}, o.running)
	errs := make([]error, o.sessions)
	var wg sync.WaitGroup
	for i, p := range paths {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = t.post(p+"/message", `{"model":{"providerID":"script","modelID":"script.txt"},"parts":[{"type":"text","text":"go"}]}`, nil)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	took := time.Since(start)
	most, short := finish(all, &readers)
	fmt.Printf("%d turns of %d tools, %d at once: %.1f s, %.2f s of CPU, %.1f MB to each of %d streams\n",
		o.sessions, o.tools, o.running, took.Seconds(), (t.cpu() - before).Seconds(), float64(most)/(1<<20), o.streams)
	t.report("afterwards")
	if short > 0 {
		return fmt.Errorf("%d streams did not get all: their clients did not keep up", short)
	}
	return nil
}

func (t *target) post(path, body string, into any) error {
	res, err := t.client.Post(t.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("POST %s: %s: %s", path, res.Status, data)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	return err
}

// follower is a client that follows events and counts what it gets.
type follower struct {
	conn net.Conn
	n    atomic.Int64
	over atomic.Bool // the server closed it
}

// follow opens an event stream.
func (t *target) follow() (*follower, error) {
	c, err := net.Dial("tcp", t.addr)
	if err != nil {
		return nil, err
	}
	f := &follower{conn: c}
	if _, err := fmt.Fprintf(c, "GET /event HTTP/1.0\r\nHost: localhost\r\n\r\n"); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	in := bufio.NewReaderSize(c, 512)
	for line := ""; !strings.Contains(line, "server.connected"); {
		if line, err = in.ReadString('\n'); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return f, nil
}

// read reads until the connection is closed.
func (f *follower) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.conn.Read(buf)
		f.n.Add(int64(n))
		if err != nil {
			f.over.Store(err == io.EOF)
			return
		}
	}
}

// finish waits until nothing more comes, ends the streams and says how they fared.
func finish(all []*follower, wg *sync.WaitGroup) (most int64, short int) {
	for last := int64(-1); ; time.Sleep(time.Second) {
		sum := int64(0)
		for _, f := range all {
			sum += f.n.Load()
		}
		if sum == last {
			break
		}
		last = sum
	}
	for _, f := range all {
		_ = f.conn.Close()
		most = max(most, f.n.Load())
	}
	wg.Wait()
	for _, f := range all {
		if f.over.Load() || f.n.Load() < most*99/100 { // heartbeats differ
			short++
		}
	}
	return most, short
}

// cpu returns the CPU time of the server so far.
func (t *target) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.pid))
	if err != nil {
		return 0
	}
	var user, system int64
	rest := string(data[strings.LastIndexByte(string(data), ')')+1:])
	fields := strings.Fields(rest)
	_, _ = fmt.Sscan(fields[11], &user)
	_, _ = fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

func (t *target) report(when string) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.pid))
	if err != nil {
		return
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		name, value, _ := strings.Cut(line, ":")
		var kb int
		if _, err := fmt.Sscan(value, &kb); err != nil || name != "VmRSS" && name != "VmHWM" {
			continue
		}
		what := map[string]string{"VmRSS": "resident", "VmHWM": "at most"}[name]
		fmt.Printf("%-20s %s %d MB\n", when, what, kb>>10)
	}
}
