package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// terminalAt attaches to a terminal at a server; sees returns once it has shown a text.
func terminalAt(t *testing.T, p *peer, id string) (conn *websocket.Conn, sees func(text string) string) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), p.address("/pty/"+id+"/connect"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return conn, func(text string) string {
		t.Helper()
		var all strings.Builder
		for !strings.Contains(all.String(), text) {
			_, data, err := conn.Read(t.Context())
			if err != nil {
				t.Fatalf("%q does not come: %q, %v", text, all.String(), err)
			}
			all.Write(data)
		}
		return all.String()
	}
}

// A terminal in a directory that a worker has runs there, and any server carries it: it is
// listed, told of, resized, typed into and closed, and a worker that goes says so.
func TestTerminalsOnWorkers(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{})
	worker := w.worker("worker", store)
	front, other := w.peer("front", store, "--workers-only"), w.peer("other", store, "--workers-only")
	made := func() (id string) {
		var out struct{ ID, Cwd string }
		if err := json.Unmarshal(front.call("POST", "/pty", `{"command":"/bin/sh"}`), &out); err != nil || out.Cwd != w.dir {
			t.Fatalf("%+v, %v", out, err)
		}
		return out.ID
	}
	events := other.listen()
	id := made()
	hears(t, events, `"pty.created"`, id)
	for _, p := range []*peer{front, other} {
		if list := string(p.call("GET", "/pty", "")); strings.Count(list, id) != 1 {
			t.Errorf("the terminals are %s", list)
		}
	}
	other.call("PUT", "/pty/"+id, `{"size":{"rows":33,"cols":101}}`)
	hears(t, events, `"pty.updated"`, id)
	conn, sees := terminalAt(t, other, id)
	types := func(text string) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	types("stty size; echo 'h\u00e9l'lo; pwd > where\n")
	if text := sees("h\u00e9llo"); !strings.Contains(text, "33 101") {
		t.Errorf("%q", text)
	}
	w.await("where")
	_, again := terminalAt(t, front, id) // another sees what was, and what comes
	again("h\u00e9llo")
	types("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done\n")
	sees("line 19999")
	types("exit\n")
	var err error
	for err == nil {
		_, _, err = conn.Read(t.Context())
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusNormalClosure {
		t.Errorf("closed with %v (%v)", code, err)
	}
	hears(t, events, `"pty.exited"`, id)
	if status, out := front.try("GET", "/pty/"+id, ""); status != http.StatusNotFound {
		t.Errorf("an ended one: %d %s", status, out)
	}

	id = made()
	conn, sees = terminalAt(t, other, id)
	types("echo on''e more\n")
	sees("one more")
	worker.signal(os.Interrupt)
	sees("[lathe: the worker stops, and its terminals with it]")
	hears(t, events, `"pty.exited"`, id)
	for err = nil; err == nil; {
		_, _, err = conn.Read(t.Context())
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusGoingAway {
		t.Errorf("closed with %v (%v)", code, err)
	}
}

// Who has a terminal of a worker open that is killed is told so.
func TestTerminalOfAKilledWorker(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{})
	worker := w.worker("worker", store)
	front := w.peer("front", store, "--workers-only")
	var made struct{ ID string }
	if err := json.Unmarshal(front.call("POST", "/pty", `{"command":"/bin/sh"}`), &made); err != nil {
		t.Fatal(err)
	}
	conn, sees := terminalAt(t, front, made.ID)
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("echo al''ive\n")); err != nil {
		t.Fatal(err)
	}
	sees("alive")
	worker.kill()
	sees("is not heard of any more")
}

// A terminal on a worker is for owners of everything, as all terminals are; for others there is
// none, whichever server they ask, and whatever directory they name.
func TestTerminalsOnWorkersAreNotForEverybody(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{})
	token := func(more ...string) string { return w.person(store, more...) }
	ann := token("ann", "--role", "owner")
	elsewhere := *w
	elsewhere.dir = t.TempDir()
	strangers := map[string]string{
		"an owner of another project": token("bob", "--role", "owner", "--project", elsewhere.dir),
		"an author":                   token("carol"),
		"nobody":                      "",
	}
	w.worker("worker", store)
	front, other := w.peer("front", store, "--workers-only"), w.peer("other", store, "--workers-only")
	front.token = ann
	var made struct{ ID string }
	if err := json.Unmarshal(front.call("POST", "/pty", `{"command":"/bin/sh"}`), &made); err != nil {
		t.Fatal(err)
	}
	attach := func(p *peer) (*websocket.Conn, error) {
		h := http.Header{}
		if p.token != "" {
			h.Set("Authorization", "Bearer "+p.token)
		}
		conn, _, err := websocket.Dial(t.Context(), p.address("/pty/"+made.ID+"/connect"), &websocket.DialOptions{HTTPHeader: h})
		return conn, err
	}
	named := func(p *peer, w *world) *peer { return &peer{w: w, url: p.url} }
	for who, stranger := range strangers {
		for _, asks := range []*peer{named(front, w), named(other, w), named(front, &elsewhere), named(other, &elsewhere)} {
			asks.token = stranger
			if conn, err := attach(asks); err == nil {
				_ = conn.CloseNow()
				t.Errorf("%s is attached", who)
			}
			if _, out := asks.try("GET", "/pty", ""); strings.Contains(string(out), made.ID) {
				t.Errorf("%s is told of it: %s", who, out)
			}
			for method, body := range map[string]string{"GET": "", "PUT": `{"title":"taken"}`, "DELETE": ""} {
				if status, out := asks.try(method, "/pty/"+made.ID, body); status < 400 {
					t.Errorf("%s by %s: %d %s", method, who, status, out)
				}
			}
		}
	}
	if out := string(front.call("GET", "/pty/"+made.ID, "")); strings.Contains(out, "taken") {
		t.Errorf("it was renamed: %s", out)
	}
	owner := *other
	owner.token = ann
	conn, err := attach(&owner)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.CloseNow()
}
