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

// balancer starts nginx with what deploy/ has for it, in front of servers on the ports, and
// returns its address.
func balancer(t *testing.T, ports ...int) string {
	t.Helper()
	text, err := os.ReadFile("../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	port, dir := freePort(t), t.TempDir()
	conf := strings.NewReplacer("127.0.0.1:4096", fmt.Sprintf("127.0.0.1:%d", ports[0]), "127.0.0.1:4097", fmt.Sprintf("127.0.0.1:%d", ports[1]),
		"listen 8080", fmt.Sprintf("listen 127.0.0.1:%d", port), "lathe.example.com", "localhost").Replace(string(text))
	if !strings.Contains(conf, "least_conn") {
		t.Fatalf("it asks for more than any server:\n%s", conf)
	}
	name := filepath.Join(dir, "nginx.conf")
	temporary := "access_log off;"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf(" %s_temp_path %s/%s;", kind, dir, kind)
	}
	whole := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s/pid;\nerror_log %s/errors;\nevents {}\nhttp { %s\n%s}\n", dir, dir, temporary, conf)
	if err := os.WriteFile(name, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nginx", "-e", filepath.Join(dir, "errors"), "-c", name)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		if errors, err := os.ReadFile(filepath.Join(dir, "errors")); err == nil && t.Failed() {
			t.Logf("nginx says:\n%s", errors)
		}
	})
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return fmt.Sprintf("http://localhost:%d", port)
		}
		if time.Now().After(late) {
			t.Fatal("nginx does not listen")
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

// TestServersBehindNginx has a page of two servers on one database behind nginx, which sends each
// request to any of them. Whichever is killed, the page goes on by itself: nobody is asked for
// the password again, and nothing is missed or shown twice.
func TestServersBehindNginx(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil || !pgtest.Available() {
		t.Skip("nginx or PostgreSQL is not installed here")
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
