package share

import (
	"log/slog"
	"testing"

	"lathe"
)

// TestShareAnewWhileGone shares a session anew while an attempt for the share that
// was taken back is on its way: that attempt's refusal is not the new share's.
func TestShareAnewWhileGone(t *testing.T) {
	q := &queue{svc: &Service{opts: Options{Log: slog.New(slog.DiscardHandler)}}, all: map[lathe.SessionID]*shared{}}
	old := &shared{id: "ses_1", sending: make(chan struct{})}
	fresh := &shared{id: "ses_1", unsent: map[string]any{}, sending: make(chan struct{})}
	q.all["ses_1"] = old
	q.drop("ses_1")
	q.all["ses_1"] = fresh
	q.settle(old, &batch{sh: old}, status(404))
	if q.all["ses_1"] != fresh || fresh.dropped || !old.dropped {
		t.Error("the new share is no longer followed")
	}
	q.settle(fresh, &batch{sh: fresh}, nil)
}
