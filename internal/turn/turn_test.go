package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/anthropic"
	"lathe/internal/llm/llmtest"
	"lathe/internal/llm/openaichat"
	"lathe/internal/permission"
	"lathe/internal/provider"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// memory is a log that keeps everything in memory, as the session's does on disk.
type memory struct {
	mu       sync.Mutex
	seq      int64
	messages map[lathe.MessageID]lathe.Message
	order    []lathe.MessageID
	parts    map[lathe.MessageID][]lathe.Part
	streamed map[lathe.PartID]string
	events   []string
	failures []lathe.Failure
	retries  []lathe.Retrying
	onDelta  func()
	onPart   func(what string) // called with mu held
}

func newMemory() *memory {
	return &memory{messages: map[lathe.MessageID]lathe.Message{}, parts: map[lathe.MessageID][]lathe.Part{}, streamed: map[lathe.PartID]string{}}
}

func (m *memory) Commit(_ context.Context, changes ...turn.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		switch {
		case c.Message != nil:
			if c.Message.Seq == 0 {
				m.seq++
				c.Message.Seq = m.seq
				m.order = append(m.order, c.Message.ID)
				m.events = append(m.events, "message")
			}
			m.messages[c.Message.ID] = *c.Message
		case c.Remove != nil:
			kept := m.parts[c.Remove.MessageID][:0]
			for _, p := range m.parts[c.Remove.MessageID] {
				if p.ID != c.Remove.ID {
					kept = append(kept, p)
				}
			}
			m.parts[c.Remove.MessageID] = kept
			m.events = append(m.events, "remove")
		case c.Part != nil:
			m.put(c.Part)
		case c.Event != nil:
			m.publish(c.Event)
		}
	}
	return nil
}

func (m *memory) put(p *lathe.Part) {
	m.events = append(m.events, describe(*p))
	if m.onPart != nil {
		m.onPart(describe(*p))
	}
	list := m.parts[p.MessageID]
	for i := range list {
		if list[i].ID == p.ID {
			list[i] = *p
			return
		}
	}
	p.Seq = int64(len(list) + 1)
	m.parts[p.MessageID] = append(list, *p)
}

func (m *memory) Delta(_ context.Context, p *lathe.Part, text string, _ lathe.Streamed) {
	m.mu.Lock()
	m.streamed[p.ID] += text
	hook := m.onDelta
	m.mu.Unlock()
	if hook != nil {
		hook()
	}
}

func (m *memory) Progress(p lathe.Part) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(&p)
}

func (m *memory) Publish(ev lathe.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.publish(ev)
}

func (m *memory) publish(ev lathe.Event) {
	switch ev := ev.(type) {
	case lathe.SessionFailed:
		m.failures = append(m.failures, ev.Failure)
	case lathe.SessionStatus:
		if r, ok := ev.Status.(lathe.Retrying); ok {
			m.retries = append(m.retries, r)
		}
	}
}

// describe names a part and its state: "text", "bash running".
func describe(p lathe.Part) string {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if b.Time.End.IsZero() {
			return "text opens"
		}
		return "text " + b.Text
	case *lathe.Reasoning:
		return "reasoning"
	case *lathe.ToolCall:
		switch s := b.State.(type) {
		case *lathe.ToolPending:
			return b.Tool + " pending"
		case *lathe.ToolRunning:
			return b.Tool + " running"
		case *lathe.ToolDone:
			return b.Tool + " done: " + s.Output
		case *lathe.ToolFailed:
			return b.Tool + " failed: " + s.Error
		}
	case *lathe.StepStart:
		return "step start"
	case *lathe.StepFinish:
		return "step finish " + string(b.Reason)
	}
	return fmt.Sprintf("%T", p.Body)
}

// last returns the parts of the newest assistant message, described.
func (m *memory) last() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, p := range m.parts[m.order[len(m.order)-1]] {
		out = append(out, describe(p))
	}
	return out
}

