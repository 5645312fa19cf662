package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestShared reads a session that somebody exported, and one that a share service has:
// in the page's own look, with nothing to write in and nothing to undo.
func TestShared(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	const id = "ses_100000000000BBBBBBBBBBBBBB"
	file := filepath.Join(t.TempDir(), "session.json")
	s.write(file, string(many("/elsewhere/shop", 400, id)))
	other := filepath.Join(t.TempDir(), "package.json")
	s.write(other, `{"name":"x"}`)

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/share/abc123/data" {
			http.NotFound(w, r)
			return
		}
		type obj = map[string]any
		_ = json.NewEncoder(w).Encode([]obj{
			{"type": "session", "data": obj{"id": id, "title": "By link", "directory": "/far", "time": obj{"created": 1, "updated": 2}}},
			{"type": "message", "data": obj{"id": "msg_1", "sessionID": id, "role": "user", "time": obj{"created": 1}}},
			{"type": "part", "data": obj{"id": "prt_1", "messageID": "msg_1", "sessionID": id, "type": "text", "text": "please look"}},
			{"type": "message", "data": obj{"id": "msg_2", "sessionID": id, "role": "assistant", "time": obj{"created": 1}}},
			{"type": "part", "data": obj{"id": "prt_2", "messageID": "msg_2", "sessionID": id, "type": "text", "text": "<img src=x onerror='window.evil=1'> **looked** [x](javascript:window.evil=2)"}},
			{"type": "session_diff", "data": []obj{{"file": "a.go", "before": "one\n", "after": "two\n", "additions": 1, "deletions": 1}}},
		})
	}))
	t.Cleanup(service.Close)

	ctx := s.browser(1280, 860)
	readOnly := until(`!document.querySelector(".composer") && ![...document.querySelectorAll(".shared button")].some((b) => /Undo|Fork|Edit|Stop/.test(b.innerText))`)
	s.do(ctx, s.login(), press("Open a shared session"), shows("Nothing of it is stored"),
		chromedp.SetUploadFiles(`main input[type=file]`, []string{other}), shows("This is no session that was exported or shared."),
		chromedp.SetUploadFiles(`main input[type=file]`, []string{file}), shows("A long piece of work"), shows("Answer 399."), readOnly,
		until(`document.querySelectorAll(".message").length <= 150`), picture("shared"),
		until(`(() => { const b = document.querySelector(".scroll"); b.scrollTop -= 4000; return b.textContent.includes("Prompt 300:"); })()`),
		press("Close"), chromedp.SendKeys(`input[type=url]`, service.URL+"/s/none\r"), shows("could not be read"),
		until(`(document.querySelector("input[type=url]").select(), true)`),
		chromedp.SendKeys(`input[type=url]`, service.URL+"/s/abc123\r"), shows("By link"), shows("please look"), until(`document.querySelector(".messages strong")?.innerText === "looked"`), readOnly,
		press("Changed files (1)"))
	s.do(ctx, until(`(document.querySelector(".side summary").click(), true)`), until(`document.querySelector(".side tr.add")?.innerText.includes("two")`), until(`window.evil === undefined && !document.querySelector(".messages img")`))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}
