package web_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"lathe/internal/screentest"
)

// TestNotifications tells a person who looks elsewhere that something is asked and that a
// turn has ended; who looks at the page is not told.
func TestNotifications(t *testing.T) {
	s := newSite(t, greeting)
	ctx := s.browser(1000, 800)
	if _, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: "granted"}); err != nil {
		t.Fatal(err)
	}
	looks := func(where string) step {
		return until(`(Object.defineProperty(document, "visibilityState", {configurable: true, get: () => "` + where + `"}), true)`)
	}
	s.do(ctx, s.login(), until(`(() => {
		const Real = Notification;
		window.told = [];
		window.Notification = class extends Real { constructor(title, o) { super(title, o); window.told.push(o.body); } };
		return Real.permission === "granted";
	})()`), until(`(location.hash = "#/settings")`), shows("Tell me when"), until(`(() => {
		const box = [...document.querySelectorAll("main input[type=checkbox]")].find((b) => b.closest("label").innerText.includes("Tell me when"));
		if (!box.checked) box.click();
		return box.checked && localStorage.getItem("lathe.notify") === "true";
	})()`), press("New session"), looks("hidden"), say("greet the world"), shows("asks for permission: edit"), until(`window.told.join() === "is waiting for your answer"`), until(`document.title === "(1) lathe"`),
		looks("visible"), press("Allow once"), shows("asks for permission: bash"), until(`window.told.length === 1`),
		looks("hidden"), press("Allow once"), hides("Working…"), until(`window.told.at(-1) === "The turn has ended"`), until(`document.title === "lathe"`))
}

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestRestart has the server end and begin again below an open page: the page says that it
// waits, and goes on with what was there, still logged in.
func TestRestart(t *testing.T) {
	s := newSite(t, "text Fine.\n---\ntext Fine again.\n")
	s.stop()
	s.port = freePort(t)
	lathe, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s.serve(lathe)
	ctx := s.browser(1000, 800)
	s.do(ctx, s.login(), press("New session"), say("one"), shows("Fine."), hides("Working…"), chromedp.SendKeys(`.composer textarea`, "two"), until(`localStorage.getItem("lathe.drafts")?.includes("two")`))
	s.stop()
	s.do(ctx, shows("The connection is lost"))
	s.serve(lathe)
	s.do(ctx, hides("The connection is lost"), shows("Fine."),
		until(`document.querySelector(".composer textarea")?.value === "two"`), say(""), until(`document.querySelectorAll(".message.mine").length === 2`), hides("Working…"),
		until(`document.querySelectorAll(".message:not(.mine)").length === 2`))
}

// terminal is lathe attach on a terminal of its own.
func (s *site) terminal(t *testing.T, args ...string) *screentest.Screen {
	t.Helper()
	lathe, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lathe, append([]string{"attach", strings.Replace(s.url, "localhost", "127.0.0.1", 1), "--password-file", filepath.Join(s.home, "password"), "--dir", s.dir}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "TERM=xterm-256color", "GIT_CONFIG_NOSYSTEM=1"}
	return screentest.Open(t, "the terminal", cmd, 40, 120)
}

// TestScreenAndPage has two browsers and a terminal on one session: what one is asked all
// are asked, what one answers counts for all, and all show the same in the end.
func TestScreenAndPage(t *testing.T) {
	s := newSite(t, greeting)
	one, two := s.browser(1000, 800), s.browser(1000, 800)
	s.do(one, s.login(), press("New session"), chromedp.WaitVisible(`.composer textarea`))
	where, err := chromedp.Run(one, chromedp.Location())
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	s.do(two, s.login(), chromedp.Navigate(where), chromedp.WaitVisible(`.composer textarea`))
	term := s.terminal(t, "--session", strings.TrimPrefix(u.Fragment, "/s/"))
	s.do(one, say("greet the world"))
	for _, ctx := range []context.Context{one, two} {
		s.do(ctx, shows("asks for permission: edit"))
	}
	term.Answers("y", "printf") // the terminal allows the edit, and is asked about the command
	for _, ctx := range []context.Context{two, one} {
		s.do(ctx, hides("asks for permission: edit"), shows("asks for permission: bash"))
	}
	s.do(two, press("Allow once"))
	term.Sees("greeting")
	for _, ctx := range []context.Context{one, two} {
		s.do(ctx, hides("asks for permission"), shows("The greeting is now"), shows("all is well"), hides("Working…"))
	}
}
