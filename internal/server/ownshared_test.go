package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestShared answers what a share service has about a link, as it is.
func TestShared(t *testing.T) {
	const list = `[{"type":"session","data":{"id":"ses_1","title":"a <b>"}}]`
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(list)) }))
	t.Cleanup(service.Close)
	r := newRig(t)
	if got := r.do("POST", "/lathe/shared", `{"url":"`+service.URL+`/s/abc"}`); got.status != 200 || !strings.HasPrefix(strings.TrimSpace(string(got.body)), `[{"type":"session"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.do("POST", "/lathe/shared", `{"url":"http://example.org/s/abc"}`); got.status != 400 || !strings.Contains(string(got.body), "not encrypted") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
