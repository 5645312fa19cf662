package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFiles walks through the tree, looks at a file, and finds a line in all of them.
func TestFiles(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	s.write(filepath.Join(s.dir, "sub/deep/note.md"), "\n\n# Title\n\nneedle 你好 here\n")
	ctx := s.browser(1500, 860)
	s.do(ctx, s.login(), press("New session"), press("Files"), press("sub/"), press("deep/"), press("note.md"), shows("needle 你好 here"),
		until(`document.querySelector(".lines .nos").innerText.trim().split(/\s+/).length === 5`), press("Back"), press("main.go"),
		until(`document.querySelector(".lines .hljs-keyword")`), picture("viewer"), press("Back"),
		chromedp.SendKeys(`input[placeholder="Find in files"]`, "needle 你"), shows("sub/deep/note.md"), until(`document.querySelector(".found mark")?.innerText === "needle 你"`), picture("find"),
		press("needle"), until(`document.querySelector(".lines .here")?.style.top.includes("4 *")`), shows("needle 你好 here"))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestTimelinePreview goes back to before a prompt, with a file that somebody else
// changed meanwhile.
func TestTimelinePreview(t *testing.T) {
	s := newSite(t, greeting)
	ctx := s.browser(1500, 860)
	s.do(ctx, s.login(), press("New session"), say("greet the world"), shows("asks for permission: edit"), press("Allow once"),
		shows("asks for permission: bash"), press("Allow once"), shows("The greeting is now"), hides("Working…"))
	s.write(filepath.Join(s.dir, "main.go"), "package main // by hand\n")
	s.do(ctx, press("Timeline"), shows("Files changed: 1"), press("Changed files"), until(`document.querySelector(".side .timeline summary, .side summary")`),
		shows("Undo from here…"), press("Undo from here…"), shows("These would stay as they are:"), shows("it was changed since by somebody else"), picture("timeline"),
		press("Undo now"), shows("What follows was undone."), shows("main.go was left as it is"))
	if data, err := os.ReadFile(filepath.Join(s.dir, "main.go")); err != nil || !strings.Contains(string(data), "by hand") {
		t.Errorf("the file: %q, %v", data, err)
	}
	s.do(ctx, press("Bring it back"), hides("What follows was undone."), press("Undo from here…"), until(`document.querySelector(".preview input")?.click() !== null && document.querySelector(".preview input")?.checked`), press("Undo now"), shows("What follows was undone."))
	if data, err := os.ReadFile(filepath.Join(s.dir, "main.go")); err != nil || !strings.Contains(string(data), "println(\"hello\")") {
		t.Errorf("the file after the undo that was insisted on: %q, %v", data, err)
	}
}

// TestContext shows what fills the window.
func TestContext(t *testing.T) {
	s := newSite(t, "text Fine.\nusage in=1000 out=5 cached=600\n---\ntext Again.\n")
	ctx := s.browser(1500, 860)
	s.do(ctx, s.login(), press("New session"), say("look around"), shows("Fine."), hides("Working…"), press("Context"), shows("What fills the window"), shows("Compactions: 0."),
		until(`document.querySelectorAll(".side .bars tr").length > 1`), picture("context"), press("Helpers"), shows("This session has no helpers."))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestTerminal runs a program in a terminal, leaves it and comes back to it; what it
// prints in colours of its own is drawn without a style of the page's policy.
func TestTerminal(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	p := s.proxied()
	s.url = p.url
	ctx := s.browser(1500, 860)
	typed := func(text string) step {
		return until(fmt.Sprintf(`(() => { // a browser's own keys come once; those that are sent to it come twice
			const box = document.querySelector(".xterm-helper-textarea");
			box?.dispatchEvent(new InputEvent("input", {data: %q, inputType: "insertText", bubbles: true}));
			box?.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", keyCode: 13, bubbles: true, cancelable: true}));
			return box;
		})()`, text))
	}
	printed := func(text string) step {
		return until(`document.querySelector(".xterm-rows")?.innerText.replaceAll("\u00a0", " ").includes("` + text + `")`)
	}
	s.do(ctx, s.login(), press("New session"), press("Terminal"), until(`document.querySelector(".xterm-rows")?.innerText.trim() !== "" && document.querySelector(".xterm-rows")`),
		typed(`export PS1='> '; echo sum=$((40+2))`), printed("sum=42"), typed(`printf '\033[38;2;10;200;30mgreen\033[0m %s\n' "$(pwd)"`), printed("green /"),
		until(`[...document.querySelectorAll(".xterm-rows span")].some((e) => e.textContent.startsWith("green") && getComputedStyle(e).color !== getComputedStyle(document.querySelector(".xterm-rows")).color)`),
		until(`getComputedStyle(document.querySelector(".xterm-rows > div")).height !== "0px"`), picture("terminal"),
		press("Files"), until(`!document.querySelector(".xterm")`), press("Terminal"), printed("sum=42"), typed("echo again=$((1+1))"), printed("again=2"),
		typed("exit"), shows("No terminal is open here."))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestTerminalIsGone has the server of a terminal end. The page says so and leaves what was
// printed; it does not look for the terminal for ever.
func TestTerminalIsGone(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	lathe, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	s.port = freePort(t) // where it is found again
	s.serve(lathe)
	ctx := s.browser(1000, 860)
	s.do(ctx, s.login(), press("New session"), press("Terminal"), until(`document.querySelector(".xterm-rows")?.innerText.trim() !== "" && document.querySelector(".xterm-rows")`))
	s.stop()
	s.do(ctx, until(`["Connecting…", "This terminal has ended"].some((word) => document.body.innerText.includes(word))`)) // a server says the second as its last word, if it is asked in time
	s.serve(lathe)
	s.do(ctx, shows("This terminal has ended"), until(`document.querySelector(".xterm-rows")?.innerText.trim() !== ""`),
		press("End it"), shows("No terminal is open here."), press("New terminal"), until(`document.querySelector(".xterm-rows")?.innerText.trim() !== "" && document.querySelector(".xterm-rows")`))
}
