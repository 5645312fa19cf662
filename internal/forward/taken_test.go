package forward

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

// noting is a server that notes for which queued work it does something, as a [store.Mail] too.
type noting struct {
	store.Mail
	f    *Forwarder // what does its letters
	seen []store.Taking
}

func (n *noting) RoundTrip(r *http.Request) (*http.Response, error) {
	t, _ := store.TakingOf(r.Context())
	n.seen = append(n.seen, t)
	return &http.Response{StatusCode: http.StatusNoContent, Body: io.NopCloser(strings.NewReader(""))}, nil
}

func (n *noting) Send(ctx context.Context, _ store.Owner, body []byte) ([]byte, error) {
	out, _ := n.f.done(ctx, body)
	return out, nil
}

// Whoever does queued work knows which it is and who took it: this server, or the one that holds
// the session. What was not queued is of none.
func TestWorkIsNamed(t *testing.T) {
	n := &noting{}
	body, err := json.Marshal(request{Method: "POST", URI: "/session/ses_1/prompt_async"})
	if err != nil {
		t.Fatal(err)
	}
	by := store.Owner{ID: "self"}
	for _, s := range []*store.Store{{Mail: n, Leases: free{}}, {Mail: n, Leases: held{}}} {
		n.f = New(Options{Bus: bus.New(bus.Options{}), Store: s, Self: by, Log: slog.New(slog.DiscardHandler), Local: func() http.RoundTripper { return n }})
		defer n.f.Close()
		if _, status := n.f.Do(t.Context(), store.Work{N: 7, Session: lathe.SessionID("ses_1"), Body: body, By: by}); status != http.StatusNoContent {
			t.Errorf("it is answered with %d", status)
		}
	}
	n.f.done(t.Context(), body)
	if diff := cmp.Diff([]store.Taking{{N: 7, By: "self"}, {N: 7, By: "self"}, {}}, n.seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}
