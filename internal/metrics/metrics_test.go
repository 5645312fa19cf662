package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/metrics"
)

func read(t *testing.T, r *metrics.Recorder) string {
	t.Helper()
	var out strings.Builder
	if err := r.WriteTo(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains("\n"+text, "\n"+want+"\n") {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// A turn is counted with its steps, tokens, cost and calls, once, and not where it was told
// by another server.
func TestTurnIsCounted(t *testing.T) {
	b := bus.New(bus.Options{})
	now := time.Unix(1000, 0)
	r := metrics.New(metrics.Options{Bus: b, Now: func() time.Time { return now }})
	defer r.Close()
	model := lathe.ModelRef{Provider: "p", Model: `m"1`}
	call := func(st lathe.ToolState) lathe.PartUpdated {
		return lathe.PartUpdated{Part: lathe.Part{ID: "prt_1", MessageID: "msg_1", Body: &lathe.ToolCall{Tool: "bash", State: st}}}
	}
	done := &lathe.ToolDone{Time: lathe.Span{Start: now, End: now.Add(200 * time.Millisecond)}}
	events := []lathe.Event{
		lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}},
		lathe.MessageUpdated{Message: lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.Assistant{Model: model}}},
		call(&lathe.ToolRunning{}), call(done), call(done),
		lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1"}},
		lathe.PartUpdated{New: true, Part: lathe.Part{MessageID: "msg_1", Body: &lathe.StepFinish{Cost: 2_500_000_000_000, Tokens: lathe.Tokens{Input: 7, CacheRead: 3}}}},
		lathe.SessionFailed{SessionID: "ses_1", Failure: &lathe.AbortedFailure{}},
	}
	for _, ev := range events {
		b.Publish("/d", ev)
		b.Relay("/d", ev, 0)
	}
	has(t, read(t, r), "lathe_turns_running 1", "lathe_asks_waiting 1", "lathe_turns_total 0")
	now = now.Add(3 * time.Second)
	b.Publish("/d", lathe.PermissionReplied{AskID: "per_1"})
	b.Publish("/d", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	b.Publish("/d", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	has(t, read(t, r), "lathe_turns_running 0", "lathe_asks_waiting 0", "lathe_turns_total 1",
		`lathe_turn_seconds_bucket{le="2.5"} 0`, `lathe_turn_seconds_bucket{le="5"} 1`, "lathe_turn_seconds_sum 3", "lathe_turn_seconds_count 1",
		`lathe_steps_total{model="p/m\"1"} 1`, `lathe_cost_dollars_total{model="p/m\"1"} 2.5`,
		`lathe_tokens_total{model="p/m\"1",kind="input"} 7`, `lathe_tokens_total{model="p/m\"1",kind="cache_read"} 3`,
		`lathe_tool_calls_total{tool="bash",result="done"} 1`, `lathe_tool_seconds_bucket{tool="bash",le="0.25"} 1`, `lathe_turn_errors_total{kind="aborted"} 1`)
}

// A series is told before its first count, so that Prometheus sees that as a change: each kind of
// failure from the start, a model from its first request on and a tool from its first call on.
func TestSeriesBeginAtNothing(t *testing.T) {
	b := bus.New(bus.Options{})
	r := metrics.New(metrics.Options{Bus: b})
	defer r.Close()
	has(t, read(t, r), "lathe_turns_total 0", "lathe_turn_seconds_count 0", `lathe_turn_seconds_bucket{le="+Inf"} 0`,
		`lathe_turn_errors_total{kind="api"} 0`, `lathe_turn_errors_total{kind="outputlength"} 0`, `lathe_turn_errors_total{kind="unknown"} 0`)
	b.Publish("/d", lathe.MessageUpdated{Message: lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.Assistant{Model: lathe.ModelRef{Provider: "p", Model: "m"}}}})
	b.Publish("/d", lathe.PartUpdated{Part: lathe.Part{ID: "prt_1", MessageID: "msg_1", Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolRunning{}}}})
	has(t, read(t, r), `lathe_tool_calls_total{tool="bash",result="done"} 0`, `lathe_tool_calls_total{tool="bash",result="failed"} 0`, `lathe_steps_total{model="p/m"} 0`, `lathe_cost_dollars_total{model="p/m"} 0`, `lathe_tokens_total{model="p/m",kind="output"} 0`)
}

// A turn is one of the server that works on it, not of the one where its prompt came in.
func TestTurnOfAnotherServer(t *testing.T) {
	front, worker := bus.New(bus.Options{}), bus.New(bus.Options{})
	r, there := metrics.New(metrics.Options{Bus: front}), metrics.New(metrics.Options{Bus: worker})
	defer r.Close()
	defer there.Close()
	tell := func(at, other *bus.Bus, ev lathe.Event) {
		at.Publish("/d", ev)
		other.Relay("/d", ev, 0)
	}
	busy, idle := lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}
	tell(front, worker, busy)
	tell(worker, front, busy)
	tell(worker, front, lathe.MessageUpdated{Message: lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.Assistant{}}})
	tell(front, worker, busy) // it is steered
	has(t, read(t, r), "lathe_turns_running 0")
	has(t, read(t, there), "lathe_turns_running 1")
	tell(worker, front, idle)
	tell(front, worker, busy)
	tell(front, worker, idle) // taken back before a worker had it
	has(t, read(t, r), "lathe_turns_running 0", "lathe_turns_total 0")
	has(t, read(t, there), "lathe_turns_running 0", "lathe_turns_total 1")
	tell(worker, front, busy)
	tell(worker, front, lathe.MessageUpdated{Message: lathe.Message{ID: "msg_2", SessionID: "ses_1", Info: &lathe.Assistant{}}})
	has(t, read(t, there), "lathe_turns_running 1")
	tell(front, worker, idle) // the worker was paused for so long that its turn was closed for it
	has(t, read(t, there), "lathe_turns_running 0", "lathe_turns_total 1")
}

// However many values a label has, there are few series.
func TestLabelsAreBounded(t *testing.T) {
	b := bus.New(bus.Options{})
	r := metrics.New(metrics.Options{Bus: b, Figures: func(context.Context) ([]metrics.Figure, error) { return nil, errors.New("away") }})
	defer r.Close()
	for i := range 5000 {
		req := &http.Request{Pattern: fmt.Sprintf("GET /%d", i)}
		r.Served(req, 200, time.Now())
		r.Served(&http.Request{Pattern: "GET /global/event"}, 200, time.Now())
	}
	text := read(t, r)
	if n := strings.Count(text, "\n"); n > 4000 {
		t.Errorf("%d lines", n)
	}
	has(t, text, "lathe_store_up 0")
	if !strings.Contains(text, `lathe_http_requests_total{route="other",status="other"} `) || strings.Contains(text, `lathe_http_request_seconds_count{route="GET /global/event"}`) {
		t.Errorf("%.2000s", text)
	}
}