// funcTool is a tool made of a function.
type funcTool struct {
	spec tool.Spec
	run  func(ctx context.Context, c *tool.Call) (tool.Result, error)
}

func (f funcTool) Spec() tool.Spec { return f.spec }
func (f funcTool) Run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	return f.run(ctx, c)
}

func newTool(name string, run func(ctx context.Context, c *tool.Call) (tool.Result, error)) tool.Tool {
	return funcTool{tool.Spec{Name: name, Description: name, Schema: json.RawMessage(`{"type":"object"}`), PathArg: "path"}, run}
}

func echo() tool.Tool {
	return newTool("echo", func(_ context.Context, c *tool.Call) (tool.Result, error) {
		return tool.Result{Output: string(c.Input)}, nil
	})
}

func named(name string) tool.Tool {
	return newTool(name, func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{Output: name}, nil })
}

func invalid() tool.Tool {
	return newTool(tool.InvalidName, func(_ context.Context, c *tool.Call) (tool.Result, error) {
		return tool.Result{Output: "invalid: " + string(c.Input)}, nil
	})
}

// rig is a turn against a scripted model server.
type rig struct {
	*turn.Turn
	log     *memory
	server  *llmtest.Server
	agent   turn.Agent
	tools   []tool.Tool
	ask     func(context.Context, permission.AskInput) error
	mu      sync.Mutex
	arrived []lathe.Message

	anthropic bool // tool calls are complete before the stream ends
}

func (r *rig) Agent(string) (turn.Agent, error) { return r.agent, nil }
func (r *rig) Model(_ context.Context, ref lathe.ModelRef) (*provider.Model, error) {
	m := &provider.Model{Ref: ref, APIID: "m", LLM: openaichat.New(adapter.Endpoint{BaseURL: r.server.URL + "/v1"})}
	if r.anthropic {
		m.LLM = anthropic.New(adapter.Endpoint{BaseURL: r.server.URL + "/v1"})
	}
	m.Caps.ToolCall = true
	return m, nil
}
func (r *rig) System(context.Context, turn.Agent, *provider.Model, *lathe.User) ([]string, error) {
	return []string{"system"}, nil
}
func (r *rig) Tools(turn.Agent, *provider.Model, *lathe.User) *turn.Toolset {
	return &turn.Toolset{Registry: tool.NewRegistry(r.tools...)}
}
func (r *rig) Arrived() []lathe.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.arrived
	r.arrived = nil
	return out
}
func (r *rig) Ask(ctx context.Context, in permission.AskInput) error {
	if r.ask == nil {
		return nil
	}
	return r.ask(ctx, in)
}

func (r *rig) user(text string) lathe.Message {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.log.seq++
	id := r.IDs.Message()
	r.log.order = append(r.log.order, id)
	return lathe.Message{
		ID: id, SessionID: "ses_1", Seq: r.log.seq,
		Info:  &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}},
		Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}},
	}
}

func newRig(t *testing.T, script string, tools ...tool.Tool) *rig {
	t.Helper()
	steps, err := llmtest.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{log: newMemory(), server: llmtest.New(t, steps), agent: turn.Agent{Name: "build"}, tools: append(tools, invalid(), named("noop"))}
	r.Turn = &turn.Turn{
		Session: lathe.Session{ID: "ses_1", Directory: "/"}, Host: r, Log: r.log, IDs: lathe.NewIDs(nil, nil),
		Retries: turn.Retries{Base: time.Millisecond, Cap: 2 * time.Millisecond, Jitter: func() float64 { return 0 }},
	}
	r.History = []lathe.Message{r.user("go")}
	return r
}

