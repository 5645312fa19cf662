//go:build linux

// Command screen measures what the screen costs: the real program on a real
// pseudo terminal, with a model server on loopback that streams at a given speed.
//
//	go build -o /tmp/lathe ./cmd/lathe && go run ./bench/screen -lathe /tmp/lathe
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/sqlite"
)

func main() {
	program := flag.String("lathe", "lathe", "the program to measure")
	only := flag.String("only", "", "one step: idle, spinner, flood, inline, large or printed")
	flag.Parse()
	if err := measure(*program, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screen:", err)
		os.Exit(1)
	}
}

func measure(program, only string) error {
	program, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lathe-screen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m := &model{}
	srv := httptest.NewServer(m)
	defer srv.Close()
	defer srv.CloseClientConnections()
	p := place{program: program, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	if err := p.prepare(srv.URL); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(place, *model) error
	}{{"idle", idle}, {"spinner", spinner}, {"flood", flood}, {"inline", inline}, {"large", large}, {"printed", printed}} {
		if only != "" && only != step.name {
			continue
		}
		if err := step.run(p, m); err != nil {
			return err
		}
	}
	return nil
}

// place is where lathe runs.
type place struct{ program, home, work string }

func (p place) prepare(url string) error {
	for _, d := range []string{filepath.Join(p.home, "config"), p.work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	git := exec.Command("git", "init", "-q")
	git.Dir = p.work
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	conf, err := json.Marshal(map[string]any{"model": "test/m", "provider": map[string]any{"test": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url + "/v1", "apiKey": "k"},
		"models": map[string]any{"m": map[string]any{"tool_call": true, "limit": map[string]any{"context": 10000000, "output": 8192}}},
	}}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.home, "config", "lathe.json"), conf, 0o600)
}

// fill makes a session of prompts and answers.
func (p place) fill(ctx context.Context, id lathe.SessionID, messages int) error {
	db, err := sqlite.Open(ctx, sqlite.Options{Dir: filepath.Join(p.home, "data")})
	if err != nil {
		return err
	}
	defer db.Close()
	at := time.Now()
	return db.Store().Batch(ctx, func(tx store.Tx) error {
		if err := tx.CreateSession(lathe.Session{ID: id, Directory: p.work, Title: "large", Created: at, Updated: at}); err != nil {
			return err
		}
		for i := range messages {
			m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%s_%05d", id[4:], i)), SessionID: id, Created: at, Info: &lathe.User{Agent: "build"}}
			if i%2 == 1 {
				m.Info = &lathe.Assistant{Agent: "build", Completed: at, Finish: lathe.FinishStop}
			}
			text := fmt.Sprintf("Message %d with *some* `words`, 漢字.\n\n- one\n- two\n\n%s", i, strings.Repeat("what was said ", 20))
			m.Parts = []lathe.Part{{ID: lathe.PartID(fmt.Sprintf("prt_%s_%05d", id[4:], i)), Body: &lathe.Text{Text: text, Time: lathe.Span{Start: at, End: at}}}}
			if err := tx.AddMessage(&m); err != nil {
				return err
			}
		}
		return nil
	})
}

// model is a server that streams tokens.
type model struct {
	mu     sync.Mutex
	tokens int           // to send
	every  time.Duration // a burst of ten
	stall  bool          // says nothing after the first token
	bodies []string
}

func (m *model) set(tokens int, every time.Duration, stall bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens, m.every, m.stall = tokens, every, stall
}

func (m *model) asked(words string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.bodies {
		if strings.Contains(b, words) {
			return true
		}
	}
	return false
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Body.Read(buf)
		body.Write(buf[:n])
		if err != nil {
			break
		}
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, body.String())
	tokens, every, stall := m.tokens, m.every, m.stall
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	title := !strings.Contains(body.String(), `"tools"`)
	if title {
		tokens, stall = 1, false
	}
	out := http.NewResponseController(w)
	send := func(text string) {
		data, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text}}}})
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	next := time.Now()
	for i := range tokens {
		word := "word "
		switch {
		case title: // the measuring waits for the first "word" of the answer
			word = "Named"
		case i%120 == 119:
			word = "end.\n\n"
		}
		send(word)
		if stall {
			out.Flush()
			<-r.Context().Done()
			return
		}
		if i%10 == 9 && every > 0 {
			out.Flush()
			next = next.Add(every)
			time.Sleep(time.Until(next))
		}
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":10}}\n\ndata: [DONE]\n\n")
	out.Flush()
}
