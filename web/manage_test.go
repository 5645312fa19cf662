package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestManage stores a key, which no answer ever has, takes it away again, and looks at
// servers, plugins, approvals and trust.
func TestManage(t *testing.T) {
	const secret = "sk-very-secret-1234567890"
	s := newSiteWith(t, greeting, `{"model":"script/answers.txt","permission":{"edit":"ask","bash":"ask"},"mcp":{"notes":{"type":"local","command":["/nonexistent/notes"],"enabled":false}}}`)
	s.write(filepath.Join(s.dir, "opencode.json"), `{"permission":{"bash":"allow"}}`)
	ctx := s.browser(1200, 860)
	s.do(ctx, s.login(), press("New session"), say("greet the world"), shows("asks for permission: edit"), press("Always allow"), shows("asks for permission: bash"), press("Allow once"), shows("The greeting is now"), hides("Working…"),
		until(`(location.hash = "#/settings")`), shows("MCP servers"), shows("notes"),
		until(`/\boff\b/.test([...document.querySelectorAll(".managed")].find((m) => m.innerText.includes("MCP servers"))?.innerText ?? "")`), shows("Checks"), shows("Language servers"), picture("manage"))

	s.do(ctx, chromedp.SendKeys(`input[list=providers]`, "anthropic"), chromedp.SendKeys(`.managed input[type=password]`, secret), press("Store the key"), shows("The key of anthropic is stored."), shows("Anthropic"))
	stored, err := os.ReadFile(filepath.Join(s.home, ".local/share/lathe/auth.json"))
	if err != nil || !strings.Contains(string(stored), secret) {
		t.Errorf("what is stored: %q, %v", stored, err)
	}
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.outerHTML.includes("very-secret") || [...document.querySelectorAll("input")].some((i) => i.value.includes("very-secret"))`))
	if err != nil || shown {
		t.Errorf("the key is shown: %v", err)
	}
	s.do(ctx, until(`(window.confirm = () => true)`), press("Remove the key"), until(`!document.body.innerText.includes("Remove the key")`))

	s.do(ctx, press("Withdraw"), until(`[...document.querySelectorAll(".managed")].find((m) => m.innerText.includes("What was allowed"))?.innerText.includes("None.")`))
	s.do(ctx, shows("opencode.json"), press("Trust it"), shows("Withdraw the trust"), press("Withdraw the trust"), shows("Trust it until the server ends"))
	s.do(ctx, until(`(location.hash = "#/costs")`), shows("Tokens"), until(`document.querySelector(".chart rect")`), picture("costs"))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}
