package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// eye looks at a page with axe-core.
type eye struct {
	*site
	ctx context.Context
	axe string
}

func (s *site) eye(ctx context.Context) eye {
	s.t.Helper()
	modules := os.Getenv("LATHE_WEB_MODULES")
	if modules == "" {
		s.t.Skip("LATHE_WEB_MODULES names no directory with axe-core; .ci/web does")
	}
	axe, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	if err != nil {
		s.t.Fatal(err)
	}
	return eye{s, ctx, string(axe)}
}

// look holds that axe-core finds nothing serious, and that nothing has to be scrolled sideways.
func (e eye) look(what string) {
	e.t.Helper()
	e.do(e.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Evaluate[any]("void (typeof axe === 'undefined' && (() => {"+e.axe+"})())")(ctx, t)
		return err
	}), until(`(() => { window.found ??= axe.run(document, {resultTypes: ["violations"]}).then((r) => { window.found = JSON.stringify(r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 120) + n.failureSummary)])); }); return typeof window.found === "string"; })()`))
	found, err := chromedp.Run(e.ctx, chromedp.Evaluate[string](`window.found`))
	if err != nil || found != "[]" {
		e.t.Errorf("%s: axe finds %s, %v", what, found, err)
	}
	wide, err := chromedp.Run(e.ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > window.innerWidth || [...document.querySelectorAll("button, select, textarea")].some((b) => b.getBoundingClientRect().right > window.innerWidth)`))
	if err != nil || wide {
		e.t.Errorf("%s: it is wider than the window, %v", what, err)
	}
	e.do(e.ctx, until(`(delete window.found, true)`))
}

var themes = []string{"light", "dark", "contrast"}

func wears(theme string) step {
	return until(fmt.Sprintf(`(document.documentElement.dataset.theme = %q)`, theme))
}

// TestAccessible looks at a conversation in each theme and at three sizes, and at what can be opened beside it.
func TestAccessible(t *testing.T) {
	s := newSite(t, greeting)
	ctx := s.browser(1280, 860)
	e := s.eye(ctx)
	s.do(ctx, s.login(), press("New session"), say("greet the world"), shows("asks for permission: edit"))
	for _, theme := range themes {
		s.do(ctx, wears(theme))
		for _, size := range [][2]int64{{1280, 860}, {768, 1024}, {320, 640}} {
			s.do(ctx, chromedp.EmulateViewport(size[0], size[1]), picture(fmt.Sprintf("asked-%s-%d", theme, size[0])))
			e.look(fmt.Sprintf("an ask, %s, %d wide", theme, size[0]))
		}
	}
	s.do(ctx, chromedp.EmulateViewport(1280, 860), press("Allow once"), shows("asks for permission: bash"), press("Allow once"), shows("The greeting is now"), hides("Working…"))
	e.look("an answer")
	for _, panel := range []string{"changes", "timeline", "files", "context", "helpers", "terminal"} {
		for _, size := range [][2]int64{{1500, 860}, {320, 640}, {320, 215}} { // the last is a window of 1280 × 860, four times as large
			s.do(ctx, chromedp.EmulateViewport(size[0], size[1]), until(fmt.Sprintf(`(() => {
				const choice = document.querySelector(".bar select");
				choice.value = %q;
				choice.dispatchEvent(new Event("change", {bubbles: true}));
				return true;
			})()`, panel)), until(`document.querySelector(".side section") && !document.querySelector(".side").innerText.includes("Loading…")`), picture(fmt.Sprintf("panel-%s-%d-%d", panel, size[0], size[1])))
			e.look(fmt.Sprintf("%s, %d wide", panel, size[0]))
		}
	}
	s.do(ctx, chromedp.EmulateViewport(320, 215), until(`(() => { const c = document.querySelector(".bar select"); c.value = ""; c.dispatchEvent(new Event("change", {bubbles: true})); return !document.querySelector(".side"); })()`), picture("zoomed"),
		until(`(document.querySelector(".composer textarea").focus(), document.querySelector(".composer textarea").getBoundingClientRect().bottom <= innerHeight)`), chromedp.EmulateViewport(1280, 860))
}

// TestViewsAccessible looks at the login and at each view in each theme, on a wide screen and on the narrowest.
func TestViewsAccessible(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	ctx := s.browser(1280, 860)
	e := s.eye(ctx)
	all := func(what string) {
		t.Helper()
		for _, theme := range themes {
			for _, size := range [][2]int64{{1280, 860}, {320, 640}} {
				s.do(ctx, chromedp.EmulateViewport(size[0], size[1]), wears(theme), picture(fmt.Sprintf("%s-%s-%d", what, theme, size[0])))
				e.look(fmt.Sprintf("%s, %s, %d wide", what, theme, size[0]))
			}
		}
		s.do(ctx, chromedp.EmulateViewport(1280, 860))
	}
	s.do(ctx, chromedp.Navigate(s.url), chromedp.WaitVisible(`input[type=password]`))
	all("login")
	s.do(ctx, s.login(), press("New session"), say("hello"), shows("Fine."), hides("Working…"))
	for _, view := range []string{"", "costs", "settings", "shared"} {
		s.do(ctx, until(fmt.Sprintf(`(location.hash = "#/%s")`, view)), until(`document.querySelector("main h1")`), until(`!document.querySelector("main").innerText.includes("Loading…")`))
		all("view" + view)
	}
}
