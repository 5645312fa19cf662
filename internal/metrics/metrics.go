// Package metrics counts what a server does, for Prometheus. It listens to the bus and to
// requests, and says what it has counted in Prometheus's text format. Names of labels come
// from here, from routes, tools and models; each label has a bound, beyond which values
// count as "other". Nothing of what people or models write is in it.
package metrics

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/order"
)

// mostValues bounds the values of a label.
const mostValues = 100

// Figure is a value that is asked for when somebody reads the metrics.
type Figure struct {
	Name, Help string
	Value      float64
}

// Options configure a [Recorder]. Bus is needed.
type Options struct {
	Bus *bus.Bus
	Now func() time.Time // nil: time.Now
	// Figures returns what only others know, such as how many requests wait; may be nil.
	Figures func(ctx context.Context) ([]Figure, error)
}

// Recorder counts. It is safe for concurrent use.
type Recorder struct {
	o   Options
	sub *bus.Subscription

	mu       sync.Mutex
	counters map[string]*family
	begun    map[lathe.SessionID]time.Time // since when a session is busy of which nothing was done here: another server may do it
	busy     map[lathe.SessionID]time.Time // since when one is of which something was
	models   map[lathe.MessageID]string    // of answers that are being given
	asks     map[lathe.AskID]bool
	calls    map[lathe.PartID]bool // calls that have not ended
}

// family is the series of one name, by their labels.
type family struct {
	kind, help string
	labels     []string
	values     map[string]float64
	times      map[string]*histogram
}

// New returns a recorder that counts from now on. Close it.
func New(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Recorder{
		o: o, counters: map[string]*family{}, begun: map[lathe.SessionID]time.Time{}, busy: map[lathe.SessionID]time.Time{}, models: map[lathe.MessageID]string{},
		asks: map[lathe.AskID]bool{}, calls: map[lathe.PartID]bool{},
	}
	r.define()
	r.sub = o.Bus.Subscribe(context.Background(), bus.Filter{Tap: r.take}, bus.Limits{})
	return r
}

// Close ends the counting. A nil Recorder has nothing to close.
func (r *Recorder) Close() {
	if r != nil {
		r.sub.Close()
	}
}

func (r *Recorder) define() {
	add := func(kind, name, help string, labels ...string) {
		r.counters[name] = &family{kind: kind, help: help, labels: labels, values: map[string]float64{}, times: map[string]*histogram{}}
		switch {
		case len(labels) == 0 && kind == "counter":
			r.counters[name].values[""] = 0
		case len(labels) == 0:
			r.counters[name].times[""] = &histogram{}
		}
	}
	add("counter", "lathe_turns_total", "Turns that have ended here.")
	add("counter", "lathe_turn_errors_total", "Turns that failed, by kind of failure.", "kind")
	add("histogram", "lathe_turn_seconds", "How long sessions were busy.")
	add("counter", "lathe_steps_total", "Model requests that were answered, by model.", "model")
	add("counter", "lathe_tokens_total", "Tokens, by model and kind.", "model", "kind")
	add("counter", "lathe_cost_dollars_total", "What models cost, by model.", "model")
	add("counter", "lathe_tool_calls_total", "Calls of tools that have ended, by tool and result.", "tool", "result")
	add("histogram", "lathe_tool_seconds", "How long calls of tools took, by tool.", "tool")
	add("counter", "lathe_http_requests_total", "Requests that were answered, by route and status.", "route", "status")
	add("histogram", "lathe_http_request_seconds", "How long answers took, streams of events aside, by route.", "route")
	for _, f := range failures {
		r.add("lathe_turn_errors_total", 0, kindOf(f))
	}
}

// failures are all that there are. They are told before one has happened, since Prometheus takes the
// first value of a series for where it begins, and would not see the first failure of a kind.
var failures = [...]lathe.Failure{
	&lathe.AuthFailure{}, &lathe.APIFailure{}, &lathe.AbortedFailure{}, &lathe.OverflowFailure{}, &lathe.OutputLengthFailure{},
	&lathe.FilterFailure{}, &lathe.StructuredFailure{}, &lathe.LimitFailure{}, &lathe.UnknownFailure{},
}

