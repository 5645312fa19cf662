package web_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

const cards = "tool bash {\"command\":\"printf '\\\\033[31mfailed\\\\033[0m \\\\033[30;42m PASS \\\\033[m\\\\n'; exit 3\",\"description\":\"test\"}\n" +
	"tool todowrite {\"todos\":[{\"content\":\"find it\",\"status\":\"completed\",\"priority\":\"high\",\"id\":\"1\"},{\"content\":\"修好它 <b>\",\"status\":\"pending\",\"priority\":\"low\",\"id\":\"2\"}]}\n" +
	"tool read {\"filePath\":\"dot.png\"}\n---\n" +
	"text Done:\ntext \ntext ```go\ntext func main() {}\ntext ```\n"

// TestCards opens the cards of calls: a command in its colours, tasks as a list, a picture, and code that can be copied.
func TestCards(t *testing.T) {
	s := newSiteWith(t, cards, `{"model":"script/answers.txt","permission":"allow"}`)
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "dot.png"), dot, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := s.browser(1000, 800)
	s.do(ctx, s.login(), press("New session"), say("look"), shows("Done:"), hides("Working…"),
		until(`document.querySelectorAll(".card.completed").length === 3`),
		until(`(document.querySelectorAll(".cardhead[aria-expanded=false]").forEach((b) => b.click()), true)`),
		until(`document.querySelector(".output .c-red")?.textContent === "failed" && document.querySelector(".output .c-green.v")?.textContent === " PASS "`),
		until(`getComputedStyle(document.querySelector(".output .c-red")).color !== getComputedStyle(document.querySelector(".output pre")).color`),
		until(`document.querySelector(".cardhead .bad").textContent === "exit 3" && document.querySelector(".output").innerText.includes("exit code 3") && !document.querySelector(".output").innerText.includes("bash_metadata")`),
		until(`JSON.stringify([...document.querySelectorAll(".card .todolist li")].map((l) => [l.className, l.textContent])) === '[["completed","find it"],["pending","修好它 <b>"]]'`),
		until(`document.querySelector(".card img.picture")?.naturalWidth === 1`), picture("cards"),
		until(`(Object.defineProperty(navigator, "clipboard", {value: {writeText: (text) => { window.copied = text; return Promise.resolve(); }}}), true)`),
		until(`(document.querySelector(".md pre .copy")?.click(), window.copied === "func main() {}" || window.copied === "func main() {}\n")`),
		chromedp.Reload(), until(`(document.querySelectorAll(".cardhead[aria-expanded=false]").forEach((b) => b.click()), document.querySelector(".output .c-red"))`))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestRefused: the card of a call that was refused says so in a word, with what the person said of it.
func TestRefused(t *testing.T) {
	s := newSiteWith(t, greeting, `{"model":"script/answers.txt","permission":"ask"}`)
	ctx := s.browser(1000, 800)
	s.do(ctx, s.login(), press("New session"), say("greet the world"), shows("asks for permission: edit"), press("Refuse"), hides("Working…"),
		until(`document.querySelector(".card.error .bad")?.textContent === "refused"`), picture("refused"),
		until(`!/rejected permission|interrupted\]/.test(document.body.innerText)`))
}

// TestCostsNarrow: on the narrowest screen no amount of the costs is broken over two lines, and nothing is cut off.
func TestCostsNarrow(t *testing.T) {
	s := newSite(t, "text Fine.\nusage in=1234567 out=76543\n")
	ctx := s.browser(1000, 800)
	s.do(ctx, s.login(), press("New session"), say("hello"), shows("Fine."), hides("Working…"),
		chromedp.EmulateViewport(320, 640), until(`(location.hash = "#/costs")`), until(`document.querySelector(".bars td")`), picture("costs-narrow"),
		until(`[...document.querySelectorAll(".bars td:not(.barcell)")].every((td) => td.getClientRects()[0].height < 2 * parseFloat(getComputedStyle(td).lineHeight) && (() => {
			const r = document.createRange();
			r.selectNodeContents(td);
			return new Set([...r.getClientRects()].map((b) => Math.round(b.top))).size <= 1;
		})())`), until(`document.documentElement.scrollWidth <= 320`))
}
