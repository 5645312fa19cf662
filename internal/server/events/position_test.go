package events

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

// named is a journal that only has a name.
type named struct{}

func (named) Name() string { return "jrn" }

func (named) Between(context.Context, int64, int64) ([]store.Fact, error) {
	return nil, store.ErrNotFound
}

// Who comes back to the same server keeps its place among what all servers number, so that another
// server can go on there as well, however little happened meanwhile.
func TestPlaceIsKeptByTheSameServer(t *testing.T) {
	b := bus.New(bus.Options{})
	defer b.Close()
	s := New(Options{Bus: b, Heartbeat: time.Minute, Epoch: "ep", Journal: named{}})
	defer s.Close()
	idle := func(n int) lathe.Event {
		return lathe.SessionStatus{SessionID: lathe.SessionID(fmt.Sprintf("ses_%d", n)), Status: lathe.Idle{}}
	}
	b.PublishNumbered("/p", idle(1), 41)
	b.Publish("/p", idle(2)) // what only this process tells
	b.Publish("/p", idle(3))
	b.PublishNumbered("/p", idle(4), 42)
	own := func(w http.ResponseWriter, r *http.Request) { _ = s.ServeOwn(w, r, "/p") }
	theirs := func(w http.ResponseWriter, r *http.Request) { _ = s.Serve(w, r, "/p", false) }
	for _, tt := range []struct {
		name, last string
		serve      http.HandlerFunc
		want       []string // the ids of those that are numbered and of those that are not
	}{
		{"a client", "jrn-41.ep-2", theirs, []string{"jrn-41.ep-3", "jrn-42"}},
		{"lathe's own face", "jrn-41.ep-2", own, []string{"jrn-41.ep-2", "jrn-41.ep-3", "jrn-42.ep-4"}},
		{"before anything was numbered", "ep-2", theirs, []string{"ep-3", "jrn-42"}},
		{"with a journal that is another one by now", "old-99.ep-2", theirs, []string{"ep-3", "jrn-42"}},
		{"with a number that none is", "jrn--7.ep-2", theirs, []string{"ep-3", "jrn-42"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.serve)
			defer srv.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Last-Event-ID", tt.last)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var got []string
			resumed := false
			lines := bufio.NewScanner(res.Body)
			for len(got) < len(tt.want) && lines.Scan() {
				resumed = resumed || strings.Contains(lines.Text(), `"resumed":true`)
				if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
					got = append(got, id)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || !resumed {
				t.Errorf("resumed %t, ids %v, want %v (%v)", resumed, got, tt.want, lines.Err())
			}
		})
	}
}
