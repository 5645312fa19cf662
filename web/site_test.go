package web_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lathe/internal/lsp/lsptest"
	"lathe/internal/mcp/mcptest"
)

// The tests of this package drive a real browser against a real server. LATHE_CHROMIUM
// names the browser; .ci/web sets it.
var chromium = os.Getenv("LATHE_CHROMIUM")

const password = "open sesame"

// binary builds lathe once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lathe-web-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "lathe")
	out, err := exec.Command("go", "build", "-o", name, "lathe/cmd/lathe").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

// TestMain is also the language server and the MCP server that tests configure.
func TestMain(m *testing.M) {
	if how := os.Getenv("LSP_FAKE"); how != "" {
		lsptest.Serve(how)
		return
	}
	if kind := os.Getenv("MCP_TEST_SERVER"); kind != "" {
		mcptest.Serve(kind)
		return
	}
	code := m.Run()
	if chromium != "" {
		if name, err := binary(); err == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
	}
	os.Exit(code)
}

// site is a server with a project in which a scripted model answers.
type site struct {
	t        testing.TB
	url, dir string
	home     string
	port     int    // where it listens; 0: anywhere
	store    string // address of the database; "": files
	stop     func() // ends the server
	kill     func() // ends it as a power cut would
	problems *problems
}

// problems are what the browser complained about.
type problems struct {
	mu   sync.Mutex
	list []string
}

func (p *problems) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, text)
}

func (p *problems) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list = nil
	return list
}

func newSite(t testing.TB, script string) *site {
	t.Helper()
	return newSiteWith(t, script, `{"model":"script/answers.txt","permission":{"edit":"ask","bash":"ask"}}`)
}

// newSiteWith has a configuration of its own.
func newSiteWith(t testing.TB, script, config string) *site {
	t.Helper()
	if chromium == "" {
		t.Skip("LATHE_CHROMIUM names no browser; .ci/web does")
	}
	lathe, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: filepath.Join(t.TempDir(), "shop"), home: t.TempDir(), problems: &problems{}}
	s.write(filepath.Join(s.dir, "main.go"), "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n")
	s.write(filepath.Join(s.dir, "answers.txt"), script)
	s.write(filepath.Join(s.home, ".config/lathe/lathe.json"), config)
	s.write(filepath.Join(s.home, "password"), password)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.email=a@example.org", "-c", "user.name=a", "commit", "-qm", "begin"}} {
		if out, err := exec.Command("git", append([]string{"-C", s.dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	s.serve(lathe)
	return s
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) serve(lathe string) {
	s.t.Helper()
	args := []string{"serve", "--port", strconv.Itoa(s.port), "--password-file", filepath.Join(s.home, "password")}
	if s.store != "" {
		args = append(args, "--store", s.store)
	}
	cmd := exec.Command(lathe, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := sync.OnceValue(cmd.Wait)
	end := func(with os.Signal) func() {
		return func() {
			_ = cmd.Process.Signal(with) // it may have ended
			_ = ended()
		}
	}
	s.stop, s.kill = end(os.Interrupt), end(os.Kill)
	s.t.Cleanup(s.stop)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			s.url = strings.Replace(url, "127.0.0.1", "localhost", 1)
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	s.t.Fatal("the server did not say where it listens")
}

// browser starts a browser of its own, with one tab.
func (s *site) browser(width, height int) context.Context {
	s.t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(width, height), chromedp.Flag("lang", "en"),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("js-flags", "--expose-gc"), chromedp.UserDataDir(s.t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(s.t.Context(), options...)
	s.t.Cleanup(cancel)
	return s.tab(ctx)
}

func (s *site) tab(ctx context.Context) context.Context {
	s.t.Helper()
	ctx, cancel := chromedp.NewContext(ctx)
	s.t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	s.t.Cleanup(stop)
	s.do(ctx, chromedp.Navigate("about:blank"))
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" && m.Source != "network" { // a refused call is told of by the page itself
				s.problems.add(m.String())
			}
		}
	}()
	return ctx
}

type step = chromedp.Action[chromedp.Void]

// do takes steps; where one fails the test ends with what the page shows.
func (s *site) do(ctx context.Context, steps ...step) {
	s.t.Helper()
	for n, a := range steps {
		_, err := chromedp.Run(ctx, a)
		if err == nil {
			continue
		}
		_, _ = chromedp.Run(ctx, picture("failed"))
		text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText + "\nis written: " + [...document.querySelectorAll("textarea")].map((t) => t.value)`))
		s.t.Fatalf("step %d: %v\nthe page shows:\n%s\nproblems: %q", n+1, err, text, s.problems.take())
	}
}

// until waits for an expression to be true, however long the machine takes for it.
func until(expression string) step { return untilOr(expression, false) }

// untilOr is until for an expression that may lead to another page, if leads is set: it has become
// true then. Otherwise a page that changes meanwhile is asked again.
func untilOr(expression string, leads bool) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		ctx, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		for {
			ok, err := chromedp.Evaluate[bool]("Boolean("+expression+")")(ctx, t)
			left := err != nil && strings.Contains(err.Error(), "navigated or closed")
			switch {
			case left && leads:
				return nil
			case ok || err != nil && !left:
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("it never became true: %s", expression)
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
}

// shows waits until the page shows a text, hides until it does not.
func shows(text string) step { return until(fmt.Sprintf(`document.body.innerText.includes(%q)`, text)) }
func hides(text string) step {
	return until(fmt.Sprintf(`!document.body.innerText.includes(%q)`, text))
}

// press clicks the first button or link with a text, once there is one.
func press(text string) step {
	return untilOr(fmt.Sprintf(`(() => {
		const all = [...document.querySelectorAll("button, a")].filter((b) => !b.disabled);
		const b = all.find((b) => b.innerText.trim() === %[1]q) ?? all.find((b) => b.innerText.includes(%[1]q));
		b?.click();
		return b;
	})()`, text), true)
}

func (s *site) login() step {
	return chromedp.Steps(chromedp.Navigate(s.url), chromedp.WaitVisible(`input[type=password]`),
		chromedp.SendKeys(`input[type=password]`, password+"\r"), shows("New session"))
}

func say(text string) step {
	return chromedp.Steps(chromedp.WaitVisible(`.composer textarea`), chromedp.SendKeys(`.composer textarea`, text+"\r"))
}

// picture keeps a screenshot where LATHE_PICTURES says.
func picture(name string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		dir := os.Getenv("LATHE_PICTURES")
		if dir == "" {
			return nil
		}
		png, err := chromedp.CaptureScreenshot()(ctx, t)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	})
}