func (r *rig) run(t *testing.T) turn.Outcome {
	t.Helper()
	out, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTurnRunsToolsUntilTheModelStops(t *testing.T) {
	r := newRig(t, `reasoning hm
text working
tool echo {"a":1}
tool echo {"a":2}
usage in=10 out=2 cached=5
---
text done
usage in=20 out=3`, echo())
	out := r.run(t)
	if out.Failure != nil || out.Steps != 2 || out.Tokens != (lathe.Tokens{Input: 30, Output: 5, CacheRead: 5}) {
		t.Errorf("outcome is %+v", out)
	}
	if diff := cmp.Diff([]string{"step start", "text done", "step finish stop"}, r.log.last()); diff != "" {
		t.Errorf("last message (-want +got):\n%s", diff)
	}
	reqs := r.server.Requests()
	if len(reqs) != 2 {
		t.Fatalf("%d requests", len(reqs))
	}
	if got := len(reqs[1].Messages); got != 3 {
		t.Errorf("second request has %d messages, want prompt, answer and results", got)
	}
	first := r.History[1].Info.(*lathe.Assistant)
	if first.Finish != lathe.FinishToolCalls || first.Completed.IsZero() || first.Tokens.CacheRead != 5 {
		t.Errorf("first answer is %+v", first)
	}
}

// TestEventOrder holds the order that clients rely on within a step.
func TestEventOrder(t *testing.T) {
	r := newRig(t, "text a\ntool echo {}\n---\ntext b", echo())
	r.run(t)
	got := strings.Join(r.log.events, "\n")
	want := []string{"message", "step start", "text opens", "text a", "echo pending", "echo running", "echo done: {}", "step finish tool-calls", "message", "step start", "text opens", "text b", "step finish stop"}
	if diff := cmp.Diff(want, strings.Split(got, "\n")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestParallelCallsRunTogetherAndConflictingOnesInOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	together := make(chan struct{})
	var entered int
	work := newTool("work", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		var in struct{ Path, Name string }
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return tool.Result{}, err
		}
		mu.Lock()
		order = append(order, in.Name)
		if in.Path == "" {
			if entered++; entered == 2 {
				close(together)
			}
		}
		mu.Unlock()
		if in.Path == "" {
			<-together // both free calls have to be running
		}
		return tool.Result{Output: in.Name}, nil
	})
	r := newRig(t, `tool work {"name":"free1"}
tool work {"name":"free2"}
tool work {"path":"a","name":"a1"}
tool work {"path":"a","name":"a2"}
tool work {"path":"a","name":"a3"}
---
text ok`, work)
	r.run(t)
	var a []string
	for _, n := range order {
		if strings.HasPrefix(n, "a") {
			a = append(a, n)
		}
	}
	if diff := cmp.Diff([]string{"a1", "a2", "a3"}, a); diff != "" {
		t.Errorf("calls on one file (-want +got):\n%s", diff)
	}
	results := r.server.Requests()[1].Messages
	var said []string
	for _, m := range results {
		for _, c := range m.Content {
			if res, ok := c.(llm.ToolResult); ok {
				said = append(said, res.Output)
			}
		}
	}
	if diff := cmp.Diff([]string{"free1", "free2", "a1", "a2", "a3"}, said); diff != "" {
		t.Errorf("results in the model's order (-want +got):\n%s", diff)
	}
}

