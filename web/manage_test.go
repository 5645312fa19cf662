package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lathe/internal/llm/llmtest"
)

// keyed is a provider that answers who has the key, and refuses everybody else. It returns
// its entry in the configuration.
func keyed(t *testing.T, key string) string {
	answers := llmtest.NewHandler(nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided"}}`)
			return
		}
		answers.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return `{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + srv.URL + `/v1"},"models":{"m":{}}}`
}

// TestManage stores a key, which no answer ever has, once its provider took it, takes it away
// again, and looks at servers, plugins, approvals and trust.
func TestManage(t *testing.T) {
	const secret = "sk-very-secret-1234567890"
	gone := `{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"http://127.0.0.1:1/v1"},"models":{"m":{}}}`
	s := newSiteWith(t, greeting, `{"model":"script/answers.txt","permission":{"edit":"ask","bash":"ask"},"provider":{"acme":`+keyed(t, secret)+`,"gone":`+gone+`},"mcp":{"notes":{"type":"local","command":["/nonexistent/notes"],"enabled":false}}}`)
	s.write(filepath.Join(s.dir, "opencode.json"), `{"permission":{"bash":"allow"}}`)
	ctx := s.browser(1200, 860)
	s.do(ctx, s.login(), press("New session"), say("greet the world"), shows("asks for permission: edit"), press("Always allow"), shows("asks for permission: bash"), press("Allow once"), shows("The greeting is now"), hides("Working…"),
		until(`(location.hash = "#/settings")`), shows("MCP servers"), shows("notes"),
		until(`/\boff\b/.test([...document.querySelectorAll(".managed")].find((m) => m.innerText.includes("MCP servers"))?.innerText ?? "")`), shows("Checks"), shows("Language servers"), picture("manage"))

	give := func(provider, key string) step {
		return chromedp.Steps(until(`(document.querySelector("input[list=providers]").value = "", true)`), chromedp.SendKeys(`input[list=providers]`, provider),
			until(`(document.querySelector(".managed input[type=password]").value = "", true)`), chromedp.SendKeys(`.managed input[type=password]`, key), press("Store the key"))
	}
	answer := func(yes bool) step {
		return until(fmt.Sprintf(`(window.asked = "", window.confirm = (text) => { window.asked = text; return %t }, true)`, yes))
	}
	keys := func(n int) step {
		return until(fmt.Sprintf(`[...document.querySelectorAll("button")].filter((b) => b.innerText === "Remove the key").length === %d`, n))
	}
	file := filepath.Join(s.home, ".local/share/lathe/auth.json")
	s.do(ctx, answer(false), give("acme", "sk-wrong"), until(`window.asked.startsWith("acme refused the key: Incorrect API key provided")`), until(`!document.querySelector("button.main[disabled]")`))
	if _, err := os.Stat(file); err == nil {
		t.Error("a key that was refused is stored")
	}
	s.do(ctx, answer(true), give("acme", "sk-wrong"), shows("The key of acme is stored, but was not accepted: Incorrect API key provided"), keys(1))
	s.do(ctx, give("gone", "sk-untried"), shows("The key of gone is stored, but was not accepted:"), keys(2))
	s.do(ctx, give("acme", secret), shows("The key of acme is stored."), shows("acme"))
	stored, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(stored), secret) || !strings.Contains(string(stored), "sk-untried") || strings.Contains(string(stored), "sk-wrong") {
		t.Errorf("what is stored: %q, %v", stored, err)
	}
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.outerHTML.includes("very-secret") || [...document.querySelectorAll("input")].some((i) => i.value.includes("very-secret"))`))
	if err != nil || shown {
		t.Errorf("the key is shown: %v", err)
	}
	s.do(ctx, until(`(window.confirm = () => true)`), press("Remove the key"), keys(1), press("Remove the key"), keys(0))

	s.do(ctx, press("Withdraw"), until(`[...document.querySelectorAll(".managed")].find((m) => m.innerText.includes("What was allowed"))?.innerText.includes("None.")`))
	s.do(ctx, shows("opencode.json"), press("Trust it"), shows("Withdraw the trust"), press("Withdraw the trust"), shows("Trust it until the server ends"))
	s.do(ctx, until(`(location.hash = "#/costs")`), shows("Tokens"), until(`document.querySelector(".chart rect")`), picture("costs"))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}
