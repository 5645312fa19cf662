package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// answering has prompt and confirm answered without a person.
func answering(text string) step {
	return until(fmt.Sprintf(`(window.prompt = () => %q, window.confirm = () => true)`, text))
}

// TestSessions names a session anew, finds it by what was said, opens it beside another,
// forks it, puts it into the archive and takes it out again, and deletes it.
func TestSessions(t *testing.T) {
	s := newSite(t, "text The walrus answers.\n")
	ctx := s.browser(1400, 860)
	more := func(title string) step {
		return until(fmt.Sprintf(`(() => { const b = document.querySelector('button[aria-label="Show more: %s"]'); if (b?.getAttribute("aria-expanded") === "false") b.click(); return b; })()`, title))
	}
	listed := func(title string, yes bool) step {
		return until(fmt.Sprintf(`[...document.querySelectorAll(".sidebar > .sessions .name")].some((n) => n.innerText === %q) === %t`, title, yes))
	}
	s.do(ctx, s.login(), press("New session"), say("a question about penguins"), shows("The walrus answers."), hides("Working…"), answering("Birds"), more("A scripted session"), press("Rename"), listed("Birds", true),
		press("New session"), until(`!document.body.innerText.includes("penguins")`), say("another matter"), shows("The walrus answers."), hides("Working…"),
		chromedp.SendKeys(`.sidebar input[type=search]`, "penguins"), until(`document.querySelector(".hits .name")?.innerText === "Birds"`), press("a question about penguins"), until(`document.querySelector(".message.marked")?.innerText.includes("penguins")`),
		until(`(() => { const i = document.querySelector(".sidebar input[type=search]"); i.value = ""; i.dispatchEvent(new InputEvent("input", {bubbles: true})); return true; })()`), listed("Birds", true),
		more("A scripted session"), press("Open beside"), until(`document.querySelectorAll("main.chat").length === 2`), picture("beside"), press("Close"), until(`document.querySelectorAll("main.chat").length === 1`),
		until(`(location.hash = "#/")`), press("Birds"), shows("penguins"), press("Fork from here"), until(`document.querySelectorAll(".sidebar > .sessions .session").length === 3`),
		more("Birds"), press("Archive"), listed("Birds", false), until(`(document.querySelector(".archive summary").click(), true)`), until(`document.querySelector(".archive .name")?.innerText === "Birds"`), more("Birds"), press("Take out of the archive"), listed("Birds", true),
		more("Birds"), press("Delete"), listed("Birds", false))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestHelpers has a helper at work below its session, and opens it beside that.
func TestHelpers(t *testing.T) {
	s := newSite(t, "tool task {\"description\":\"look at the parser\",\"prompt\":\"look\",\"subagent_type\":\"general\"}\n---\ntext I looked.\n")
	ctx := s.browser(1400, 860)
	s.do(ctx, s.login(), press("New session"), say("begin"), shows("I looked."), hides("Working…"),
		until(`document.querySelector(".sessions .child .name")?.innerText.includes("look at the parser")`), press("Helpers (1)"), until(`document.querySelector(".side .helpers")?.innerText.includes("look at the parser")`),
		until(`(document.querySelector(".card .into").click(), true)`), until(`document.querySelectorAll("main.chat").length === 2`), until(`[...document.querySelectorAll("main.chat h2")].at(-1).innerText.includes("look at the parser")`))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestQuestions answers a question with one of its options.
func TestQuestions(t *testing.T) {
	s := newSite(t, "tool question {\"questions\":[{\"question\":\"Which colour?\",\"header\":\"Colour\",\"options\":[{\"label\":\"red\",\"description\":\"R\"},{\"label\":\"blue\",\"description\":\"B\"}]}]}\n---\ntext So be it.\n")
	ctx := s.browser(1000, 860)
	s.do(ctx, s.login(), press("New session"), say("begin"), shows("Which colour?"), picture("question"),
		until(`(() => { const b = document.querySelectorAll(".ask input[type=radio]")[1]; b?.click(); return b?.checked; })()`), press("Answer"), shows("So be it."), hides("Which colour?"), hides("Working…"),
		until(`(document.querySelectorAll(".cardhead[aria-expanded=false]").forEach((b) => b.click()), document.querySelector(".cardbody")?.innerText.includes("blue"))`))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestStopAndAgain stops a turn, and sends the prompt again in other words.
func TestStopAndAgain(t *testing.T) {
	s := newSiteWith(t, "text Fine.\n", streaming(t, 50, time.Minute, prose))
	ctx := s.browser(1200, 860)
	s.do(ctx, s.login(), press("New session"), say("go on for long"), shows("The parser reads"), shows("reaches the agent at its next step"), press("Stop"), hides("Working…"), shows("Stopped."),
		press("Edit and send again"), until(`document.querySelector(".composer textarea").value === "go on for long"`), until(`document.querySelectorAll(".message:not(.gone)").length === 0`),
		chromedp.SendKeys(`.composer textarea`, ", but not so long\r"), until(`document.querySelector(".message.mine")?.innerText.includes("go on for long, but not so long")`), shows("The parser reads"), press("Stop"), hides("Working…"))
}

// TestBudgetAndLogin shows what of a budget is used, and an MCP server that wants a login.
func TestBudgetAndLogin(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	s := newSiteWith(t, "text Fine.\nusage in=1000 out=5\n", fmt.Sprintf(`{"model":"script/answers.txt","budget":{"session":{"tokens":4000},"day":{"tokens":100000}},"mcp":{"tickets":{"type":"remote","url":%q}}}`, server.URL))
	ctx := s.browser(1200, 860)
	s.do(ctx, s.login(), press("New session"), say("hello"), shows("Fine."), hides("Working…"), press("Context"), until(`[...document.querySelectorAll(".side h3")].some((h) => h.innerText === "Budget")`),
		until(`(location.hash = "#/costs")`), until(`document.querySelectorAll("main meter.budget").length === 2`), picture("budget"),
		until(`(location.hash = "#/settings")`), shows("tickets"), shows("not logged in"), until(`[...document.querySelectorAll("main .list li")].find((l) => l.innerText.includes("tickets"))?.innerText.includes("Log in")`), picture("mcp-login"))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}