// TestOverlappingCalls holds that calls of a tool that allows it run beside each
// other, but after an earlier call on a file.
func TestOverlappingCalls(t *testing.T) {
	var mu sync.Mutex
	edited, inside := false, 0
	both := make(chan struct{})
	edit := newTool("edit", func(context.Context, *tool.Call) (tool.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		edited = true
		return tool.Result{Output: "edited"}, nil
	})
	shell := funcTool{tool.Spec{Name: "sh", Schema: json.RawMessage(`{"type":"object"}`), PathArg: "*", Overlaps: true},
		func(context.Context, *tool.Call) (tool.Result, error) {
			mu.Lock()
			ok := edited
			if inside++; inside == 2 {
				close(both)
			}
			mu.Unlock()
			<-both
			return tool.Result{Output: fmt.Sprint(ok)}, nil
		}}
	r := newRig(t, "tool edit {\"path\":\"a\"}\ntool sh {\"n\":1}\ntool sh {\"n\":2}\n---\ntext ok", edit, shell)
	r.run(t)
	want := []string{"edit done: edited", "sh done: true", "sh done: true"}
	var got []string
	for _, p := range r.History[1].Parts {
		if _, ok := p.Body.(*lathe.ToolCall); ok {
			got = append(got, describe(p))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestUnknownToolAndBrokenArguments(t *testing.T) {
	r := newRig(t, "tool nope {}\ntool echo {\"a\":\ntool ECHO {\"b\":1}\n---\ntext ok", echo())
	if out := r.run(t); out.Failure != nil {
		t.Fatalf("failure %v", out.Failure)
	}
	var got []string
	for _, p := range r.History[1].Parts {
		if c, ok := p.Body.(*lathe.ToolCall); ok {
			got = append(got, c.Tool)
		}
	}
	if diff := cmp.Diff([]string{"invalid", "invalid", "echo"}, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestToolFailureIsAResult(t *testing.T) {
	fail := newTool("fail", func(context.Context, *tool.Call) (tool.Result, error) { return tool.Failf("no such file"), nil })
	boom := newTool("boom", func(context.Context, *tool.Call) (tool.Result, error) { panic("oops") })
	r := newRig(t, "tool fail {}\ntool boom {}\n---\ntext ok", fail, boom)
	if out := r.run(t); out.Failure != nil {
		t.Fatalf("failure %v", out.Failure)
	}
	got := []string{describe(r.History[1].Parts[1]), describe(r.History[1].Parts[2])}
	want := []string{"fail failed: no such file", "boom failed: the boom tool failed inside lathe: oops"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestRetry(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		requests     int
		failure      string // part of its text; empty for success
	}{
		{"rate limit, then fine", "status 429 retry-after=0 slow down\n---\ntext ok", 2, ""},
		{"two server errors, then fine", "status 500 x\n---\nstatus 503 y\n---\ntext ok", 3, ""},
		{"cut, then fine", "text half of it\ndrop 200\n---\ntext ok", 2, ""},
		{"always cut", "text half of it\ndrop 200\ntimes 20", 6, "gave up after 6 attempts"},
		{"wrong key", "status 401 bad key", 1, "lathe auth login p"},
		{"bad request", "status 400 nonsense", 1, "nonsense"},
		{"far away retry-after", "status 429 retry-after=7200 later", 1, "2h0m0s"},
		{"error inside the stream", "text half\nerror overloaded\n---\ntext ok", 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.script)
			out := r.run(t)
			if got := len(r.server.Requests()); got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
			if tt.failure == "" {
				if out.Failure != nil {
					t.Fatalf("failure %v", out.Failure)
				}
				if diff := cmp.Diff([]string{"step start", "text ok", "step finish stop"}, r.log.last()); diff != "" {
					t.Errorf("the failed attempt left something (-want +got):\n%s", diff)
				}
				if len(r.log.retries) != tt.requests-1 {
					t.Errorf("told of %d retries", len(r.log.retries))
				}
				return
			}
			if out.Failure == nil || !strings.Contains(out.Failure.Error(), tt.failure) {
				t.Errorf("failure is %v, want one with %q", out.Failure, tt.failure)
			}
			last := r.History[len(r.History)-1].Info.(*lathe.Assistant)
			if last.Error == nil || last.Completed.IsZero() || last.Finish != "" {
				t.Errorf("message is %+v", last)
			}
			if len(r.log.failures) != 1 {
				t.Errorf("told of %d failures", len(r.log.failures))
			}
		})
	}
}

// TestCutAfterACall keeps what a tool did: the call is not repeated, its result
// goes to the model.
func TestCutAfterACall(t *testing.T) {
	var mu sync.Mutex
	ran := 0
	count := newTool("count", func(context.Context, *tool.Call) (tool.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		ran++
		return tool.Result{Output: "counted"}, nil
	})
	steps := llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Text("a"), llmtest.Call{Name: "count", Args: "{}"}, llmtest.Text("tail")}, Broken: "overloaded"},
		{Blocks: []llmtest.Block{llmtest.Text("ok")}},
	}
	r := newRig(t, "text unused", count)
	r.server, r.anthropic = llmtest.New(t, steps), true
	if out := r.run(t); out.Failure != nil {
		t.Fatalf("failure %v", out.Failure)
	}
	if ran != 1 {
		t.Errorf("the tool ran %d times", ran)
	}
	if got := r.server.Requests(); len(got) != 2 || !strings.Contains(string(got[1].Body), "counted") {
		t.Errorf("%d requests; the second has to hold the result", len(got))
	}
}

func TestAbort(t *testing.T) {
	started := make(chan struct{})
	slow := newTool("slow", func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	r := newRig(t, "text working\ntool slow {}", slow)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(turn.ErrAborted) }()
	out, err := r.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := out.Failure.(*lathe.AbortedFailure); !ok {
		t.Errorf("failure is %v", out.Failure)
	}
	want := []string{"step start", "text working", "slow failed: Tool execution aborted", "step finish tool-calls"}
	if diff := cmp.Diff(want, r.log.last()); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestAbortWhileWaitingToRetry(t *testing.T) {
	r := newRig(t, "status 429 retry-after=300 later")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for {
			r.log.mu.Lock()
			n := len(r.log.retries)
			r.log.mu.Unlock()
			if n > 0 {
				cancel(turn.ErrAborted)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	out, err := r.Run(ctx)
	if _, ok := out.Failure.(*lathe.AbortedFailure); err != nil || !ok {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

func TestRejectionStopsTheTurn(t *testing.T) {
	ask := newTool("ask", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		return tool.Result{}, c.Ask(ctx, tool.Request{Permission: "bash", Patterns: []string{"x"}})
	})
	for _, tt := range []struct {
		name     string
		err      error
		requests int
		blocked  bool
	}{
		{"rejected", &permission.Rejected{}, 1, true},
		{"corrected", &permission.Corrected{Feedback: "use y"}, 2, false},
		{"denied", &permission.Denied{}, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "tool ask {}\n---\ntext ok", ask)
			r.ask = func(context.Context, permission.AskInput) error { return tt.err }
			out := r.run(t)
			if got := len(r.server.Requests()); got != tt.requests || out.Blocked != tt.blocked {
				t.Errorf("%d requests, blocked %v; want %d, %v", got, out.Blocked, tt.requests, tt.blocked)
			}
		})
	}
}

func TestDoomLoop(t *testing.T) {
	r := newRig(t, "tool echo {\"a\":1}\ntimes 10", echo())
	asked := ""
	r.ask = func(_ context.Context, in permission.AskInput) error {
		asked = in.Request.Permission
		return &permission.Rejected{}
	}
	out := r.run(t)
	f, ok := out.Failure.(*lathe.LimitFailure)
	if !ok || f.Limit != "doom_loop" || asked != "doom_loop" {
		t.Errorf("failure %v after asking %q", out.Failure, asked)
	}
	if got := len(r.server.Requests()); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
}

// TestDoomLoopAlone holds that a model which repeats itself where nobody is there is told
// so before the turn ends for it.
func TestDoomLoopAlone(t *testing.T) {
	for script, want := range map[string]int{"tool echo {\"a\":1}\ntimes 3\n---\ntext I stop here": 4, "tool echo {\"a\":1}\ntimes 10": 4} {
		r := newRig(t, script, echo())
		r.ask = func(context.Context, permission.AskInput) error { return &permission.Unanswered{Why: "nobody"} }
		out := r.run(t)
		requests := r.server.Requests()
		if stopped := strings.Contains(script, "10"); len(requests) != want || (out.Failure != nil) != stopped {
			t.Errorf("%q: %d requests, %v", script, len(requests), out.Failure)
		}
		if !strings.Contains(string(requests[3].Body), "Not run: echo was called 3 times in a row with the same input.") {
			t.Errorf("%q: not told: %s", script, requests[3].Body)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		limits turn.Limits
		steps  int // of the agent
		limit  string
		want   int
	}{
		{turn.Limits{Steps: 2}, 0, "steps", 3}, // the last asks for an answer
		{turn.Limits{Tokens: 150}, 0, "tokens", 2},
		{turn.Limits{}, 2, "steps", 2},
	} {
		r := newRig(t, "tool echo {}\n---\ntool echo {\"a\":1}\n---\ntool echo {\"b\":1}\n---\ntext ok", echo())
		r.Limits, r.agent.Steps = tt.limits, tt.steps
		out := r.run(t)
		f, ok := out.Failure.(*lathe.LimitFailure)
		if got := len(r.server.Requests()); !ok || f.Limit != tt.limit || got != tt.want {
			t.Errorf("%+v: failure %v after %d requests", tt, out.Failure, got)
		}
	}
}

func TestLastStepMayNotCallTools(t *testing.T) {
	r := newRig(t, "text all there is", echo())
	r.agent.Steps = 1
	if out := r.run(t); out.Failure != nil {
		t.Fatalf("failure %v", out.Failure)
	}
	body := string(r.server.Requests()[0].Body)
	if !strings.Contains(body, `"tool_choice":"none"`) || !strings.Contains(body, "step limit") {
		t.Errorf("the last request is %s", body)
	}
}

func TestSteering(t *testing.T) {
	r := newRig(t, "tool echo {}\n---\ntext ok", echo())
	r.tools[0] = newTool("echo", func(context.Context, *tool.Call) (tool.Result, error) {
		m := r.user("also do this")
		m.Info.(*lathe.User).Steers = true
		r.mu.Lock()
		r.arrived = append(r.arrived, m)
		r.mu.Unlock()
		return tool.Result{Output: "x"}, nil
	})
	if out := r.run(t); out.Failure != nil || out.Steps != 2 {
		t.Fatalf("outcome %+v", out)
	}
	body := string(r.server.Requests()[1].Body)
	if !strings.Contains(body, "also do this") || !strings.Contains(body, "while you were working") {
		t.Errorf("second request does not steer: %s", body)
	}
}

func TestLengthAndFilter(t *testing.T) {
	for finish, want := range map[string]error{"length": &lathe.OutputLengthFailure{}, "content-filter": &lathe.FilterFailure{}} {
		r := newRig(t, "text half\nfinish "+finish+"\ntimes 3")
		out := r.run(t)
		if fmt.Sprintf("%T", out.Failure) != fmt.Sprintf("%T", want) {
			t.Errorf("finish %s gave %v", finish, out.Failure)
		}
	}
}

func TestOverflow(t *testing.T) {
	r := newRig(t, "status 400 prompt is too long: 250000 tokens > 200000 maximum")
	out := r.run(t)
	if f, ok := errors.AsType[*lathe.OverflowFailure](out.Failure); !ok {
		t.Errorf("failure is %v (%v)", out.Failure, f)
	}
}

// TestRequestsOnlyGrow holds that each request body begins with the one before
// it, up to the end of its message list.
func TestRequestsOnlyGrow(t *testing.T) {
	r := newRig(t, "tool echo {\"n\":1}\n---\ntext thinking\ntool echo {\"n\":2}\ntool echo {\"n\":3}\n---\ntext done", echo())
	r.run(t)
	r.History = append(r.History, r.user("and now?"))
	r.server.Add(llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("fine")}})
	r.run(t)
	reqs := r.server.Requests()
	if len(reqs) != 4 {
		t.Fatalf("%d requests", len(reqs))
	}
	for i := 1; i < len(reqs); i++ {
		prefix := strings.TrimRight(string(reqs[i-1].Body), "]}")
		if !strings.HasPrefix(string(reqs[i].Body), prefix) {
			t.Errorf("request %d does not begin with request %d:\n%s\n%s", i, i-1, reqs[i-1].Body, reqs[i].Body)
		}
	}
}
