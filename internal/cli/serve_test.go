package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/cli/console"
)

// serving is a running lathe serve.
type serving struct {
	t       *testing.T
	url     string
	lines   chan string // of its standard output
	signals chan os.Signal
	code    chan int
	stderr  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// testLimit is how long a test may take: one that waits for ever tells where.
const testLimit = 3 * time.Minute

func limited(t *testing.T) {
	over := time.AfterFunc(testLimit, func() { panic(t.Name() + " waits for ever") })
	t.Cleanup(func() { over.Stop() })
}

// start runs lathe serve in a new home; vars are environment variables.
func start(t *testing.T, dir string, vars map[string]string, args ...string) *serving {
	t.Helper()
	limited(t)
	home := t.TempDir()
	env := map[string]string{"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe"), "PATH": os.Getenv("PATH"), "LATHE_DISABLE_MODELS_FETCH": "1"}
	for k, v := range vars {
		env[k] = v
	}
	if conf := env["USER_CONFIG"]; conf != "" {
		place := filepath.Join(home, "lathe", "config")
		if err := os.MkdirAll(place, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(place, "lathe.json"), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &serving{t: t, lines: make(chan string, 16), signals: make(chan os.Signal, 3), code: make(chan int, 1), stderr: &lockedBuffer{}}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Stderr = dir, s.stderr
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Env = append(cmd.Env, serveChild+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	go s.signalTo(cmd.Process, ended)
	go func() {
		defer close(ended)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			s.lines <- sc.Text()
		}
		close(s.lines)
		_ = cmd.Wait()
		s.code <- cmd.ProcessState.ExitCode()
	}()
	return s
}

// serveChild is the variable that makes the test program lathe serve: a server in
// the test's own process would take the test's requests for those of its tools.
const serveChild = "LATHE_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveChild) == "" {
		os.Exit(m.Run())
	}
	_ = os.Unsetenv(serveChild)
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt)
	os.Exit(Main(console.Env{
		Args: append([]string{"serve"}, os.Args[1:]...), Stdout: os.Stdout, Stderr: os.Stderr, Dir: dir, Now: time.Now,
		Getenv: os.Getenv, Environ: os.Environ(), Signals: signals, Exit: os.Exit,
	}))
}

// signalTo passes signals on until the server ended.
func (s *serving) signalTo(p *os.Process, ended <-chan struct{}) {
	for {
		select {
		case sig := <-s.signals:
			_ = p.Signal(sig)
		case <-ended:
			return
		}
	}
}

// ready waits until the server listens.
func (s *serving) ready() *serving {
	s.t.Helper()
	for line := range s.lines {
		if url, ok := strings.CutPrefix(line, "opencode server listening on "); ok {
			s.url = url
			return s
		}
	}
	s.t.Fatalf("it does not serve: %s", s.stderr)
	return s
}

// end waits for the exit code.
func (s *serving) end() int {
	s.t.Helper()
	select {
	case code := <-s.code:
		return code
	case <-time.After(time.Minute):
		s.t.Fatalf("it does not end: %s", s.stderr)
		return 0
	}
}

func (s *serving) stop() {
	s.t.Helper()
	s.signals <- os.Interrupt
	if code := s.end(); code != console.ExitDone {
		s.t.Errorf("exit code %d: %s", code, s.stderr)
	}
}

