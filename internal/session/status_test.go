package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
)

// What sessions do is known by directory, as it was told last; who is idle or gone is
// not listed.
func TestStatuses(t *testing.T) {
	b := bus.New(bus.Options{})
	s := newStatuses(b)
	defer s.close()
	tell := func(dir string, id lathe.SessionID, st lathe.Status) {
		b.Publish(dir, lathe.SessionStatus{SessionID: id, Status: st})
	}
	again := lathe.Retrying{Attempt: 2, Message: "overloaded"}
	for _, id := range []lathe.SessionID{"ses_busy", "ses_idle", "ses_again", "ses_gone"} {
		tell("/a", id, lathe.Busy{})
	}
	tell("/b", "ses_else", lathe.Busy{})
	tell("/a", "ses_idle", lathe.Idle{})
	tell("/a", "ses_again", again)
	b.Publish("/a", lathe.SessionDeleted{Session: lathe.Session{ID: "ses_gone"}})
	want := map[lathe.SessionID]lathe.Status{"ses_busy": lathe.Busy{}, "ses_again": again}
	if diff := cmp.Diff(want, s.in("/a")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}
