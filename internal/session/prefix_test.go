package session_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/llm/llmtest"
	"lathe/internal/session"
)

// adapters are the four protocols as a configuration names them.
var adapters = map[string]string{
	"anthropic": "@ai-sdk/anthropic", "openai": "@ai-sdk/openai", "openaichat": "@ai-sdk/openai-compatible", "google": "@ai-sdk/google",
}

// history drives one session over processes, days and agents.
type history struct {
	*world
	server *llmtest.Server
	svc    *session.Service
	stop   func()
	id     lathe.SessionID
	agent  string
	files  int
}

func newHistory(t *testing.T, npm string) *history {
	w := newWorld(t)
	h := &history{world: w, server: llmtest.New(t, nil), agent: "build"}
	w.write(map[string]string{
		"repo/AGENTS.md": "Use tabs.\n",
		"home/lathe/config/lathe.json": fmt.Sprintf(`{"provider": {"fake": {"npm": %q, "options": {"baseURL": %q, "apiKey": "k"},
			"models": {"m": {"name": "M", "tool_call": true, "limit": {"context": 200000, "output": 8000}}}}}}`, npm, h.server.URL+"/v1"),
	})
	h.svc, h.stop = w.service()
	h.id = w.create(h.svc)
	t.Cleanup(func() { h.stop() })
	return h
}

// turn runs a prompt that takes n steps with a call each, and a last one.
func (h *history) turn(n int) {
	h.t.Helper()
	for range n {
		name := fmt.Sprintf("f%d.txt", h.files)
		h.files++
		h.write(map[string]string{"repo/" + name: "text of " + name})
		h.server.Add(llmtest.Step{Blocks: []llmtest.Block{
			llmtest.Text("I read " + name), llmtest.Call{Name: "read", Args: fmt.Sprintf(`{"filePath":%q}`, h.repo+"/"+name)},
		}})
	}
	h.server.Add(llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("done")}})
	_, run, err := h.svc.Prompt(h.t.Context(), h.id, session.Prompt{
		Agent: h.agent, Model: lathe.ModelRef{Provider: "fake", Model: "m"}, Parts: []lathe.PartBody{&lathe.Text{Text: fmt.Sprintf("read %d files", n)}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := run.Wait(h.t.Context())
	if err != nil || out.Failure != nil {
		h.t.Fatalf("the turn ended with %v, %v", out.Failure, err)
	}
}

// restart goes on in a new process.
func (h *history) restart() {
	h.stop()
	h.svc, h.stop = h.service()
}

// bodies returns the main requests so far. The marks of Anthropic's cache move,
// and are left out.
func (h *history) bodies() [][]byte {
	var out [][]byte
	for _, r := range h.server.Requests() {
		if len(r.Tools) == 0 {
			continue
		}
		if r.Rejected != "" {
			h.t.Fatalf("a provider would refuse the request: %s", r.Rejected)
		}
		out = append(out, bytes.ReplaceAll(r.Body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil))
	}
	return out
}

// checkPrefixes reports each request that does not begin with the one before it,
// but for the brackets that close that one.
func (h *history) checkPrefixes() {
	h.t.Helper()
	list := h.bodies()
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		if rest := string(a[n:]); strings.Trim(rest, "]}") != "" {
			h.t.Errorf("request %d leaves request %d at byte %d of %d:\n  was %.200s\n  now %.200s", i, i-1, n, len(a), a[max(0, n-40):], b[max(0, n-40):])
			return
		}
	}
}

// TestRequestsArePrefixes holds that what a provider may have cached of a session
// stays the beginning of every later request, whatever happens around it.
func TestRequestsArePrefixes(t *testing.T) {
	for name, npm := range adapters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, npm)
			h.turn(20)
			h.turn(1)
			h.restart()
			h.turn(1)
			h.agent = "plan"
			h.turn(1)
			h.agent = "build"
			h.turn(1)
			h.write(map[string]string{"repo/AGENTS.md": "Use spaces.\n"})
			h.turn(1)
			h.sleep(24 * time.Hour)
			h.restart()
			h.turn(2)
			if got := len(h.bodies()); got != 34 {
				t.Errorf("%d requests, want 34", got)
			}
			h.checkPrefixes()
		})
	}
}

// TestRequestsArePrefixesInAnyOrder draws histories.
func TestRequestsArePrefixesInAnyOrder(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 0))
			names := []string{"anthropic", "openai", "openaichat", "google"}
			h := newHistory(t, adapters[names[seed%4]])
			for range 12 {
				switch rnd.IntN(6) {
				case 0:
					h.restart()
				case 1:
					h.agent = []string{"build", "plan"}[rnd.IntN(2)]
				case 2:
					h.write(map[string]string{"repo/AGENTS.md": fmt.Sprintf("Rule %d.\n", rnd.IntN(3))})
				case 3:
					h.sleep(time.Duration(rnd.IntN(40)) * time.Hour)
				}
				h.turn(rnd.IntN(3))
			}
			h.checkPrefixes()
		})
	}
}
