package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/store/postgres/pgtest"
)

// nginx starts it with what deploy/ has for it, in front of servers on the ports, and returns its
// address.
func nginx(t *testing.T, ports ...int) string {
	t.Helper()
	port, dir := freePort(t), t.TempDir()
	conf := deployed(t, "nginx.conf", "127.0.0.1:4096", fmt.Sprintf("127.0.0.1:%d", ports[0]), "127.0.0.1:4097", fmt.Sprintf("127.0.0.1:%d", ports[1]),
		"listen 8080", fmt.Sprintf("listen 127.0.0.1:%d", port), "lathe.example.com", "localhost")
	temporary := "access_log off;"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf(" %s_temp_path %s/%s;", kind, dir, kind)
	}
	whole := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s/pid;\nerror_log %s/log;\nevents {}\nhttp { %s\n%s}\n", dir, dir, temporary, conf)
	return balances(t, port, dir, whole, "nginx", "-e", filepath.Join(dir, "log"), "-c", filepath.Join(dir, "conf"))
}

// caddy is [nginx] for Caddy.
func caddy(t *testing.T, ports ...int) string {
	t.Helper()
	port, dir := freePort(t), t.TempDir()
	conf := deployed(t, "Caddyfile", "Host {$LATHE_HOST:lathe.example.com}", "Host localhost", "{$LATHE_HOST:lathe.example.com}", fmt.Sprintf("http://localhost:%d", port),
		"{$LATHE_UPSTREAM:127.0.0.1:4096}", fmt.Sprintf("127.0.0.1:%d 127.0.0.1:%d", ports[0], ports[1]))
	whole := fmt.Sprintf("{\nadmin off\ndefault_bind 127.0.0.1\nlog {\noutput file %s/log\n}\n}\n%s", dir, conf)
	return balances(t, port, dir, whole, "caddy", "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "conf"))
}

// deployed is a file of deploy/ with some words replaced. It sends each request to any server.
func deployed(t *testing.T, name string, words ...string) string {
	t.Helper()
	text, err := os.ReadFile("../deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "least_conn") {
		t.Fatalf("it asks for more than any server:\n%s", text)
	}
	return strings.NewReplacer(words...).Replace(string(text))
}

// balances starts a program on a port with a configuration, and returns its address.
func balances(t *testing.T, port int, dir, conf string, args ...string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		_ = said.Close()
		for _, name := range []string{"said", "log"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && t.Failed() {
				t.Logf("%s says:\n%s", args[0], text)
			}
		}
	})
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return fmt.Sprintf("http://localhost:%d", port)
		}
		if time.Now().After(late) {
			t.Fatalf("%s does not listen", args[0])
		}
	}
}

// messages are those that the page has, drawn or not.
func messages(ctx context.Context, t *testing.T) []string {
	t.Helper()
	all, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".message")].map((m) => m.textContent.replace(/\d+([.,]\d+)? ?m?s\b/g, "").trim())`))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestServersBehindNginx is [behind] nginx.
func TestServersBehindNginx(t *testing.T) { behind(t, "nginx", nginx) }

// TestServersBehindCaddy is [behind] Caddy.
func TestServersBehindCaddy(t *testing.T) { behind(t, "caddy", caddy) }

// behind has a page of two servers on one database behind a proxy, which sends each request to any
// of them. Whichever is killed, the page goes on by itself: nobody is asked for the password
// again, and nothing is missed or shown twice.
func behind(t *testing.T, proxy string, balancer func(t *testing.T, ports ...int) string) {
	if _, err := exec.LookPath(proxy); err != nil || !pgtest.Available() {
		t.Skipf("%s or PostgreSQL is not installed here", proxy)
	}
	a := newSiteWith(t, "text Answer one.\n---\ntext Answer two.\n---\ntext Answer three.\n---\ntool bash {\"command\":\"echo it has begun; sleep 1000\",\"description\":\"wait\"}\n---\ntext Answer five.\n", `{"model":"script/answers.txt"}`)
	a.stop()
	lathe, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	a.store, a.port = pgtest.Schema(t), freePort(t)
	b := *a
	b.home, b.port = t.TempDir(), freePort(t)
	for _, name := range []string{".config/lathe/lathe.json", "password"} {
		text, err := os.ReadFile(filepath.Join(a.home, name))
		if err != nil {
			t.Fatal(err)
		}
		b.write(filepath.Join(b.home, name), string(text))
	}
	a.serve(lathe)
	b.serve(lathe)
	direct := a.url
	a.url = balancer(t, a.port, b.port)

	ctx := a.browser(1000, 800)
	goesOn := func(prompt, answer string) {
		t.Helper()
		a.do(ctx, say(prompt), shows(answer), hides("Working…"), hides("The connection is lost"))
	}
	a.do(ctx, a.login(), press("New session"))
	goesOn("one", "Answer one.")
	a.kill()
	goesOn("two", "Answer two.")
	behind := a.url
	a.serve(lathe)
	a.url = behind
	b.kill()
	goesOn("three", "Answer three.")
	b.serve(lathe)

	// A prompt whose server is known, which is killed while it works on it.
	where, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(where, "#/s/")
	req, err := http.NewRequestWithContext(t.Context(), "POST", direct+"/session/"+id+"/prompt_async", strings.NewReader(`{"parts":[{"type":"text","text":"four"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("opencode", password)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%v, %v", res, err)
	}
	_ = res.Body.Close()
	a.do(ctx, shows("it has begun"))
	a.kill()
	a.do(ctx, hides("The connection is lost"), hides("Working…"), shows("interrupted"))
	goesOn("five", "Answer five.")

	before := messages(ctx, t)
	text := strings.Join(before, "\n")
	for _, once := range []string{"Answer one.", "Answer two.", "Answer three.", "it has begun", "Answer five."} {
		if n := strings.Count(text, once); n != 1 {
			t.Errorf("%q is shown %d times", once, n)
		}
	}
	a.do(ctx, chromedp.Reload(), shows("Answer five."), until(fmt.Sprintf(`document.querySelectorAll(".message").length >= %d`, len(before))))
	if diff := cmp.Diff(messages(ctx, t), before); diff != "" {
		t.Errorf("loaded anew (-), as it happened (+):\n%s", diff)
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}
