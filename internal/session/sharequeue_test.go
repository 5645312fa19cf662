package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lathe"
	"lathe/internal/session"
)

// recordedTrips is a share service without a network, for a bubble of time.
type recordedTrips struct {
	mu     sync.Mutex
	sent   []string
	broken bool
}

func (r *recordedTrips) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return nil, errors.New("the line is down")
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var in struct {
		Data []struct {
			Type string
			Data struct{ ID, Text string }
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	for _, d := range in.Data {
		r.sent = append(r.sent, d.Type+" "+d.Data.ID+" "+d.Data.Text)
	}
	body := []byte(`{"id":"p","url":"https://share.example.com/p","secret":"s"}`)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

func (r *recordedTrips) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.sent
	r.sent = nil
	return out
}

func (r *recordedTrips) fail(broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = broken
}

func sleep(t *testing.T, d time.Duration) {
	t.Helper()
	time.Sleep(d)
	synctest.Wait()
}

// synctestShare runs a test in a bubble with a service that shares.
func synctestShare(t *testing.T, test func(*testing.T, *session.Service, *recordedTrips, lathe.Session, func(lathe.Event))) {
	w := sharing(t, map[string]any{"enterprise": map[string]any{"url": "https://share.example.com"}})
	rt := &recordedTrips{}
	w.sharing.HTTP = &http.Client{Transport: rt}
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		svc, stop := w.service()
		defer stop()
		sess, err := svc.Get(t.Context(), w.create(svc))
		if err != nil {
			t.Fatal(err)
		}
		test(t, svc, rt, sess, func(ev lathe.Event) { w.bus.Publish(w.repo, ev) })
	})
}
