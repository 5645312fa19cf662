package builtin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tool"
)

func serve(t *testing.T, mux map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if h, ok := mux[req.URL.Path]; ok {
			h(w, req)
			return
		}
		http.NotFound(w, req)
	}))
	t.Cleanup(s.Close)
	return s
}

func answer(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

const page1 = `<html><head><title>T</title><style>p{}</style><script>evil()</script></head><body>
<h1>Head</h1><p>Some <em>big</em> <a href="/x">link</a></p><hr><ul><li>one</li><li>two</li></ul><pre><code>a := 1
</code></pre><noscript>no</noscript></body></html>`

func TestWebfetch(t *testing.T) {
	r := newRig(t)
	var header http.Header
	s := serve(t, map[string]http.HandlerFunc{
		"/page": func(w http.ResponseWriter, req *http.Request) {
			header = req.Header.Clone()
			answer("text/html; charset=utf-8", page1)(w, req)
		},
		"/plain":  answer("text/plain", "just <b>text</b>"),
		"/latin":  answer("text/plain; charset=ISO-8859-1", "caf\xe9"),
		"/img":    answer("image/png", "\x89PNG\r\n\x1a\nrest"),
		"/bin":    answer("application/octet-stream", "a\x00b"),
		"/deep":   answer("text/html", strings.Repeat("<div>", 5000)+"inside"),
		"/large":  answer("text/plain", strings.Repeat("x", fetchBytes+1)),
		"/500":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"/moved":  func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, "/plain", http.StatusFound) },
		"/circle": func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, "/circle", http.StatusFound) },
		"/file": func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		},
		"/challenge": func(w http.ResponseWriter, req *http.Request) {
			if strings.HasPrefix(req.UserAgent(), "Mozilla") {
				w.Header().Set("Cf-Mitigated", "challenge")
				w.WriteHeader(403)
				return
			}
			fmt.Fprint(w, "let in")
		},
	})
	res := r.ok("webfetch", m{"url": s.URL + "/page"})
	want := tool.Result{
		Title:    s.URL + "/page (text/html; charset=utf-8)",
		Output:   "# Head\n\nSome *big* [link](" + s.URL + "/x)\n\n---\n\n- one\n- two\n\n```\na := 1\n```",
		Metadata: m{"truncated": false},
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("markdown (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(header.Get("Accept"), "text/markdown;q=1.0") || header.Get("Accept-Language") != "en-US,en;q=0.9" {
		t.Errorf("header %v", header)
	}
	if diff := cmp.Diff([]string{"webfetch " + s.URL + `/page ! ["` + s.URL + `/*"]`}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	outputs := []struct{ path, format, want string }{
		{"/page", "text", "T\n\nHead\n\nSome big link\n\none\n\ntwo\n\na := 1"},
		{"/page", "html", page1},
		{"/plain", "markdown", "just <b>text</b>"},
		{"/latin", "text", "café"},
		{"/deep", "markdown", "inside"},
		{"/moved", "text", "just <b>text</b>"},
		{"/challenge", "text", "let in"},
	}
	for _, tt := range outputs {
		if diff := cmp.Diff(tt.want, r.ok("webfetch", m{"url": s.URL + tt.path, "format": tt.format}).Output); diff != "" {
			t.Errorf("%s as %s (-want +got):\n%s", tt.path, tt.format, diff)
		}
	}
	if res := r.ok("webfetch", m{"url": s.URL + "/img"}); res.Output != "Image fetched successfully" || len(res.Attachments) != 1 || res.Attachments[0].MIME != "image/png" {
		t.Errorf("image: %+v", res)
	}
	failures := []struct{ url, want string }{
		{"ftp://x/y", "URL must start with http:// or https://"},
		{"http://", "not a valid URL"},
		{s.URL + "/none", "Request failed with status code: 404"},
		{s.URL + "/500", "Request failed with status code: 500"},
		{s.URL + "/large", "Response too large (exceeds 5MB limit)"},
		{s.URL + "/bin", "is not text"},
		{s.URL + "/circle", "redirects more than 10 times"},
		{s.URL + "/file", "URL must start with"},
		{"http://127.0.0.1:1/", "Could not fetch"},
	}
	for _, tt := range failures {
		r.fails("webfetch", m{"url": tt.url}, tt.want)
	}
	r.deny = denies("webfetch")
	if _, err := r.run("webfetch", m{"url": s.URL + "/page"}); !errors.Is(err, errDenied) {
		t.Errorf("error %v", err)
	}
}

func TestWebfetchTimeout(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	s := serve(t, map[string]http.HandlerFunc{"/slow": func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
		case <-req.Context().Done():
		}
	}})
	defer close(release)
	r.fails("webfetch", m{"url": s.URL + "/slow", "timeout": 0.05}, "Request timed out")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the user")
	time.AfterFunc(20*time.Millisecond, func() { cancel(stopped) })
	if _, err := r.runContext(ctx, "webfetch", m{"url": s.URL + "/slow"}); !errors.Is(err, stopped) {
		t.Errorf("error %v, want the cause", err)
	}
}

func TestWebsearch(t *testing.T) {
	var got string
	s := serve(t, map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, req *http.Request) {
		body := make([]byte, 4096)
		n, _ := req.Body.Read(body)
		got = req.URL.RawQuery + " " + string(body[:n])
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n\ndata: {\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"found it\"}]}}\n\n")
	}})
	r := newRig(t, func(e *Env) { e.Search = &SearchService{URL: s.URL + "/mcp", Key: "k"} })
	res := r.ok("websearch", m{"query": "go"})
	if res.Title != "Exa Web Search: go" || res.Output != "found it" {
		t.Errorf("%+v", res)
	}
	want := `exaApiKey=k {"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"livecrawl":"fallback","numResults":8,"query":"go","type":"auto"},"name":"web_search_exa"}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	r.ok("codesearch", m{"query": "cobra flags"})
	if !strings.Contains(got, `"name":"get_code_context_exa"`) || !strings.Contains(got, `"tokensNum":5000`) {
		t.Errorf("request %s", got)
	}
	if diff := cmp.Diff([]string{"websearch go", "codesearch cobra flags"}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	none := newRig(t, func(e *Env) { e.Search = &SearchService{} })
	none.fails("websearch", m{"query": "go"}, "set EXA_API_KEY")
	gone := newRig(t, func(e *Env) { e.Search = &SearchService{URL: "http://127.0.0.1:1", Key: "verysecret"} })
	res, _ = gone.run("websearch", m{"query": "go"})
	if !res.Failed || strings.Contains(res.Output, "verysecret") {
		t.Errorf("%+v", res)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(page1)
	f.Add("<table><tr><td>a<td>b</table><a href='//x'><b><i></b>")
	f.Add("<script>x</script")
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) > 1<<16 {
			return
		}
		_ = htmlText(page)
		u, _ := fetchable("http://localhost/")
		_ = htmlMarkdown(page, u)
	})
}