func (s *serving) do(method, path, body string, header ...string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// What no flag says comes from the person's configuration, not from a repository
// that is not trusted; a flag wins.
func TestServeSettings(t *testing.T) {
	conf := `{"server":{"cors":["https://mine.example"],"hostname":"localhost"}}`
	allowed := func(s *serving, origin string) bool {
		status, _ := s.do("GET", "/global/health", "", "Origin", origin)
		return status == 200
	}
	repo := t.TempDir()
	if err := os.WriteFile(filepath.Join(repo, "opencode.json"), []byte(`{"server":{"hostname":"0.0.0.0","mdns":true,"cors":["https://evil.example"]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, repo, map[string]string{"USER_CONFIG": conf}, "--port", "0", "--cors", "https://flag.example").ready()
	if !strings.HasPrefix(s.url, "http://127.0.0.1:") && !strings.HasPrefix(s.url, "http://[::1]:") {
		t.Errorf("it listens on %s", s.url)
	}
	if !allowed(s, "https://mine.example") || !allowed(s, "https://flag.example") || allowed(s, "https://evil.example") {
		t.Error("the origins of the configuration and the flag may call, those of the repository may not")
	}
	s.stop()
	trusted := start(t, repo, map[string]string{"LATHE_TRUST": "1"}, "--port", "0")
	if code := trusted.end(); code == console.ExitDone || !strings.Contains(trusted.stderr.String(), "without a password") {
		t.Errorf("a trusted repository opens the server without a password: %d %s", code, trusted.stderr)
	}
}

func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil { // whatever the umask
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--hostname", "0.0.0.0"}, console.ExitUsage, "LATHE_SERVER_PASSWORD"},
		{[]string{"--mdns"}, console.ExitUsage, "without a password"},
		{[]string{"--port", "70000"}, console.ExitUsage, "not a port"},
		{[]string{"--drain", "-1s"}, console.ExitUsage, "below zero"},
		{[]string{"--cors", "*"}, console.ExitUsage, "https://example.com"},
		{[]string{"--mdns-domain", "example.com"}, console.ExitUsage, "opencode.local"},
		{[]string{"--password-file", file("open", "x", 0o644)}, console.ExitUsage, "chmod 600"},
		{[]string{"--password-file", file("empty", "\n", 0o600)}, console.ExitUsage, "is empty"},
		{[]string{"--password-file", file("large", strings.Repeat("x", 5000), 0o600)}, console.ExitUsage, "larger"},
		{[]string{"--password-file", filepath.Join(dir, "none")}, console.ExitUsage, "no such file"},
		{[]string{"--password-file", dir}, console.ExitUsage, "is no file"},
	} {
		s := start(t, dir, nil, append([]string{"--port", "0"}, tt.args...)...)
		if len(tt.args) == 2 && tt.args[0] == "--port" {
			s = start(t, dir, nil, tt.args...)
		}
		if code := s.end(); code != tt.code || !strings.Contains(s.stderr.String(), tt.want) {
			t.Errorf("%v: %d %s", tt.args, code, s.stderr)
		}
	}
}

// A password file protects the server, its socket too: what tools run has the same
// owner. The socket is gone afterwards, and the service manager was told.
func TestServePasswordSocketAndNotices(t *testing.T) {
	dir := t.TempDir()
	secret, sock := filepath.Join(dir, "secret"), filepath.Join(dir, "s")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	told := func() string {
		buf := make([]byte, 100)
		_ = manager.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := manager.Read(buf)
		return fmt.Sprint(string(buf[:n]), err)
	}
	s := start(t, dir, map[string]string{"NOTIFY_SOCKET": filepath.Join(dir, "notify")}, "--port", "0", "--password-file", secret, "--socket", sock).ready()
	if got := told(); got != "READY=1<nil>" {
		t.Errorf("told %q", got)
	}
	if status, _ := s.do("GET", "/path", ""); status != 401 {
		t.Errorf("without the password: %d", status)
	}
	if status, _ := s.do("GET", "/path", "", "Authorization", "Basic b3BlbmNvZGU6aHVudGVyMg=="); status != 200 {
		t.Errorf("with the password: %d", status)
	}
	c, err := net.Dial("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /path HTTP/1.0\r\n\r\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "401") {
		t.Errorf("over the socket without the password: %s %v", line, err)
	}
	c.Close()
	s.stop()
	if got := told(); got != "STOPPING=1<nil>" {
		t.Errorf("told %q", got)
	}
	if _, err := os.Lstat(sock); err == nil {
		t.Error("the socket is left behind")
	}
}

// With --drain a turn that runs may finish: here when its question is answered,
// which goes on working. A second interrupt aborts it.
func TestServeDrains(t *testing.T) {
	for _, abort := range []bool{false, true} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "ask.txt"), []byte("tool webfetch {\"url\":\"http://127.0.0.1:1/\",\"format\":\"text\"}\n---\ntext Finished.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		s := start(t, dir, map[string]string{"USER_CONFIG": `{"permission":{"webfetch":"ask"}}`}, "--port", "0", "--drain", "1h").ready()
		res, err := http.Get(s.url + "/event")
		if err != nil {
			t.Fatal(err)
		}
		events := bufio.NewScanner(res.Body)
		until := func(kind string) map[string]any {
			for events.Scan() {
				var ev struct {
					Type       string
					Properties map[string]any
				}
				if data, ok := strings.CutPrefix(events.Text(), "data: "); ok && json.Unmarshal([]byte(data), &ev) == nil && ev.Type == kind {
					return ev.Properties
				}
			}
			t.Fatalf("no %s: %v %s", kind, events.Err(), s.stderr)
			return nil
		}
		until("server.connected")
		_, made := s.do("POST", "/session", "{}")
		var sess struct{ ID string }
		if err := json.Unmarshal([]byte(made), &sess); err != nil {
			t.Fatal(err)
		}
		if status, body := s.do("POST", "/session/"+sess.ID+"/prompt_async", `{"model":{"providerID":"script","modelID":"ask.txt"},"parts":[{"type":"text","text":"go"}]}`); status != 204 {
			t.Fatal(status, body)
		}
		ask := until("permission.asked")["id"].(string)
		s.signals <- os.Interrupt
		for !strings.Contains(s.stderr.String(), "1 session still running") { // answers meanwhile
			s.do("GET", "/global/health", "")
		}
		if status, _ := s.do("POST", "/session", "{}"); status != 503 {
			t.Errorf("a new session: %d", status)
		}
		if abort {
			s.signals <- os.Interrupt
		} else if status, body := s.do("POST", "/permission/"+ask+"/reply", `{"reply":"reject"}`); status != 200 {
			t.Errorf("reply: %d %s", status, body)
		}
		until("session.idle")
		until("server.instance.disposed")
		for events.Scan() {
			if events.Text() != "" {
				t.Errorf("after the end: %s", events.Text())
			}
		}
		res.Body.Close()
		if code := s.end(); code != console.ExitDone {
			t.Errorf("exit code %d: %s", code, s.stderr)
		}
		if got := strings.Contains(s.stderr.String(), "aborting 1 session"); got != abort {
			t.Errorf("it said %s", s.stderr)
		}
	}
}
