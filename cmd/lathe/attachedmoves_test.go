package main

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/llm/llmtest"
	"lathe/internal/screentest"
	"lathe/internal/store/postgres/pgtest"
)

// A screen that was given two servers goes on at the other one when the one that it is attached
// to is killed in the middle of a turn: it shows the rest of it, says where it is, and takes the
// next prompt.
func TestScreenMovesToAnotherServer(t *testing.T) {
	t.Parallel()
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
	named := strings.Replace(b.url, "127.0.0.1", "localhost", 1)
	s := screentest.Open(t, "the screen", w.command("attach", a.url, named, "--session", id), 30, 110)
	b.call("POST", "/session/"+id+"/prompt_async", `{"parts":[{"type":"text","text":"go"}]}`)
	s.Sees("It-begins")
	w.await("began")
	a.kill()
	s.Sees("localhost") // in the state line
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
