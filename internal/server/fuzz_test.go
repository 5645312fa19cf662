package server

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRequest sends any request to any route. It never crashes, never answers 500
// and never shows what lies outside the project.
func FuzzRequest(f *testing.F) {
	r := newRig(f)
	sess := strings.TrimPrefix(r.session(), "/session/")
	var routes []route
	for _, rt := range r.srv.routes() {
		switch rt.path {
		case "/event", "/global/event", "/tui/control/next", "/pty", "/session/{sessionID}/shell", "/session/{sessionID}/message",
			"/session/{sessionID}/prompt_async", "/session/{sessionID}/command", "/session/{sessionID}/init", "/experimental/worktree",
			"/provider", "/doc":
			continue // wait, run programs or models, or are only large
		}
		routes = append(routes, rt)
	}
	for i := range routes {
		f.Add(uint(i), sess, "a.txt", `{"title":"x"}`, "application/json", "127.0.0.1")
	}
	f.Add(uint(0), "ses_..%2f", "../outside/secret.txt", `{"permission":[{"permission":"*"}]}`, "text/plain", "evil")
	f.Add(uint(3), "\x00", "/etc/passwd", `[1,2`, "application/json; charset=utf-8", "[::1]:1")
	f.Add(uint(7), "msg_x", "link/../..", `{"messageID":"msg_x","size":{"rows":1e99}}`, "application/x+json", "localhost")
	f.Fuzz(func(t *testing.T, n uint, id, query, body, kind, host string) {
		rt := routes[n%uint(len(routes))]
		path := rt.path
		for strings.Contains(path, "{") {
			i, j := strings.Index(path, "{"), strings.Index(path, "}")
			path = path[:i] + url.PathEscape(id) + path[j+1:]
		}
		q := url.Values{}
		for _, name := range []string{"path", "pattern", "query", "before", "limit", "start", "messageID", "type", "provider", "model", "after", "cursor", "project", "location[directory]"} {
			q.Set(name, query)
		}
		if len(query)%7 == 0 {
			q.Set("directory", "x"+query)
		}
		req := httptest.NewRequest("GET", "/", bytes.NewReader([]byte(body)))
		req.Method, req.Host = rt.method, host
		u, err := url.Parse("http://x" + path + "?" + q.Encode())
		if err != nil {
			return
		}
		req.URL, req.RequestURI = u, u.RequestURI()
		req.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		r.srv.ServeHTTP(w, req)
		out := w.Body.String()
		if w.Code == 500 {
			t.Errorf("%s %s %q: 500 %s", rt.method, u, body, out)
		}
		if strings.Contains(out, "TOPSECRET") || strings.Contains(out, "root:x:0") {
			t.Errorf("%s %s: shows a file outside: %.200s", rt.method, u, out)
		}
	})
}

// FuzzWorktree takes any body for a worktree: none leads out of lathe's directory,
// or touches the main checkout.
func FuzzWorktree(f *testing.F) {
	r := newRig(f)
	lathe := filepath.Join(filepath.Dir(r.dir), "home", "lathe") + "/"
	for _, s := range []string{
		`{"name":"Fix it"}`, `{"name":"../../x"}`, `{"name":"-b"}`, `{"name":"@{-1}","startCommand":5}`, `{"name":null}`, `{"name":"登录"}`, ``, `[]`,
		`{"directory":"` + r.dir + `"}`, `{"directory":"` + lathe + `data/worktree/.."}`, `{"directory":"-f"}`, `{"directory":["x"]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var in map[string]any
		if json.Unmarshal([]byte(text), &in) == nil {
			for k := range in {
				if strings.EqualFold(k, "startCommand") { // which is a program that runs
					delete(in, k)
				}
			}
			text = body(in)
		}
		send := func(method, path, text string) *httptest.ResponseRecorder {
			req := httptest.NewRequest(method, path, strings.NewReader(text))
			req.Host = "localhost"
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			r.srv.ServeHTTP(w, req)
			if w.Code != 200 && w.Code != 400 {
				t.Errorf("%s %s %q: %d %s", method, path, text, w.Code, w.Body)
			}
			return w
		}
		send("DELETE", "/experimental/worktree", text)
		send("POST", "/experimental/worktree/reset", text)
		if w := send("POST", "/experimental/worktree", text); w.Code == 200 {
			var made struct {
				Directory string `json:"directory"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || !strings.HasPrefix(made.Directory, lathe) {
				t.Errorf("%q made %s, %v", text, w.Body, err)
			}
			if w := send("DELETE", "/experimental/worktree", body(made)); w.Code != 200 {
				t.Errorf("%q is not removed: %s", text, w.Body)
			}
		}
		if got, err := os.ReadFile(filepath.Join(r.dir, "a.txt")); err != nil || string(got) != "hello\nworld\n" {
			t.Errorf("%q: a.txt is %q, %v", text, got, err)
		}
	})
}

// FuzzPrompt decodes any body of a prompt without a crash, and a session's too.
func FuzzPrompt(f *testing.F) {
	r := newRig(f)
	path := r.session()
	f.Add(promptBody("none.txt", "hello"))
	f.Add(`{"parts":[{"type":"file","mime":"image/png","url":"file:///etc/passwd"}]}`)
	f.Add(`{"parts":[{"type":"subtask","prompt":"x","agent":"y","description":"z"}],"messageID":"msg_zzz"}`)
	f.Add(`{"parts":[],"tools":{"*":false},"noReply":true}`)
	f.Fuzz(func(t *testing.T, body string) {
		var in map[string]any
		if json.Unmarshal([]byte(body), &in) == nil {
			in["noReply"] = true
			in["model"] = map[string]string{"providerID": "script", "modelID": "none.txt"}
			raw, err := json.Marshal(in)
			if err != nil {
				return
			}
			body = string(raw)
		}
		req := httptest.NewRequest("POST", path+"/message", strings.NewReader(body))
		req.Host = "localhost"
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		r.srv.ServeHTTP(w, req)
		if w.Code == 500 {
			t.Errorf("%s: 500 %s", body, w.Body)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor{ID: "msg_1", Time: 5}.String())
	f.Add("x")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		again, err := parseCursor(c.String())
		if err != nil || again != c {
			t.Errorf("%q: %+v, %+v, %v", text, c, again, err)
		}
	})
}
