package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// peer is one of several servers on one database.
type peer struct {
	w     *world
	url   string
	token string // of a person; "" where people have no names
	kill  func()
	// signal sends a signal; ended waits for the end of the process.
	signal func(os.Signal)
	ended  func() error
}

// peer starts a server with a home of its own, as on another machine.
func (w *world) peer(name, store string, more ...string) *peer {
	w.t.Helper()
	p, line := w.machine(name, append([]string{"serve", "--port", "0", "--store", store}, more...)...)
	_, address, ok := strings.Cut(strings.TrimSpace(line), "http://")
	if !ok {
		w.t.Fatalf("the server says %q", line)
	}
	p.url = "http://" + strings.Fields(address)[0]
	return p
}

// machine starts lathe with a home of its own, and returns the first line it says.
func (w *world) machine(name string, args ...string) (*peer, string) {
	w.t.Helper()
	home := filepath.Join(filepath.Dir(w.home), name)
	config, err := os.ReadFile(filepath.Join(w.home, "config", "lathe.json"))
	if err == nil {
		err = os.MkdirAll(filepath.Join(home, "config"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "config", "lathe.json"), config, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command(args...)
	cmd.Env = append(cmd.Env, "LATHE_HOME="+home)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	ended := sync.OnceValue(func() error { return cmd.Wait() })
	p := &peer{w: w, kill: func() {
		_ = cmd.Process.Kill()
		_ = ended() // killed
	}, signal: func(s os.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			w.t.Error(err)
		}
	}, ended: ended}
	w.t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatalf("lathe %q says %q, %v", args, line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p, line
}

func (p *peer) address(path string) string {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	return p.url + path + mark + "directory=" + url.QueryEscape(p.w.dir)
}

// call makes a request, which has to succeed.
func (p *peer) call(method, path, body string) []byte {
	p.w.t.Helper()
	status, out := p.try(method, path, body)
	if status/100 != 2 {
		p.w.t.Fatalf("%s %s: %d %s", method, path, status, out)
	}
	return out
}

// try is call for a request that may be refused.
func (p *peer) try(method, path, body string) (status int, out []byte) {
	p.w.t.Helper()
	return p.request(method, p.address(path), body)
}

// plainly is try for a request that names no directory.
func (p *peer) plainly(method, path, body string) (status int, out []byte) {
	p.w.t.Helper()
	return p.request(method, p.url+path, body)
}

func (p *peer) request(method, url, body string) (status int, out []byte) {
	p.w.t.Helper()
	req, err := http.NewRequestWithContext(p.w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.w.t.Fatal(err)
	}
	defer res.Body.Close()
	if out, err = io.ReadAll(res.Body); err != nil {
		p.w.t.Fatal(err)
	}
	return res.StatusCode, out
}

// person adds somebody to a store and returns the token.
func (w *world) person(store string, more ...string) string {
	w.t.Helper()
	return strings.TrimSpace(w.must(w.onStore(store, append([]string{"user", "add"}, more...)...)))
}

// listen returns the events of a server as they come, each as its JSON.
func (p *peer) listen() <-chan string {
	p.w.t.Helper()
	return p.listenTo("/event")
}

// listenTo is listen for the stream of a path.
func (p *peer) listenTo(path string) <-chan string {
	p.w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p.w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", p.address(path), nil)
	if err != nil {
		p.w.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.w.t.Fatal(err)
	}
	events := make(chan string, 10_000)
	go func() {
		defer res.Body.Close()
		defer close(events)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- data
			}
		}
	}()
	return events
}

// hears waits for an event that holds all of the words, and returns those before it.
func hears(t *testing.T, events <-chan string, words ...string) (before []string) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case ev, ok := <-events:
			if !ok {
				t.Fatalf("the stream ended before %q", words)
			}
			all := true
			for _, w := range words {
				all = all && strings.Contains(ev, w)
			}
			if all {
				return before
			}
			before = append(before, ev)
		case <-limit:
			t.Fatalf("%q was not heard, but:\n%s", words, strings.Join(before, "\n"))
		}
	}
}

