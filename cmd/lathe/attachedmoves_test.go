package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"lathe/internal/llm/llmtest"
	"lathe/internal/screentest"
	"lathe/internal/store/postgres/pgtest"
)

// A screen that was given two servers, or the address of what stands before them, goes on at the
// other one when the one that it is attached to is killed in the middle of a turn: it shows the
// rest of it, says where it is, and takes the next prompt.
func TestScreenMovesToAnotherServer(t *testing.T) {
	t.Parallel()
	t.Run("two addresses", func(t *testing.T) {
		t.Parallel()
		screenMoves(t, func(a, b *peer) []string { return []string{a.url, strings.Replace(b.url, "127.0.0.1", "localhost", 1)} }, "localhost")
	})
	t.Run("one address", func(t *testing.T) {
		t.Parallel()
		screenMoves(t, func(a, b *peer) []string { return []string{before(t, a, b)} }, "")
	})
}

// before stands before servers as a load balancer does, which finds out that one is gone when it
// sends it something.
func before(t *testing.T, peers ...*peer) string {
	var at atomic.Int32
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(peers[int(at.Load())%len(peers)].url)
		if err != nil {
			t.Error(err)
		}
		r.SetURL(to)
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
		at.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}, ErrorLog: log.New(io.Discard, "", 0)}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// screenMoves attaches a screen to servers of which the first is killed; then it says where it is.
func screenMoves(t *testing.T, addresses func(a, b *peer) []string, then string) {
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{
			llmtest.Text("It-begins " + strings.Repeat("and goes on ", 5)),
			llmtest.Call{Name: "bash", Args: `{"command":"touch began; until [ -e go ]; do sleep 0.02; done; echo the middle","description":"wait"}`},
		}},
		{Blocks: []llmtest.Block{llmtest.Text("It-ends.")}},
		{Blocks: []llmtest.Block{llmtest.Text("Another-answer.")}},
	})
	a, b := w.peer("a", store), w.peer("b", store)
	id := w.session(b)
	s := screentest.Open(t, "the screen", w.command(append([]string{"attach", "--session", id}, addresses(a, b)...)...), 30, 110)
	b.call("POST", "/session/"+id+"/prompt_async", `{"parts":[{"type":"text","text":"go"}]}`)
	s.Sees("It-begins")
	w.await("began")
	a.kill()
	if then != "" {
		s.Sees(then) // in the state line
	}
	w.write("go", "")
	s.Sees("It-ends.")
	s.Types("and then?")
	s.Types("\r")
	s.Sees("Another-answer.")
	accepted(t, model)
}

// session makes a session in which commands need no permission.
func (w *world) session(p *peer) string {
	w.t.Helper()
	var ses struct{ ID string }
	if err := json.Unmarshal(p.call("POST", "/session", `{"title":"moves","permission":[{"permission":"bash","pattern":"*","action":"allow"}]}`), &ses); err != nil {
		w.t.Fatal(err)
	}
	return ses.ID
}
