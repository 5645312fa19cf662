package session_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm/llmtest"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// protocols maps each protocol to its name in a configuration.
var protocols = map[string]string{
	"anthropic": "@ai-sdk/anthropic", "openai": "@ai-sdk/openai",
	"openaichat": "@ai-sdk/openai-compatible", "google": "@ai-sdk/google",
}

// served is a service whose model test/m answers from a script.
type served struct {
	*session.Service
	model *llmtest.Server
	dir   string
}

// serve starts a service and its model server, both until the test ends or stop
// is called.
func serve(t *testing.T, protocol string, retries int) (s *served, stop func()) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	model, err := llmtest.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := json.Marshal(map[string]any{"model": "test/m", "provider": map[string]any{"test": map[string]any{
		"npm": protocols[protocol], "options": map[string]any{"baseURL": model.URL + "/v1", "apiKey": "k"},
		"models": map[string]any{"m": map[string]any{"reasoning": true, "tool_call": true, "limit": map[string]any{"context": 100000, "output": 4096}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": root, "LATHE_HOME": filepath.Join(root, "home"), "PATH": os.Getenv("PATH"), "LATHE_CONFIG_CONTENT": string(conf)}
	cache := filepath.Join(root, "home", "cache")
	models, err := catalog.Open(catalog.Options{CacheDir: cache, NoFetch: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	e, err := enginetest.Open(t.Context(), enginetest.Options{
		Env: env, Instance: instance.Options{Catalog: models, Environ: []string{"PATH=" + os.Getenv("PATH")}},
		Session: session.Options{Retries: turn.Retries{Max: retries, Base: time.Nanosecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &served{e.Service, model, dir}, func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		model.Close()
	}
}

// ask runs one prompt in a new session to its end.
func (s *served) ask(t *testing.T, what string) (turn.Outcome, []lathe.Message) {
	t.Helper()
	sess, err := s.Create(t.Context(), session.Create{Directory: s.dir, Title: what})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	_, run, err := s.Prompt(t.Context(), sess.ID, session.Prompt{Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	out, err := run.Wait(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	msgs, err := s.Messages(t.Context(), sess.ID, 0)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	closed(t, what, msgs)
	for _, r := range s.model.Requests() {
		if r.Rejected != "" {
			t.Fatalf("%s: a real provider would refuse a request: %s", what, r.Rejected)
		}
	}
	return out, msgs
}

// closed checks that nothing of a session is left open.
func closed(t *testing.T, what string, msgs []lathe.Message) {
	t.Helper()
	for _, m := range msgs {
		if a, ok := m.Info.(*lathe.Assistant); ok && a.Completed.IsZero() {
			t.Fatalf("%s: an answer is not completed: %+v", what, a)
		}
		for _, p := range m.Parts {
			open := false
			switch b := p.Body.(type) {
			case *lathe.Text:
				open = b.Time.End.IsZero()
			case *lathe.Reasoning:
				open = b.Time.End.IsZero()
			case *lathe.ToolCall:
				switch b.State.(type) {
				case *lathe.ToolDone, *lathe.ToolFailed:
				default:
					open = true
				}
			}
			if _, user := m.Info.(*lathe.User); open && !user {
				t.Fatalf("%s: a part is left open: %#v", what, p.Body)
			}
		}
	}
}

// answer is what the assistant said and called over a whole session.
func answer(msgs []lathe.Message) (text string, calls int) {
	for _, m := range msgs {
		if _, ok := m.Info.(*lathe.Assistant); !ok {
			continue
		}
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.Text:
				text += b.Text + "|"
			case *lathe.ToolCall:
				calls++
			}
		}
	}
	return text, calls
}

// cutStep is an answer of every kind of block.
func cutStep(dir string) llmtest.Step {
	return llmtest.Step{Blocks: []llmtest.Block{
		llmtest.Reasoning{Text: "hm, ünïcode"}, llmtest.Text("so"),
		llmtest.Call{ID: "call_1", Name: "read", Args: fmt.Sprintf(`{"filePath":%q}`, filepath.Join(dir, "a.txt"))},
		llmtest.Call{ID: "call_2", Name: "list", Args: "{}"},
	}}
}

// TestCutAnywhere cuts an answer at every byte. The request is repeated and the
// turn ends well: the words of the lost attempt do not stand there twice, and a
// call that ran is neither lost nor run again.
func TestCutAnywhere(t *testing.T) {
	const batch = 200 // the server keeps what it was asked
	for protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			body, err := llmtest.Transcript(protocol, cutStep(strings.Repeat("x", 100)))
			if err != nil {
				t.Fatal(err)
			}
			// Every byte takes a minute, so a normal run takes every fifth, from a
			// random one on; all of them with LATHE_TEST_EVERY_BYTE=1.
			stride := 5
			switch {
			case os.Getenv("LATHE_TEST_EVERY_BYTE") != "":
				stride = 1
			case testing.Short():
				stride = 37
			}
			first := 1 + rand.IntN(stride)
			var s *served
			stop := func() {}
			defer func() { stop() }()
			n := 0
			for at := first; at < len(body); at += stride {
				if n%batch == 0 {
					stop()
					s, stop = serve(t, protocol, 3)
				}
				n++
				what := fmt.Sprintf("cut at byte %d of %d", at, len(body))
				cut := cutStep(s.dir)
				cut.Drop, cut.DropAt = true, at
				s.model.Add(cut, llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("final")}})
				out, msgs := s.ask(t, what)
				if out.Failure != nil {
					t.Fatalf("%s: %v", what, out.Failure)
				}
				text, calls := answer(msgs)
				switch {
				case calls == 0 && text == "final|":
				case calls <= 2 && text == "so|final|":
				default:
					t.Fatalf("%s: %d calls, said %q", what, calls, text)
				}
				if s.model.Left() > 0 {
					// The cut came after the end of the answer: nothing was missing.
					t.Fatalf("%s: %d answers were not asked for", what, s.model.Left())
				}
			}
		})
	}
}

// TestCutAlways cuts every attempt: the turn ends with a failure that says so,
// after a bounded number of requests.
func TestCutAlways(t *testing.T) {
	for protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s, stop := serve(t, protocol, 2)
			defer stop()
			body, err := llmtest.Transcript(protocol, llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("never whole")}})
			if err != nil {
				t.Fatal(err)
			}
			for at := 1; at < len(body)/2; at += 41 {
				what := fmt.Sprintf("cut at byte %d", at)
				before := len(s.model.Requests())
				s.model.Add(llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("never whole")}, Drop: true, DropAt: at, Times: 3})
				out, msgs := s.ask(t, what)
				api, ok := out.Failure.(*lathe.APIFailure)
				if !ok || !strings.Contains(api.Message, "gave up after 3 attempts") {
					t.Fatalf("%s: failure %#v", what, out.Failure)
				}
				if n := len(s.model.Requests()) - before; n != 3 {
					t.Fatalf("%s: %d requests", what, n)
				}
				last, ok := msgs[len(msgs)-1].Info.(*lathe.Assistant)
				if !ok || last.Error == nil {
					t.Fatalf("%s: the session does not tell of the failure", what)
				}
			}
		})
	}
}
