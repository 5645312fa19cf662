package forward

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

// worker is another server, as a [store.Mail] that keeps what passes through it; it does what it is
// asked with what it is given.
type worker struct {
	store.Mail
	f      *Forwarder // what does its letters
	passed strings.Builder
	asked  []string
}

func (o *worker) Send(ctx context.Context, _ store.Owner, body []byte) ([]byte, error) {
	out, _ := o.f.done(ctx, body)
	o.passed.Write(body)
	o.passed.Write(out)
	return out, nil
}

func (o *worker) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	o.asked = append(o.asked, r.Method+" "+r.URL.Path+" "+string(body))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`"answer-4711"`))}, err
}

// A key that is meant for a worker, and what the worker answers, lie nowhere in the database as they
// are; what is stored with a session goes as it is.
func TestKeysPassSealed(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		sealed       bool
	}{
		{"PUT", "/auth/anthropic", true},
		{"POST", "/lathe/provider/anthropic/test", true},
		{"POST", "/provider/anthropic/oauth/callback", true},
		{"POST", "/mcp", true},
		{"POST", "/mcp/github/auth/callback", true},
		{"POST", "/session/ses_1/message", false},
		{"GET", "/mcp", false},
	} {
		o := &worker{}
		o.f = New(Options{Bus: bus.New(bus.Options{}), Store: &store.Store{Mail: o}, Log: slog.New(slog.DiscardHandler), Local: func() http.RoundTripper { return o }})
		defer o.f.Close()
		w := httptest.NewRecorder()
		if err := o.f.pass(&exchange{w: w, r: httptest.NewRequest(tt.method, tt.path, strings.NewReader("sk-geheim"))}, other); err != nil || w.Body.String() != `"answer-4711"` {
			t.Errorf("%s %s: %v, %q", tt.method, tt.path, err, w.Body)
		}
		if want := tt.method + " " + tt.path + " sk-geheim"; len(o.asked) != 1 || o.asked[0] != want {
			t.Errorf("the worker was asked %q, want %q", o.asked, want)
		}
		through := o.passed.String()
		if clear := strings.Contains(through, "c2stZ2VoZWlt"); clear == tt.sealed { // base64
			t.Errorf("%s %s passed as %s", tt.method, tt.path, through)
		}
	}
}

// older is another server of a version without a key.
type older struct{ store.Mail }

func (older) Send(context.Context, store.Owner, []byte) ([]byte, error) {
	return []byte(`{"Status":404,"Body":"bm8="}`), nil
}

// What is to be sealed is not sent to a server that has no key, which is asked again the next time.
func TestKeysNeedASeal(t *testing.T) {
	f := New(Options{Bus: bus.New(bus.Options{}), Store: &store.Store{Mail: older{}}, Log: slog.New(slog.DiscardHandler)})
	defer f.Close()
	w := httptest.NewRecorder()
	err := f.pass(&exchange{w: w, r: httptest.NewRequest("PUT", "/auth/anthropic", strings.NewReader("sk-geheim"))}, other)
	if lathe.CodeOf(err) != lathe.CodeUnavailable || w.Body.Len() > 0 || len(f.keys) > 0 {
		t.Errorf("%v, %q, %d keys", err, w.Body, len(f.keys))
	}
}