// A turn on one server is followed on another as it happens. When its server is killed
// the other one closes what it left open, says so, and goes on with the session.
func TestServersShare(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{
			llmtest.Text(strings.Repeat("so far ", 20)),
			llmtest.Call{Name: "bash", Args: `{"command":"echo printed; touch began; sleep 1000","description":"wait"}`},
		}},
		{Blocks: []llmtest.Block{llmtest.Text("resumed")}},
	})
	a, b := w.peer("a", store), w.peer("b", store)
	var ses struct{ ID string }
	if err := json.Unmarshal(a.call("POST", "/session", `{"title":"shared","permission":[{"permission":"bash","pattern":"*","action":"allow"}]}`), &ses); err != nil {
		t.Fatal(err)
	}
	heard := b.listen()
	prompt := func(text string) string { return fmt.Sprintf(`{"parts":[{"type":"text","text":%q}]}`, text) }
	a.call("POST", "/session/"+ses.ID+"/prompt_async", prompt("go"))
	hears(t, heard, `"session.status"`, ses.ID, `"busy"`)
	hears(t, heard, `"message.part.updated"`, "so far")
	hears(t, heard, `"message.part.updated"`, `"running"`, "printed")
	if status := string(b.call("GET", "/session/status", "")); !strings.Contains(status, ses.ID) || !strings.Contains(status, "busy") {
		t.Errorf("on the other server the session is %s", status)
	}
	w.await("began")

	a.kill()
	before := strings.Join(hears(t, heard, `"session.status"`, ses.ID, `"idle"`), "\n")
	if !strings.Contains(before, "interrupted") || !strings.Contains(before, `"MessageAbortedError"`) {
		t.Errorf("what was left open is not closed:\n%s", before)
	}
	answer := string(b.call("POST", "/session/"+ses.ID+"/message", prompt("go on")))
	if !strings.Contains(answer, "resumed") {
		t.Errorf("the next prompt is answered %s", answer)
	}
	accepted(t, model)
}

// A session that one server works on can be prompted, answered and stopped through
// another: its requests are done where the session is.
func TestAnyServerServes(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo allowed","description":"say"}`}}},
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"touch began; sleep 1000","description":"wait"}`}}},
	})
	a, b := w.peer("a", store), w.peer("b", store)
	var ses struct{ ID string }
	if err := json.Unmarshal(a.call("POST", "/session", `{"title":"shared","permission":[{"permission":"bash","pattern":"*","action":"ask"}]}`), &ses); err != nil {
		t.Fatal(err)
	}
	heard := b.listen()
	prompt := func(text string) string { return fmt.Sprintf(`{"parts":[{"type":"text","text":%q}]}`, text) }
	asked := func(command string) string {
		t.Helper()
		var ev struct{ Properties struct{ ID string } }
		if err := json.Unmarshal([]byte(hearsNext(t, heard, `"permission.asked"`, command)), &ev); err != nil {
			t.Fatal(err)
		}
		return ev.Properties.ID
	}
	a.call("POST", "/session/"+ses.ID+"/prompt_async", prompt("go"))
	b.call("POST", "/permission/"+asked("echo allowed")+"/reply", `{"reply":"once"}`)
	id := asked("touch began")
	b.call("POST", "/session/"+ses.ID+"/prompt_async", prompt("and this, from the other server"))
	late := w.peer("late", store) // it has heard of nothing
	if waits := string(late.call("GET", "/permission", "")); !strings.Contains(waits, id) {
		t.Errorf("on a server that started later there waits %s", waits)
	}
	if status := string(late.call("GET", "/session/status", "")); !strings.Contains(status, ses.ID) {
		t.Errorf("on a server that started later the session is %s", status)
	}
	late.call("POST", "/permission/"+id+"/reply", `{"reply":"once"}`)
	w.await("began")
	b.call("POST", "/session/"+ses.ID+"/abort", "")
	hears(t, heard, `"session.status"`, ses.ID, `"idle"`)
	messages := string(b.call("GET", "/session/"+ses.ID+"/message", ""))
	for _, want := range []string{"allowed", "and this, from the other server", "MessageAbortedError"} {
		if !strings.Contains(messages, want) {
			t.Errorf("%q is not in %s", want, messages)
		}
	}
	accepted(t, model)
}

// hearsNext is hears that returns the event.
func hearsNext(t *testing.T, events <-chan string, words ...string) string {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case ev := <-events:
			all := ev != ""
			for _, w := range words {
				all = all && strings.Contains(ev, w)
			}
			if all {
				return ev
			}
		case <-limit:
			t.Fatalf("%q was not heard", words)
		}
	}
}
