package server

import (
	"net/http"
	"strings"
	"testing"

	"lathe"
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
