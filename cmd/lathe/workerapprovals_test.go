package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"lathe/internal/api"
	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// An "always" holds on every worker and server, restarted ones too, until it is taken back on
// any of them. Who only reads cannot give one, nor take one back.
func TestAlwaysHoldsOnAllWorkers(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	ann, bob, reader := w.person(store, "ann", "--role", "author"), w.person(store, "bob", "--role", "author"), w.person(store, "rita", "--role", "reader")
	call := func(command string) llmtest.Step {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"` + command + `","description":"say"}`}}}
	}
	said := llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("done")}}
	model := w.model("anthropic", llmtest.Script{call("printf one"), said, call("printf two"), said, call("printf three"), said})
	first := w.worker("first", store)
	front := w.peer("front", store, "--workers-only")
	as := func(p *peer, token string) *peer { named := *p; named.token = token; return &named }
	asks := func(p *peer) (waiting []struct{ ID string }) {
		t.Helper()
		if err := json.Unmarshal(p.call("GET", "/permission", ""), &waiting); err != nil {
			t.Fatal(err)
		}
		return waiting
	}
	prompt := func(p *peer) (session string) {
		t.Helper()
		id := p.session(askBash)
		p.call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
		return id
	}
	ended := func(p *peer, id string) bool {
		return strings.Contains(string(p.call("GET", "/session/"+id+"/message", "")), `"done"`)
	}

	id := prompt(as(front, ann))
	waitFor(t, func() bool { return len(asks(as(front, ann))) == 1 })
	reply := "/permission/" + asks(as(front, ann))[0].ID + "/reply"
	if status, out := as(front, reader).try("POST", reply, `{"reply":"always"}`); status != http.StatusForbidden {
		t.Errorf("of a reader: %d %s", status, out)
	}
	as(front, ann).call("POST", reply, `{"reply":"always"}`)
	waitFor(t, func() bool { return ended(as(front, ann), id) })

	// Another worker, another server, another person.
	first.signal(os.Interrupt)
	_ = first.ended()
	front.kill()
	w.worker("second", store)
	other := w.peer("front", store, "--workers-only")
	id = prompt(as(other, bob))
	waitFor(t, func() bool { return ended(as(other, bob), id) || len(asks(as(other, bob))) > 0 })
	if waiting := asks(as(other, bob)); len(waiting) > 0 {
		t.Fatalf("it is asked again: %v", waiting)
	}

	var given []api.Approval
	if err := json.Unmarshal(as(other, reader).call("GET", "/lathe/approval", ""), &given); err != nil || len(given) != 1 || given[0].By != "ann" || given[0].Until == 0 || given[0].Stored {
		t.Fatalf("given is %+v, %v", given, err)
	}
	back, err := json.Marshal(given[0])
	if err != nil {
		t.Fatal(err)
	}
	if status, out := as(other, reader).try("POST", "/lathe/approval/revoke", string(back)); status != http.StatusForbidden {
		t.Errorf("taken back by a reader: %d %s", status, out)
	}
	as(other, ann).call("POST", "/lathe/approval/revoke", string(back))
	id = prompt(as(other, bob))
	waitFor(t, func() bool { return len(asks(as(other, bob))) == 1 })
	as(other, bob).call("POST", "/permission/"+asks(as(other, bob))[0].ID+"/reply", `{"reply":"once"}`)
	waitFor(t, func() bool { return ended(as(other, bob), id) })
	accepted(t, model)
}
