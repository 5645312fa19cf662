package share

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lathe"
)

// TestShared reads what a service has about a link, and refuses what is none.
func TestShared(t *testing.T) {
	const list = `[{"type":"session","data":{"id":"ses_1"}}]`
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/share/abc/data":
			_, _ = w.Write([]byte(list))
		case "/api/share/page/data":
			_, _ = w.Write([]byte(`<html>`))
		case "/api/share/away/data":
			http.Redirect(w, r, "/api/share/abc/data", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(service.Close)
	s := &Service{queue: &queue{api: newAPI(nil)}}
	for _, c := range []struct{ link, fails string }{
		{service.URL + "/s/abc", ""},
		{" " + service.URL + "/share/abc?x=1#y ", ""},
		{service.URL + "/s/gone", "404"},
		{service.URL + "/s/page", "no shared session"},
		{service.URL + "/s/away", "302"},
		{service.URL, "names no session"},
		{"http://example.org/s/abc", "not encrypted"},
		{"file:///etc/passwd", "not an address"},
		{"https://user:pw@example.org/s/abc", "not an address"},
		{"://", "no address"},
	} {
		got, err := s.Shared(t.Context(), c.link)
		switch e := (*lathe.Error)(nil); {
		case c.fails == "" && (err != nil || string(got) != list):
			t.Errorf("%s: %s, %v", c.link, got, err)
		case c.fails != "" && (!errors.As(err, &e) || !strings.Contains(e.Msg, c.fails) || e.Hint == ""):
			t.Errorf("%s: %s, %v; want %q with a hint", c.link, got, err, c.fails)
		}
	}
}
