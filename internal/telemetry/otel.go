//go:build otel

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lathe"
	"lathe/internal/bus"
)

// Tracer makes spans. A nil Tracer does nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// Start returns a Tracer, or nil where the environment names no collector. Close
// it before the bus.
func Start(ctx context.Context, o Options) (*Tracer, error) {
	if !wanted(o.Getenv) {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "lathe"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Debug("telemetry", "err", err) }))
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	t := &Tracer{provider: p, tracer: p.Tracer("lathe"), stop: stop}
	sub := o.Bus.Subscribe(ctx, bus.Filter{Match: told}, bus.Limits{})
	t.wg.Go(func() { t.follow(ctx, o.Bus, sub) })
	return t, nil
}

// wanted reports whether the environment names a collector.
func wanted(getenv func(string) string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Served reports a request that was answered.
func (t *Tracer) Served(r *http.Request, status int, start time.Time) {
	if t == nil {
		return
	}
	name := r.Pattern
	if name == "" {
		name = r.Method
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header))
	_, route, _ := strings.Cut(r.Pattern, " ")
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(start), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status), attribute.String("session.id", r.PathValue("sessionID"))))
	if status >= 500 {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

func told(ev lathe.Event) bool {
	switch ev := ev.(type) {
	case lathe.SessionStatus, lathe.MessageUpdated:
		return true
	case lathe.PartUpdated:
		_, tool := ev.Part.Body.(*lathe.ToolCall)
		return tool
	}
	return false
}

// turns are the spans of the turns that run.
type turns map[lathe.SessionID]turn

type turn struct {
	ctx  context.Context
	span trace.Span
	told map[string]bool // steps and calls that have their span
}

// follow makes spans of events until the tracer is closed. After a gap it goes on
// with what comes.
func (t *Tracer) follow(ctx context.Context, b *bus.Bus, sub *bus.Subscription) {
	open := turns{}
	defer func() {
		for _, turn := range open {
			turn.span.End()
		}
	}()
	for {
		env, err := sub.Next(ctx)
		switch {
		case err == nil:
			t.take(open, env)
		case errors.Is(err, bus.ErrSlow):
			sub = b.Subscribe(ctx, bus.Filter{Match: told}, bus.Limits{})
		default:
			sub.Close()
			return
		}
	}
}

func (t *Tracer) take(open turns, env lathe.Envelope) {
	switch ev := env.Event.(type) {
	case lathe.SessionStatus:
		t.status(open, env, ev)
	case lathe.MessageUpdated:
		if turn, ok := open[ev.Message.SessionID]; ok {
			t.step(turn, ev.Message)
		}
	case lathe.PartUpdated:
		if turn, ok := open[ev.Part.SessionID]; ok {
			t.call(turn, ev.Part)
		}
	}
}

func (t *Tracer) status(open turns, env lathe.Envelope, ev lathe.SessionStatus) {
	running, ok := open[ev.SessionID]
	if _, idle := ev.Status.(lathe.Idle); idle {
		if ok {
			running.span.End(trace.WithTimestamp(env.Time))
			delete(open, ev.SessionID)
		}
		return
	}
	if ok {
		return
	}
	ctx, span := t.tracer.Start(context.Background(), "turn", trace.WithTimestamp(env.Time), trace.WithAttributes(
		attribute.String("session.id", string(ev.SessionID)), attribute.String("lathe.directory", env.Directory)))
	open[ev.SessionID] = turn{ctx, span, map[string]bool{}}
}

// step reports a model request that is over.
func (t *Tracer) step(turn turn, m lathe.Message) {
	a, ok := m.Info.(*lathe.Assistant)
	if !ok || a.Completed.IsZero() || turn.told[string(m.ID)] {
		return
	}
	turn.told[string(m.ID)] = true
	_, span := t.tracer.Start(turn.ctx, "chat "+a.Model.Model, trace.WithTimestamp(m.Created), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", a.Model.Provider),
		attribute.String("gen_ai.request.model", a.Model.Model), attribute.String("gen_ai.agent.name", a.Agent),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(a.Finish)}),
		attribute.Int64("gen_ai.usage.input_tokens", a.Tokens.Input), attribute.Int64("gen_ai.usage.output_tokens", a.Tokens.Output)))
	if a.Error != nil {
		span.SetStatus(codes.Error, fmt.Sprintf("%T", a.Error))
	}
	span.End(trace.WithTimestamp(a.Completed))
}

// call reports a tool call that is over.
func (t *Tracer) call(turn turn, p lathe.Part) {
	c := p.Body.(*lathe.ToolCall)
	var when lathe.Span
	failed := false
	switch st := c.State.(type) {
	case *lathe.ToolDone:
		when = st.Time
	case *lathe.ToolFailed:
		when, failed = st.Time, true
	default:
		return
	}
	if turn.told[string(p.ID)] {
		return
	}
	turn.told[string(p.ID)] = true
	_, span := t.tracer.Start(turn.ctx, "execute_tool "+c.Tool, trace.WithTimestamp(when.Start), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", c.Tool),
		attribute.String("gen_ai.tool.call.id", c.CallID)))
	if failed {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(when.End))
}

// Close sends what is left, for as long as ctx allows.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.stop()
	t.wg.Wait()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	return nil
}
