package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// Outcome is a whole answer, as it would go into the history.
type Outcome struct {
	Content []llm.Content
	Finish  llm.Finish
}

// Fold reads a stream to its end and puts the answer together. Content gets the
// origin. The error is the stream's own, or says which promise of [llm.Event]
// the stream broke.
func Fold(events iter.Seq2[llm.Event, error], origin string) (Outcome, error) {
	f := folder{origin: origin, open: map[string]*piece{}, used: map[string]bool{}}
	for ev, err := range events {
		switch {
		case f.end != nil || f.finished:
			f.fail("%T, %v after the end", ev, err)
		case err != nil:
			f.end = err
		default:
			f.event(ev)
		}
	}
	if !f.finished && f.end == nil {
		f.fail("no Finish and no error")
	}
	if f.finished && len(f.open) > 0 {
		f.fail("%d blocks open at the end", len(f.open))
	}
	if f.broken != nil {
		return f.out, f.broken
	}
	return f.out, f.end
}

type folder struct {
	out      Outcome
	origin   string
	open     map[string]*piece
	used     map[string]bool
	begun    bool
	finished bool
	end      error
	broken   error
}

type piece struct {
	kind string
	text []byte
}

func (f *folder) fail(format string, args ...any) {
	if f.broken == nil {
		f.broken = fmt.Errorf("stream breaks a promise: "+format, args...)
	}
}

func (f *folder) event(ev llm.Event) {
	if _, ok := ev.(llm.Start); ok == f.begun {
		f.fail("%T where Start came before: %v", ev, f.begun)
	}
	f.begun = true
	switch ev := ev.(type) {
	case llm.TextStart:
		f.start(ev.ID, "text")
	case llm.TextDelta:
		f.delta(ev.ID, "text", ev.Text)
	case llm.TextEnd:
		f.close(ev.ID, "text", llm.Text{Text: f.text(ev.ID)})
	case llm.ReasoningStart:
		f.start(ev.ID, "reasoning")
	case llm.ReasoningDelta:
		f.delta(ev.ID, "reasoning", ev.Text)
	case llm.ReasoningEnd:
		f.close(ev.ID, "reasoning", llm.Reasoning{Text: f.text(ev.ID), Meta: ev.Meta, Origin: f.origin})
	case llm.ToolStart:
		f.start(ev.ID, "tool")
	case llm.ToolDelta:
		f.delta(ev.ID, "tool", ev.JSON)
	case llm.ToolEnd:
		f.close(ev.ID, "tool", llm.ToolUse{ID: ev.CallID, Name: ev.Name, Input: json.RawMessage(ev.Input), Meta: ev.Meta, Origin: f.origin})
	case llm.Finish:
		f.finished, f.out.Finish = true, ev
	}
}

func (f *folder) start(id, kind string) {
	if f.used[id] {
		f.fail("block %q starts twice", id)
	}
	f.used[id], f.open[id] = true, &piece{kind: kind}
}

func (f *folder) delta(id, kind, text string) {
	p := f.open[id]
	if p == nil || p.kind != kind {
		f.fail("delta of %s in block %q, which is not open", kind, id)
		return
	}
	if text == "" {
		f.fail("empty delta in block %q", id)
	}
	p.text = append(p.text, text...)
}

func (f *folder) text(id string) string {
	if p := f.open[id]; p != nil {
		return string(p.text)
	}
	return ""
}

func (f *folder) close(id, kind string, c llm.Content) {
	if p := f.open[id]; p == nil || p.kind != kind {
		f.fail("end of %s block %q, which is not open", kind, id)
	}
	delete(f.open, id)
	f.out.Content = append(f.out.Content, c)
}

// Fixed is a RoundTripper that answers every request with the same body.
type Fixed struct {
	Body        []byte
	ContentType string // empty: text/event-stream
	Split       int    // most bytes that one read returns; 0: no limit
	End         error  // what ends the body; nil: io.EOF
}

// RoundTrip implements [http.RoundTripper].
func (f Fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	if f.End == nil {
		f.End = io.EOF
	}
	header := http.Header{"Content-Type": {or(f.ContentType, "text/event-stream")}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Request: r, Body: io.NopCloser(&body{f})}, nil
}

// Endpoint returns an endpoint whose every request f answers.
func (f Fixed) Endpoint() adapter.Endpoint {
	return adapter.Endpoint{BaseURL: "http://fixed.invalid/v1", Client: &http.Client{Transport: f}}
}

// body hands out what is left of a Fixed.
type body struct{ f Fixed }

func (b *body) Read(p []byte) (int, error) {
	if len(b.f.Body) == 0 {
		return 0, b.f.End
	}
	if b.f.Split > 0 {
		p = p[:min(len(p), b.f.Split)]
	}
	n := copy(p, b.f.Body)
	b.f.Body = b.f.Body[n:]
	return n, nil
}
