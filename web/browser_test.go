package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const greeting = "reasoning The person wants a greeting.\n" +
	`tool edit {"filePath":"main.go","oldString":"println(\"hello\")","newString":"println(\"hello, world\")"}` + "\n---\n" +
	`tool bash {"command":"printf '\\033[32mall is well\\033[0m\\n'","description":"try it"}` + "\n---\n" +
	"text # Done\ntext \ntext The greeting is now **hello, world**.\ntext \ntext ```go\ntext func main() { println(1) }\ntext ```\ntext \ntext | a | b |\ntext |---|---|\ntext | 1 | 你好 |\n"

// TestTurn goes from the login to an undo: a prompt, two asks, the answer, what changed.
func TestTurn(t *testing.T) {
	s := newSite(t, greeting)
	ctx := s.browser(1280, 860)
	s.do(ctx,
		chromedp.Navigate(s.url), chromedp.WaitVisible(`input[type=password]`),
		chromedp.SendKeys(`input[type=password]`, "wrong\r"), shows("The password is not right."), picture("login"),
		s.login(), picture("start"),
		press("New session"), say("greet the world"),
		shows("asks for permission: edit"), picture("ask"), press("Allow once"),
		shows("asks for permission: bash"), press("Allow once"),
		shows("The greeting is now"), shows("all is well"), hides("Working…"), picture("answer"),
	)
	data, err := os.ReadFile(filepath.Join(s.dir, "main.go"))
	if err != nil || !strings.Contains(string(data), "hello, world") {
		t.Errorf("the file: %q, %v", data, err)
	}
	s.do(ctx, press("Changed files"), shows("main.go"), picture("files"), press("Timeline"), shows("Files changed: 1"), picture("timeline"),
		press("Undo from here"), shows("What follows was undone."))
	if data, _ := os.ReadFile(filepath.Join(s.dir, "main.go")); strings.Contains(string(data), "world") {
		t.Errorf("after the undo: %q", data)
	}
	s.do(ctx, press("Bring it back"), hides("What follows was undone."))
	if data, _ := os.ReadFile(filepath.Join(s.dir, "main.go")); !strings.Contains(string(data), "world") {
		t.Errorf("after bringing it back: %q", data)
	}
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestHostileText shows what models and tools print, and nothing of it does anything.
func TestHostileText(t *testing.T) {
	evil := `<script>window.evil=1</script><img src=x onerror="window.evil=2"><svg onload="window.evil=3"><style>body{display:none}</style>` +
		`<a href="javascript:window.evil=4">a</a> [b](javascript:window.evil=5) ![c](http://127.0.0.1:9/c.png) <iframe src="data:text/html,x"></iframe><form action="/"><input name=x></form>`
	long := strings.Repeat("wide ", 2_000)
	s := newSite(t, "text "+evil+"\ntext \ntext ```html\ntext "+evil+"\ntext ```\n---\ntext "+long+"\n")
	s.write(filepath.Join(s.dir, "evil.txt"), evil+"\n\x1b]52;c;aGk=\x07\x1b[31mred\x1b[0m \u202eesrever\u202c\n")
	s.write(filepath.Join(s.dir, "flood.txt"), strings.Repeat("\x1b[31ma\x1b[32mb", 500_000))
	s.write(filepath.Join(s.dir, "line.js"), "// "+strings.Repeat("0123456789", 1<<20))
	s.write(filepath.Join(s.dir, "trojan.go"), "package a // \u202e } \u2066 if admin\u2069\n"+evil+"\n")
	ctx := s.browser(1500, 700)
	done := func(n int) step {
		return until(fmt.Sprintf(`document.querySelectorAll(".card.completed").length === %d`, n))
	}
	open := until(`(document.querySelectorAll(".cardhead[aria-expanded=false]").forEach((b) => b.click()), true)`)
	s.do(ctx, s.login(), press("New session"), say("be evil"), shows("<script>window.evil=1</script>"), hides("Working…"),
		say("now a long line"), shows("wide wide"), hides("Working…"), say("!cat evil.txt"), done(1), open, shows("red esrever"),
		say("!cat flood.txt"), done(2), open, shows("abababab"), say("and then"), shows("and then"),
		press("Files"), press("line.js"), until(`document.querySelector(".lines pre:last-of-type")?.textContent.includes("0123456789")`), press("Back"),
		press("trojan.go"), until(`document.querySelector(".lines .hljs-keyword")`), until(`!/[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)`))
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`JSON.stringify([window.evil ?? null,
		document.querySelectorAll(".lines script, .lines img, .lines iframe, .messages script, .messages img, .messages svg, .messages style, .messages iframe, .messages form").length,
		[...document.querySelectorAll(".messages a")].filter((a) => !/^(https?:|mailto:)/.test(a.href)).length,
		getComputedStyle(document.body).display, document.querySelectorAll(".output span").length > 1,
		/[\u001b\u202e\u0007]/.test(document.body.innerText)])`))
	if want := `[null,0,0,"block",true,false]`; err != nil || got != want {
		t.Errorf("got %s, want %s, %v", got, want, err)
	}
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestInputMethod holds that the key which ends a composition sends nothing.
func TestInputMethod(t *testing.T) {
	s := newSite(t, "text Answered.\n")
	ctx := s.browser(900, 700)
	s.do(ctx, s.login(), press("New session"), chromedp.WaitVisible(`.composer textarea`))
	key := func(composing bool, code int) string {
		return fmt.Sprintf(`(() => {
			const b = document.querySelector(".composer textarea");
			b.value = "你好"; b.dispatchEvent(new InputEvent("input", {bubbles: true}));
			const e = new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true, isComposing: %t, keyCode: %d});
			b.dispatchEvent(e);
			return !e.defaultPrevented;
		})()`, composing, code)
	}
	for _, c := range []string{key(true, 13), key(false, 229)} {
		if kept, err := chromedp.Run(ctx, chromedp.Evaluate[bool](c)); err != nil || !kept {
			t.Errorf("a key of the input method was taken: %v", err)
		}
	}
	s.do(ctx, until(`document.querySelectorAll(".message").length === 0`), until(key(false, 13)+" === false"), shows("Answered."))
}

