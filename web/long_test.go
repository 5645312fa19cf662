package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

const longID = "ses_100000000000AAAAAAAAAAAAAA"

// TestLongConversation reads in a session that is too long to be held whole: backwards
// and forwards, at both ends, and from a link to a message in its middle.
func TestLongConversation(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	s.imported(1_000, longID)
	ctx := s.browser(1000, 800)
	seen := func(text string) step {
		return until(fmt.Sprintf(`(() => {
			const box = document.querySelector(".scroll")?.getBoundingClientRect();
			return box && [...document.querySelectorAll(".message")].some((m) => m.textContent.includes(%q) && m.getBoundingClientRect().top < box.bottom && m.getBoundingClientRect().bottom > box.top);
		})()`, text))
	}
	key := func(name string) step {
		return until(fmt.Sprintf(`(document.querySelector(".scroll").dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true})), true)`, name))
	}
	held := until(`document.querySelectorAll(".message").length <= 150`)
	s.do(ctx, s.login(), until(`(location.hash = "#/s/`+longID+`")`), seen("Answer 999."), held)

	// Older messages come in above; what is read stays where it is.
	top := `(() => {
		const box = document.querySelector(".scroll").getBoundingClientRect();
		const m = [...document.querySelectorAll(".message")].find((m) => m.getBoundingClientRect().bottom > box.top);
		return [m.id, Math.round(m.getBoundingClientRect().top)];
	})()`
	s.do(ctx, until(`(document.querySelector(".scroll").scrollTop = 1700, true)`),
		until(`(() => { const now = `+top+`; const same = JSON.stringify(now) === JSON.stringify(window.read); window.read = now; window.first = document.querySelector(".message").id; return same; })()`),
		press("Older messages"), until(`document.querySelector(".message").id !== window.first`),
		until(`Math.abs(document.getElementById(window.read[0]).getBoundingClientRect().top - window.read[1]) <= 2`), held)

	for _, c := range []struct{ key, text string }{{"Home", "Prompt 0:"}, {"End", "Answer 999."}, {"Home", "Prompt 0:"}} {
		s.do(ctx, key(c.key), seen(c.text), held)
	}
	// From the beginning onwards: the newest is not held, and comes as it is read.
	down := until(`(() => {
		const box = document.querySelector(".scroll");
		box.scrollTop += 3000;
		return box.textContent.includes("Answer 301.");
	})()`)
	s.do(ctx, down, held, until(`!document.querySelector(".scroll").textContent.includes("Prompt 0:")`))
	if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](`(() => {
		const ids = [...document.querySelectorAll(".message")].map((m) => m.id);
		return ids.filter((id, i) => i > 0 && id <= ids[i - 1]).length;
	})()`)); err != nil || n != 0 {
		t.Errorf("%d messages are out of order or doubled, %v", n, err)
	}

	link, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector(".message .acts a").getAttribute("href")`))
	if err != nil {
		t.Fatal(err)
	}
	s.do(ctx, press("To the newest message"), seen("Answer 999."), until(`(location.hash = "#/")`), until(fmt.Sprintf(`(location.hash = %q)`, link)),
		until(`document.querySelector(".message.marked")?.getBoundingClientRect().top < innerHeight`), held)
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}
