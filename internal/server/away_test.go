package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/store"
)

// A store that cannot be reached is a 503 that says when to try again.
func TestStoreIsAway(t *testing.T) {
	r := newRig(t)
	away := error(lathe.Errorf(lathe.CodeUnavailable, "start it", "the database cannot be reached"))
	r.fault.Store(&away)
	res := r.do("POST", "/session", "{}")
	if res.status != http.StatusServiceUnavailable || res.header.Get("Retry-After") != "5" || res.told(t).Name != "StorageUnavailableError" || !strings.Contains(string(res.body), "start it") {
		t.Errorf("%d %v %s", res.status, res.header, res.body)
	}
	r.fault.Store(nil)
	r.ok("POST", "/session", "{}")
}

// A session that another server has taken over is a conflict that says when to try again.
func TestSessionIsLost(t *testing.T) {
	r := newRig(t)
	lost := fmt.Errorf("session: %w", store.ErrLost)
	r.fault.Store(&lost)
	res := r.do("POST", "/session", "{}")
	if res.status != http.StatusConflict || res.header.Get("Retry-After") != "1" || res.told(t).Name != "SessionBusyError" || !strings.Contains(string(res.body), "taken the session over") {
		t.Errorf("%d %v %s", res.status, res.header, res.body)
	}
	r.fault.Store(nil)
	r.ok("POST", "/session", "{}")
}