// take counts an event. It runs while the event is published. What other servers do is
// counted there.
func (r *Recorder) take(env lathe.Envelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if env.Elsewhere {
		if ev, ok := env.Event.(lathe.SessionStatus); ok {
			r.statusElsewhere(ev)
		}
		return
	}
	switch ev := env.Event.(type) {
	case lathe.SessionStatus:
		r.status(ev)
	case lathe.SessionFailed:
		r.add("lathe_turn_errors_total", 1, kindOf(ev.Failure))
	case lathe.MessageUpdated:
		if a, ok := ev.Message.Info.(*lathe.Assistant); ok && a.Completed.IsZero() {
			r.models[ev.Message.ID] = a.Model.String()
			r.asked(a.Model.String())
			r.works(ev.Message.SessionID)
		} else {
			delete(r.models, ev.Message.ID)
		}
	case lathe.PartUpdated:
		r.part(ev)
	case lathe.PermissionAsked:
		r.asks[ev.Ask.ID] = true
	case lathe.QuestionAsked:
		r.asks[ev.Ask.ID] = true
	case lathe.PermissionReplied:
		delete(r.asks, ev.AskID)
	case lathe.QuestionReplied:
		delete(r.asks, ev.AskID)
	case lathe.QuestionRejected:
		delete(r.asks, ev.AskID)
	}
}

