package session_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// Another model goes on where the provider of the one that was asked for is down, from
// where it stopped; the person is told, and prompts after it do not try the first again.
func TestStandIn(t *testing.T) {
	down := true
	var models []string
	p := newPlay(t, map[string]string{"home/lathe/config/lathe.json": `{"fallback": ["script/m", "script/second", "script/third"]}`}, func(req *llm.Request) say {
		models = append(models, req.Model)
		switch {
		case req.Model == "m" && len(models) == 1:
			return say{calls: []use{{"read", args{"filePath": "main.go"}}}}
		case down && req.Model == "m":
			return say{err: &llm.Error{Kind: llm.KindServer, Message: "overloaded", Status: 529, Retryable: true, RetryAfter: 0}}
		case down && req.Model == "second":
			return say{err: &llm.Error{Kind: llm.KindAuth, Message: "no credit", Status: 402, RetryAfter: -1}}
		}
		return say{text: "Done by " + req.Model}
	}).open()
	told := p.retries()
	id := p.session()
	out := p.prompt(id, session.Prompt{}, "go")
	if out.Failure != nil || lastTextOf(out.Last) != "Done by third" {
		t.Fatalf("the turn ended with %v, %q", out.Failure, lastTextOf(out.Last))
	}
	if got := out.Last.Info.(*lathe.Assistant).Model; got.Model != "third" {
		t.Errorf("the answer is stored as that of %s", got)
	}
	if d := cmp.Diff([]string{"m", "m", "m", "second", "third"}, models); d != "" {
		t.Errorf("asked were (-want +got):\n%s", d)
	}
	said := strings.Join(told(), "\n")
	for _, want := range []string{"script/m failed", "script/second goes on in its place", "script/third goes on in its place"} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody was told that %q: %s", want, said)
		}
	}
	models = nil
	down = false
	p.prompt(id, session.Prompt{}, "again")
	if d := cmp.Diff([]string{"third"}, models); d != "" {
		t.Errorf("asked next were (-want +got):\n%s", d)
	}
}

// Without a fallback a failure is what it was, and a request that is wrong in itself
// fails for every model alike.
func TestNoStandIn(t *testing.T) {
	for name, tt := range map[string]struct {
		config string
		err    *llm.Error
		asked  int
	}{
		"none":          {`{}`, &llm.Error{Kind: llm.KindAuth, Message: "no", Status: 401, RetryAfter: -1}, 1},
		"unknown model": {`{"fallback": ["nobody/nothing"]}`, &llm.Error{Kind: llm.KindAuth, Message: "no", Status: 401, RetryAfter: -1}, 1},
		"all fail":      {`{"fallback": ["script/second"]}`, &llm.Error{Kind: llm.KindAuth, Message: "no", Status: 401, RetryAfter: -1}, 2},
		"invalid":       {`{"fallback": ["script/second"]}`, &llm.Error{Kind: llm.KindInvalid, Message: "no", Status: 400, RetryAfter: -1}, 1},
		"filtered":      {`{"fallback": ["script/second"]}`, &llm.Error{Kind: llm.KindFilter, Message: "no", RetryAfter: -1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			p := newPlay(t, map[string]string{"home/lathe/config/lathe.json": tt.config}, func(*llm.Request) say { n++; return say{err: tt.err} }).open()
			out := p.prompt(p.session(), session.Prompt{}, "go")
			if out.Failure == nil || n != tt.asked {
				t.Errorf("%d requests, and %v", n, out.Failure)
			}
		})
	}
}

// retries returns what people are told of requests that are made again.
func (p *play) retries() func() []string {
	var mu sync.Mutex
	var said []string
	p.bus.Subscribe(p.t.Context(), bus.Filter{Tap: func(e lathe.Envelope) {
		if s, ok := e.Event.(lathe.SessionStatus); ok {
			if r, ok := s.Status.(lathe.Retrying); ok {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, r.Message)
			}
		}
	}}, bus.Limits{})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

func lastTextOf(m *lathe.Message) string {
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok {
			return t.Text
		}
	}
	return ""
}