// TestTwoTabs has two tabs of one browser share a stream of events, and a third browser
// answer what the first is asked.
func TestTwoTabs(t *testing.T) {
	s := newSite(t, greeting)
	one := s.browser(900, 700)
	s.do(one, s.login(), press("New session"), say("greet the world"), shows("asks for permission: edit"))
	where, err := chromedp.Run(one, chromedp.Location())
	if err != nil {
		t.Fatal(err)
	}
	two := s.tab(one)
	s.do(two, chromedp.Navigate(where), shows("asks for permission: edit"))
	held, err := chromedp.Run(two, chromedp.Evaluate[bool](`performance.getEntriesByType("resource").some((r) => r.name.includes("/lathe/event"))`))
	if err != nil || held {
		t.Errorf("the second tab has a stream of its own: %v", err)
	}
	other := s.browser(900, 700)
	s.do(other, s.login(), chromedp.Navigate(where), shows("asks for permission: edit"), press("Allow once"), shows("asks for permission: bash"), press("Allow once"))
	s.do(two, shows("The greeting is now"))
	s.do(one, shows("The greeting is now"), hides("asks for permission"))
}

// TestChinese shows the page to a reader of Chinese.
func TestChinese(t *testing.T) {
	s := newSite(t, "text 好。\n")
	ctx := s.browser(900, 700)
	s.do(ctx, s.login(), until(`(location.hash = "#/settings")`), chromedp.WaitVisible(`main select`), until(`(() => {
		const all = [...document.querySelectorAll("main select")];
		const language = all.find((s) => [...s.options].some((o) => o.value === "zh-CN"));
		language.value = "zh-CN";
		language.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})()`), shows("新会话"), until(`document.documentElement.lang === "zh-CN"`), press("新会话"), say("你好"), shows("好。"), picture("chinese"))
}