// kindOf names a failure by its type.
func kindOf(f lathe.Failure) string {
	t := reflect.TypeOf(f)
	if t == nil {
		return "unknown"
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.ToLower(strings.TrimSuffix(t.Name(), "Failure"))
}

func (r *Recorder) status(ev lathe.SessionStatus) {
	since, was := r.busy[ev.SessionID]
	if _, idle := ev.Status.(lathe.Idle); !idle {
		if _, begun := r.begun[ev.SessionID]; !was && !begun {
			r.begun[ev.SessionID] = r.o.Now()
		}
		return
	}
	delete(r.begun, ev.SessionID)
	delete(r.busy, ev.SessionID)
	if was {
		r.add("lathe_turns_total", 1)
		r.observe("lathe_turn_seconds", r.o.Now().Sub(since))
	}
}

// statusElsewhere notes what another server says of a session: a prompt that came in here is worked
// on there, and a turn that another ended, since it was lost here, is none of this one.
func (r *Recorder) statusElsewhere(ev lathe.SessionStatus) {
	delete(r.begun, ev.SessionID)
	if _, idle := ev.Status.(lathe.Idle); idle {
		delete(r.busy, ev.SessionID)
	}
}

// works notes that a session is answered here.
func (r *Recorder) works(id lathe.SessionID) {
	if _, known := r.busy[id]; known {
		return
	}
	since, begun := r.begun[id]
	if !begun {
		since = r.o.Now()
	}
	delete(r.begun, id)
	r.busy[id] = since
}

func (r *Recorder) part(ev lathe.PartUpdated) {
	switch b := ev.Part.Body.(type) {
	case *lathe.StepFinish:
		if ev.New {
			r.step(cmp.Or(r.models[ev.Part.MessageID], "unknown"), b)
		}
	case *lathe.ToolCall:
		switch st := b.State.(type) {
		case *lathe.ToolDone:
			r.call(ev.Part.ID, b.Tool, "done", st.Time)
		case *lathe.ToolFailed:
			r.call(ev.Part.ID, b.Tool, "failed", st.Time)
		default:
			r.calls[ev.Part.ID] = true
			r.add("lathe_tool_calls_total", 0, b.Tool, "done")
			r.add("lathe_tool_calls_total", 0, b.Tool, "failed")
		}
	}
}

// asked tells of a model from its first request on, for the same reason as of failures, and part of
// a tool from its first call on.
func (r *Recorder) asked(model string) {
	r.add("lathe_steps_total", 0, model)
	r.add("lathe_cost_dollars_total", 0, model)
	for _, kind := range []string{"input", "output"} {
		r.add("lathe_tokens_total", 0, model, kind)
	}
}

func (r *Recorder) step(model string, s *lathe.StepFinish) {
	r.add("lathe_steps_total", 1, model)
	r.add("lathe_cost_dollars_total", s.Cost.USD(), model)
	for kind, n := range map[string]int64{
		"input": s.Tokens.Input, "output": s.Tokens.Output, "reasoning": s.Tokens.Reasoning, "cache_read": s.Tokens.CacheRead, "cache_write": s.Tokens.CacheWrite,
	} {
		if n != 0 {
			r.add("lathe_tokens_total", float64(n), model, kind)
		}
	}
}

// call counts a call when it ends; a later update of it is none.
func (r *Recorder) call(id lathe.PartID, tool, result string, t lathe.Span) {
	if !r.calls[id] {
		return
	}
	delete(r.calls, id)
	r.add("lathe_tool_calls_total", 1, tool, result)
	if !t.Start.IsZero() && !t.End.IsZero() {
		r.observe("lathe_tool_seconds", t.End.Sub(t.Start), tool)
	}
}

// Served counts an answered request. It may be called on a nil Recorder.
func (r *Recorder) Served(req *http.Request, status int, start time.Time) {
	if r == nil {
		return
	}
	route := cmp.Or(req.Pattern, "none")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add("lathe_http_requests_total", 1, route, strconv.Itoa(status))
	if !strings.HasSuffix(route, "/event") && status != http.StatusSwitchingProtocols {
		r.observe("lathe_http_request_seconds", r.o.Now().Sub(start), route)
	}
}

func (f *family) key(values []string, known bool) string {
	if !known && len(f.values)+len(f.times) >= mostValues*max(1, len(f.labels)) {
		values = slices.Repeat([]string{"other"}, len(values))
	}
	return strings.Join(values, "\xff")
}

func (r *Recorder) add(name string, n float64, values ...string) {
	f := r.counters[name]
	_, known := f.values[strings.Join(values, "\xff")]
	f.values[f.key(values, known)] += n
}

func (r *Recorder) observe(name string, d time.Duration, values ...string) {
	f := r.counters[name]
	_, known := f.times[strings.Join(values, "\xff")]
	key := f.key(values, known)
	if f.times[key] == nil {
		f.times[key] = &histogram{}
	}
	f.times[key].add(d.Seconds())
}

// bounds are those of the histograms, in seconds.
var bounds = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

type histogram struct {
	in    [len(bounds) + 1]uint64
	sum   float64
	count uint64
}

func (h *histogram) add(v float64) {
	i, _ := slices.BinarySearch(bounds[:], v)
	h.in[i]++
	h.sum += v
	h.count++
}

// WriteTo writes what was counted in Prometheus's text format.
func (r *Recorder) WriteTo(ctx context.Context, w io.Writer) error {
	var more []Figure
	if r.o.Figures != nil {
		var err error
		if more, err = r.o.Figures(ctx); err != nil {
			more = append(more, Figure{"lathe_store_up", "Whether the store answers.", 0})
		} else {
			more = append(more, Figure{"lathe_store_up", "Whether the store answers.", 1})
		}
	}
	out := bufio.NewWriter(w)
	r.mu.Lock()
	more = append(more, Figure{"lathe_turns_running", "Sessions that are busy here.", float64(len(r.busy))},
		Figure{"lathe_asks_waiting", "Permissions and questions that wait for a person.", float64(len(r.asks))})
	for _, name := range slices.Sorted(maps.Keys(r.counters)) {
		r.counters[name].write(out, name)
	}
	r.mu.Unlock()
	order.Stable(more, func(a, b Figure) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range more {
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %s\n", f.Name, f.Help, f.Name, f.Name, number(f.Value))
	}
	return out.Flush()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (f *family) write(w io.Writer, name string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, f.help, name, f.kind)
	for _, key := range slices.Sorted(maps.Keys(f.values)) {
		fmt.Fprintf(w, "%s%s %s\n", name, f.set(key, ""), number(f.values[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(f.times)) {
		h, n := f.times[key], uint64(0)
		for i, in := range h.in {
			le := "+Inf"
			if n += in; i < len(bounds) {
				le = number(bounds[i])
			}
			fmt.Fprintf(w, "%s_bucket%s %d\n", name, f.set(key, le), n)
		}
		fmt.Fprintf(w, "%s_sum%s %s\n%s_count%s %d\n", name, f.set(key, ""), number(h.sum), name, f.set(key, ""), h.count)
	}
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// set writes the labels of a series.
func (f *family) set(key, le string) string {
	var pairs []string
	if len(f.labels) > 0 {
		for i, v := range strings.Split(key, "\xff") {
			pairs = append(pairs, f.labels[i]+`="`+escape.Replace(strings.ToValidUTF8(v, "?"))+`"`)
		}
	}
	if le != "" {
		pairs = append(pairs, `le="`+le+`"`)
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
