package server

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/client"
)

// TestApprovalMode holds that a face reads and chooses the mode of a session, and that all of
// them are told.
func TestApprovalMode(t *testing.T) {
	r := newRig(t)
	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	id := lathe.SessionID(strings.TrimPrefix(r.session(), "/session/"))
	if mode, err := c.ApprovalMode(t.Context(), id); err != nil || mode != lathe.ByRules {
		t.Errorf("at first it is %q, %v", mode, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var told []lathe.Event
	for u, err := range c.Follow(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Open {
			if err := c.SetApprovalMode(t.Context(), id, lathe.PlanOnly); err != nil {
				t.Fatal(err)
			}
		}
		if ev, ok := u.Event.(lathe.SessionMode); ok {
			told = append(told, ev)
			break
		}
	}
	if diff := cmp.Diff([]lathe.Event{lathe.SessionMode{SessionID: id, Mode: lathe.PlanOnly}}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if mode, err := c.ApprovalMode(t.Context(), id); err != nil || mode != lathe.PlanOnly {
		t.Errorf("then it is %q, %v", mode, err)
	}
	if err := c.SetApprovalMode(t.Context(), id, "yolo"); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("a mode that does not exist: %v", err)
	}
}
