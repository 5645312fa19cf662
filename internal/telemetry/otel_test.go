//go:build otel

package telemetry

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"lathe"
	"lathe/internal/bus"
)

// receiver is a collector that notes the names of spans by parent.
type receiver struct {
	mu    sync.Mutex
	spans []string
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "k" || proto.Unmarshal(body, &in) != nil {
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	for _, rs := range in.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				names[string(s.SpanId)] = s.Name
			}
			for _, s := range ss.Spans {
				parent := names[string(s.ParentSpanId)]
				if parent == "" && len(s.ParentSpanId) > 0 {
					parent = "caller"
				}
				took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano)
				c.spans = append(c.spans, parent+" > "+s.Name+" "+took.String()+" "+s.Status.GetCode().String())
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func TestSpans(t *testing.T) {
	var got receiver
	ts := httptest.NewServer(&got)
	defer ts.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", ts.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := now
	b := bus.New(bus.Options{Now: func() time.Time { return clock }})
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": ts.URL}
	tracer, err := Start(t.Context(), Options{Bus: b, Getenv: func(k string) string { return env[k] }, Version: "1", Log: slog.New(slog.DiscardHandler)})
	if err != nil || tracer == nil {
		t.Fatal(tracer, err)
	}
	const id = "ses_1"
	b.Publish("/d", lathe.SessionStatus{SessionID: id, Status: lathe.Busy{}})
	b.Publish("/d", lathe.SessionStatus{SessionID: id, Status: lathe.Busy{}})
	step := lathe.Message{ID: "msg_1", SessionID: id, Created: now, Info: &lathe.Assistant{Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: now.Add(2 * time.Second)}}
	tool := lathe.Part{ID: "prt_1", SessionID: id, Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Time: lathe.Span{Start: now, End: now.Add(time.Second)}}}}
	bad := lathe.Part{ID: "prt_2", SessionID: id, Body: &lathe.ToolCall{Tool: "read", State: &lathe.ToolFailed{Time: lathe.Span{Start: now, End: now.Add(time.Second)}}}}
	for range 2 { // told of twice, one span each
		b.Publish("/d", lathe.PartUpdated{Part: tool})
		b.Publish("/d", lathe.PartUpdated{Part: bad})
		b.Publish("/d", lathe.MessageUpdated{Message: step})
	}
	clock = now.Add(3 * time.Second)
	b.Publish("/d", lathe.SessionStatus{SessionID: id, Status: lathe.Idle{}})
	r := httptest.NewRequest("GET", "/session/ses_1", nil)
	r.Pattern = "GET /session/{sessionID}"
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	tracer.Served(r, 200, time.Now())
	b.Close() // the rest is read before the end
	tracer.wg.Wait()
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	slices.Sort(got.spans)
	for i, s := range got.spans {
		if len(s) > 30 && s[:6] == "caller" {
			got.spans[i] = s[:32]
		}
	}
	want := []string{
		" > turn 3s STATUS_CODE_UNSET",
		"caller > GET /session/{sessionID}"[:32],
		"turn > chat m 2s STATUS_CODE_UNSET",
		"turn > execute_tool bash 1s STATUS_CODE_UNSET",
		"turn > execute_tool read 1s STATUS_CODE_ERROR",
	}
	if diff := cmp.Diff(want, got.spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

func TestNotWanted(t *testing.T) {
	for _, env := range []map[string]string{
		{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		tracer, err := Start(t.Context(), Options{Getenv: func(k string) string { return env[k] }})
		if tracer != nil || err != nil {
			t.Errorf("%v: %v %v", env, tracer, err)
		}
		tracer.Served(nil, 0, time.Time{})
		if err := tracer.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
