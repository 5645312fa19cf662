package server

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
	"lathe/internal/llm"
)

// whim is a model that answers, calls a tool, fails or stalls for a moment, as the
// dice say.
type whim struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (w *whim) roll(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}

func (w *whim) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		dice := w.roll(10)
		select {
		case <-time.After(time.Duration(w.roll(3)) * time.Millisecond):
		case <-ctx.Done():
			yield(nil, context.Cause(ctx))
			return
		}
		if dice == 0 {
			yield(nil, &llm.Error{Kind: llm.KindInvalid, Message: "the dice said no", Status: 400, RetryAfter: -1})
			return
		}
		events := []llm.Event{llm.TextStart{ID: "t"}, llm.TextDelta{ID: "t", Text: strings.Repeat("So far the user asked for a few things and got answers. ", 3)}, llm.TextEnd{ID: "t"}, llm.Finish{Reason: llm.FinishStop}}
		if dice < 4 && len(req.Tools) > 0 && req.Choice != llm.ChoiceNone {
			id := "call_" + strconv.FormatUint(rand.Uint64(), 36)
			events = []llm.Event{llm.ToolStart{ID: id, CallID: id, Name: "list"}, llm.ToolEnd{ID: id, CallID: id, Name: "list", Input: "{}"}, llm.Finish{Reason: llm.FinishToolCalls}}
		}
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// racer is one session that several clients use at once, and what they were told.
type racer struct {
	*rig
	path    string
	mu      sync.Mutex
	waited  map[string]result // by message: what a POST was answered
	taken   []string          // messages that were answered 204
	prompts int
}

func (r *racer) act(rng *rand.Rand) {
	switch n := rng.IntN(20); {
	case n < 6:
		r.prompt(true)
	case n < 10:
		r.prompt(false)
	case n < 14:
		r.expect("abort", r.do("POST", r.path+"/abort", ""), 200)
	case n < 17:
		r.expect("summarize", r.do("POST", r.path+"/summarize", `{"providerID":"script","modelID":"whim"}`), 200, 400, 409, 502)
	case n < 18:
		r.revert()
	case n < 19:
		r.expect("unrevert", r.do("POST", r.path+"/unrevert", ""), 200, 409)
	default:
		res := r.do("POST", r.path+"/fork", "{}")
		r.expect("fork", res, 200)
		r.closed(res)
	}
}

// expect checks the status of an answer; what comes after the deletion is not found.
func (r *racer) expect(what string, res result, want ...int) {
	for _, w := range want {
		if res.status == w {
			return
		}
	}
	if res.status != http.StatusNotFound {
		r.t.Errorf("%s is answered %d %.300s", what, res.status, res.body)
	}
}

func (r *racer) prompt(wait bool) {
	r.mu.Lock()
	r.prompts++
	id := fmt.Sprintf("msg_zz%06d", r.prompts)
	r.mu.Unlock()
	body := `{"messageID":"` + id + `",` + promptBody("whim", "do "+id)[1:]
	if !wait {
		res := r.do("POST", r.path+"/prompt_async", body)
		r.expect("prompt_async", res, 204, 409)
		r.mu.Lock()
		defer r.mu.Unlock()
		if res.status == 204 {
			r.taken = append(r.taken, id)
		}
		return
	}
	res := r.do("POST", r.path+"/message", body)
	r.expect("prompt", res, 200, 409)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited[id] = res
}

func (r *racer) revert() {
	res := r.do("GET", r.path+"/message?limit=3", "")
	var list []struct{ Info struct{ ID string } }
	if res.status != 200 || json.Unmarshal(res.body, &list) != nil || len(list) == 0 {
		return
	}
	r.expect("revert", r.do("POST", r.path+"/revert", `{"messageID":"`+list[0].Info.ID+`"}`), 200, 409)
}

// closed checks that nothing is open in a fork: nobody works on it.
func (r *racer) closed(res result) {
	var fork struct{ ID string }
	if res.status != 200 || json.Unmarshal(res.body, &fork) != nil {
		return
	}
	messages, err := r.svc.Messages(r.t.Context(), lathe.SessionID(fork.ID), 0)
	if err != nil {
		r.t.Error(err)
	}
	for _, m := range messages {
		if a, ok := m.Info.(*lathe.Assistant); ok && a.Completed.IsZero() {
			r.t.Errorf("answer %s of a fork is open", m.ID)
		}
		for _, p := range m.Parts {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			switch c.State.(type) {
			case *lathe.ToolPending, *lathe.ToolRunning:
				r.t.Errorf("a call of a fork is %T", c.State)
			}
		}
	}
}

// answers checks what the session holds in the end: each prompt that is still there
// is followed by an answer, and what a client was given is an answer to its prompt
// or to a later one of the same turn, as it is stored.
func (r *racer) answers() {
	messages, err := r.svc.Messages(r.t.Context(), lathe.SessionID(strings.TrimPrefix(r.path, "/session/")), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	seq, last := map[string]int64{}, int64(0)
	for _, m := range messages {
		seq[string(m.ID)] = m.Seq
		if a, ok := m.Info.(*lathe.Assistant); ok && !a.Summary {
			last = m.Seq
			if a.Completed.IsZero() {
				r.t.Errorf("answer %s is open", m.ID)
			}
		}
	}
	for _, id := range r.taken {
		if at, ok := seq[id]; ok && at > last {
			r.t.Errorf("prompt %s was taken and has no answer", id)
		}
	}
	for id, res := range r.waited {
		var out struct {
			Info struct {
				ID, Role string
				Error    json.RawMessage
			}
		}
		if res.status != 200 {
			continue
		}
		if err := json.Unmarshal(res.body, &out); err != nil || out.Info.Role != "assistant" {
			r.t.Errorf("prompt %s is answered %.200s", id, res.body)
			continue
		}
		if at, ok := seq[id]; ok && seq[out.Info.ID] != 0 && seq[out.Info.ID] < at {
			r.t.Errorf("prompt %s is answered with message %s from before it", id, out.Info.ID)
		}
	}
}

// TestRaces lets prompts, aborts, compactions, reverts, forks and at last a deletion
// meet in one session. The seed is printed; LATHE_RACES=SEED plays one again, as far
// as the scheduler lets it.
func TestRaces(t *testing.T) {
	rounds, seed := 6, rand.Uint64()
	if text := os.Getenv("LATHE_RACES"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		rounds, seed = 1, n
	}
	for i := range rounds {
		seed := seed + uint64(i)
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			r := newRig(t)
			write(t, filepath.Join(r.dir, "opencode.json"), `{"permission":"allow"}`) // nobody answers asks here
			r.models["whim"] = &whim{rng: rand.New(rand.NewPCG(seed, 0))}
			race(&racer{rig: r, path: r.session(), waited: map[string]result{}}, seed)
		})
	}
}

func race(r *racer, seed uint64) {
	var wg sync.WaitGroup
	for client := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, client+1))
			for range 12 {
				r.act(rng)
			}
		})
	}
	wg.Wait()
	if err := r.svc.Turns.Drain(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.answers()
	if status := r.ok("GET", "/session/status", "").(map[string]any); len(status) != 0 {
		r.t.Errorf("at rest the status is %v", status)
	}
	for range 3 { // and once more while it goes
		wg.Go(func() { r.prompt(true) })
	}
	wg.Go(func() { r.expect("delete", r.do("DELETE", r.path, ""), 200) })
	wg.Wait()
}
