package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused is the name of what has the focus, as a screen reader tells it.
const focused = `(() => { const e = document.activeElement; return (e.getAttribute("aria-label") ?? e.innerText ?? "").trim(); })()`

// tabTo goes on with the tab key until something of a name has the focus.
func tabTo(name string) step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		var seen []string
		for range 120 {
			if _, err := chromedp.KeyEvent(kb.Tab)(ctx, target); err != nil {
				return err
			}
			at, err := chromedp.Evaluate[string](focused)(ctx, target)
			if err != nil || at == name {
				return err
			}
			seen = append(seen, at)
		}
		return fmt.Errorf("the tab key never comes to %q, but to %q", name, seen)
	})
}

// TestByKeyboard does everything from the login to an undo with keys alone, and sees where
// it is all the way.
func TestByKeyboard(t *testing.T) {
	s := newSite(t, greeting)
	ctx := s.browser(1400, 860)
	enter := chromedp.KeyEvent(kb.Enter)
	visible := until(`(() => { const c = getComputedStyle(document.activeElement); return c.outlineStyle !== "none" && parseFloat(c.outlineWidth) >= 2; })()`)
	press := func(name string) step { return chromedp.Steps(tabTo(name), visible, enter) }
	s.do(ctx, chromedp.Navigate(s.url), until(`document.activeElement?.type === "password"`), chromedp.KeyEvent(password), enter, shows("New session"),
		press("New session"), until(`document.querySelector(".composer textarea")`), tabTo("What should be done?"), chromedp.KeyEvent("greet the world"), enter,
		shows("asks for permission: edit"), press("Allow once"), shows("asks for permission: bash"), press("Allow once"), shows("The greeting is now"), hides("Working…"))
	if data, err := os.ReadFile(filepath.Join(s.dir, "main.go")); err != nil || !strings.Contains(string(data), "hello, world") {
		t.Errorf("the file: %q, %v", data, err)
	}
	s.do(ctx, press("Changed files (1)"), shows("main.go"), press("Timeline"), shows("Files changed: 1"), press("Undo from here…"), shows("Undo now"), press("Undo now"), shows("What follows was undone."))
	if data, _ := os.ReadFile(filepath.Join(s.dir, "main.go")); strings.Contains(string(data), "world") {
		t.Errorf("after the undo: %q", data)
	}
}

// TestMotionAndColours follows what a person asked their system for: no motion, and
// colours of their own, in which what is chosen can still be told.
func TestMotionAndColours(t *testing.T) {
	s := newSiteWith(t, "text Fine.\n", streaming(t, 50, time.Minute, prose))
	ctx := s.browser(1000, 800)
	wish := func(name, value string) step {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
			return err
		})
	}
	turns := `document.querySelector(".working .spin")?.style.rotate`
	s.do(ctx, s.login(), wish("prefers-reduced-motion", "reduce"), press("New session"), say("go on"), shows("Working…"), shows("The parser reads"))
	if still, err := chromedp.Run(ctx, chromedp.Evaluate[bool](turns+` === "" && document.getAnimations().length === 0`)); err != nil || !still {
		t.Errorf("something moves: %v", err)
	}
	s.do(ctx, wish("prefers-reduced-motion", "no-preference"), press("Stop"), hides("Working…"), say("again"), until(turns+` === "90deg"`), press("Stop"), hides("Working…"),
		wish("forced-colors", "active"), until(`matchMedia("(forced-colors: active)").matches`),
		chromedp.SendKeys(`.composer textarea`, "@ma"), until(`document.querySelector(".choices li[aria-selected=true]")`), picture("forced"))
	marked, err := chromedp.Run(ctx, chromedp.Evaluate[string](`JSON.stringify([".choices li[aria-selected=true]", ".session.here", ".composer textarea:focus"].map((s) => getComputedStyle(document.querySelector(s)).outlineStyle))`))
	if want := `["solid","solid","solid"]`; err != nil || marked != want {
		t.Errorf("what is chosen has the outlines %s, want %s, %v", marked, want, err)
	}
}
