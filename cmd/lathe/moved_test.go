package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// heard is an event with its id, as a listener has it.
type heard struct{ id, kind, data string }

// numbered reports whether the event has its own number on every server.
func (h heard) numbered() bool { return h.id != "" && !strings.Contains(h.id, ".") }

// follower is a client that says where it was when it changes its server.
type follower struct {
	t    *testing.T
	last string

	mu  sync.Mutex
	all []heard
	end context.CancelFunc
	wg  sync.WaitGroup
}

// follow listens to a server, from where the follower is.
func (f *follower) follow(p *peer) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f.end = cancel
	f.t.Cleanup(f.leave)
	req, err := http.NewRequestWithContext(ctx, "GET", p.address("/event")+"&ids=true", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if f.last != "" {
		req.Header.Set("Last-Event-ID", f.last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	f.wg.Go(func() {
		defer res.Body.Close()
		id := ""
		lines := bufio.NewScanner(res.Body)
		for lines.Buffer(nil, 16<<20); lines.Scan(); {
			line := lines.Text()
			if is, ok := strings.CutPrefix(line, "id: "); ok {
				id = is
			} else if data, ok := strings.CutPrefix(line, "data: "); ok {
				f.take(id, data)
				id = ""
			}
		}
	})
}

func (f *follower) take(id, data string) {
	var ev struct{ Type string }
	err := json.Unmarshal([]byte(data), &ev)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.t.Errorf("%v in %s", err, data)
	}
	f.all = append(f.all, heard{id, ev.Type, data})
	if id != "" {
		f.last = id
	}
}

// leave loses the connection.
func (f *follower) leave() {
	f.end()
	f.wg.Wait()
}

// await waits until it has heard all of the words in one event, after those it has passed,
// and returns how many events that were.
func (f *follower) await(passed int, words ...string) int {
	f.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		f.mu.Lock()
		for i := passed; i < len(f.all); i++ {
			if all(f.all[i].data, words) {
				f.mu.Unlock()
				return i + 1
			}
		}
		if time.Now().After(late) {
			for _, h := range f.all[passed:] {
				f.t.Log(h.id, h.data)
			}
			f.mu.Unlock()
			f.t.Fatalf("%q was not heard", words)
		}
		f.mu.Unlock()
	}
}

func all(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// told returns the numbered events that no newer one can replace.
func (f *follower) told() (out []heard) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.all {
		if h.numbered() && h.kind != "message.part.updated" {
			var ev struct{ Properties json.RawMessage }
			if err := json.Unmarshal([]byte(h.data), &ev); err != nil {
				f.t.Error(err)
			}
			out = append(out, heard{h.id, h.kind, string(ev.Properties)})
		}
	}
	return out
}

// parts returns what a client that shows parts shows at the end: it takes updates as they
// are and appends deltas.
func (f *follower) parts() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]string{}
	for _, h := range f.all {
		var ev struct {
			Properties struct {
				Part         struct{ ID, Text string }
				PartID       string
				Field, Delta string
			}
		}
		if err := json.Unmarshal([]byte(h.data), &ev); err != nil {
			f.t.Error(err)
		}
		switch p := ev.Properties; h.kind {
		case "message.part.updated":
			out[p.Part.ID] = p.Part.Text
		case "message.part.delta":
			out[p.PartID] += p.Delta
		}
	}
	return out
}

// A client that loses its server goes on at another one with the id of the last event that
// it has: it misses nothing and gets nothing twice, however often it moves, and in the
// end knows what one knows that stayed.
func TestListenerMovesToAnotherServer(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	var script llmtest.Script
	const steps = 8
	for i := range steps {
		script = append(script, llmtest.Step{Blocks: []llmtest.Block{
			llmtest.Text(fmt.Sprintf("第 %d 步 ", i) + strings.Repeat("words that stream ", 30)),
			llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":"touch at%d; until [ -e go%d ]; do sleep 0.02; done; echo done %d","description":"wait"}`, i, i, i)},
		}})
	}
	model := w.model("anthropic", append(script, llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("the end of it")}}))
	servers := []*peer{w.peer("a", store), w.peer("b", store), w.peer("c", store)}
	var ses struct{ ID string }
	if err := json.Unmarshal(servers[0].call("POST", "/session", `{"title":"moved","permission":[{"permission":"bash","pattern":"*","action":"allow"}]}`), &ses); err != nil {
		t.Fatal(err)
	}
	stayed, moved := &follower{t: t}, &follower{t: t}
	stayed.follow(servers[2])
	moved.follow(servers[0])
	stayed.await(0, "server.connected")
	moved.await(0, "server.connected")
	servers[1].call("POST", "/session/"+ses.ID+"/prompt_async", `{"parts":[{"type":"text","text":"go"}]}`)
	at := 0
	for i := range steps {
		w.await(fmt.Sprintf("at%d", i))
		if i == 0 { // its first server dies, with everything that it knows
			at = moved.await(at, `"session.status"`, `"busy"`)
			servers[0].kill()
			servers[0] = w.peer("a2", store)
		}
		w.write(fmt.Sprintf("go%d", i), "")
		moved.leave() // anywhere in what happens
		moved.follow(servers[(i+1)%len(servers)])
		at = moved.await(at, `"server.connected"`, `"resumed":true`)
	}
	moved.await(at, `"session.idle"`, ses.ID)
	stayed.await(0, `"session.idle"`, ses.ID)
	end := func(f *follower) []heard {
		told := f.told()
		first := slices.IndexFunc(told, func(h heard) bool { return h.kind == "message.updated" })
		last := slices.IndexFunc(told, func(h heard) bool { return h.kind == "session.idle" })
		if first < 0 || last < 0 {
			t.Fatalf("heard %v", told)
		}
		return told[first : last+1]
	}
	if diff := cmp.Diff(end(stayed), end(moved), cmp.AllowUnexported(heard{})); diff != "" {
		t.Errorf("who moved has heard something else (-stayed +moved):\n%s", diff)
	}
	if diff := cmp.Diff(stayed.parts(), moved.parts()); diff != "" {
		t.Errorf("who moved shows something else (-stayed +moved):\n%s", diff)
	}
	accepted(t, model)
}
