package web_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestMention names a file, a resource of an MCP server and a name that a language server
// knows with "@", and the prompt has what was named.
func TestMention(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	type obj = map[string]any
	config, err := json.Marshal(obj{
		"model": "script/answers.txt", "permission": obj{"edit": "allow"},
		"lsp": obj{"mine": obj{"command": []string{self}, "extensions": []string{".fake"}, "env": obj{"LSP_FAKE": "push"}}},
		"mcp": obj{"docs": obj{"type": "local", "command": []string{self}, "environment": obj{"MCP_TEST_SERVER": "plain"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteWith(t, "tool write {\"filePath\":\"a.fake\",\"content\":\"one\\ntwo\\n\"}\n---\ntext Written.\n---\ntext Seen.\n---\ntext Seen, too.\n", string(config))
	ctx := s.browser(1280, 860)
	typed := func(text string) step { return chromedp.SendKeys(`.composer textarea`, text) }
	offered := func(text string) step {
		return until(`[...document.querySelectorAll(".choices li")].some((l) => l.innerText.includes("` + text + `"))`)
	}
	pick := func(text string) step {
		return until(`(() => {
			const l = [...document.querySelectorAll(".choices li")].find((l) => l.innerText.includes("` + text + `"));
			l?.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, cancelable: true}));
			return l;
		})()`)
	}
	holds := func(text string) step {
		return until(`document.querySelector(".composer textarea").value.includes("` + text + `")`)
	}
	s.do(ctx, s.login(), until(`(location.hash = "#/settings")`), shows("docs"), until(`(location.hash = "#/")`), press("New session"),
		say("write it"), shows("Written."), hides("Working…"), // the language server runs from here on
		typed("look at @main"), offered("main.go"), typed("\t"), holds("@main.go "), typed("\r"), shows("Seen."), hides("Working…"),
		typed("look at @sym0"), offered("sym0"), picture("mention"), pick("sym0"), holds("@a.fake#1-40 "), typed("and @docs"), offered("docs:docs://page"), pick("docs:docs://page"), holds("@docs:docs://page "),
		typed("\r"), shows("Seen, too."), shows("look at @a.fake#1-40 and @docs:docs://page"), until(`[...document.querySelectorAll(".message.mine")].at(-1).querySelector(".chip")?.innerText.startsWith("a.fake")`))
	sent, err := chromedp.Run(ctx, chromedp.Evaluate[string](`fetch("lathe/session/" + location.hash.split("/")[2] + "/message?limit=2", {headers: {"X-Lathe-Page": "1"}}).then((r) => r.text())`, chromedp.EvalAwaitPromise))
	if err != nil || !strings.Contains(sent, `"the page"`) || !strings.Contains(sent, "two") {
		t.Errorf("what was named is not in the prompt: %v\n%s", err, sent)
	}
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}
