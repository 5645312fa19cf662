package auth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiscover(t *testing.T) {
	answer, status := "", http.StatusOK
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/opencode" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer ts.Close()
	answer = `{"auth":{"command":["login","--print"],"env":"TOKEN"}}`
	got, err := Discover(t.Context(), ts.Client(), ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Method{Command: []string{"login", "--print"}, Env: "TOKEN"}, got); diff != "" {
		t.Errorf("method (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		answer string
		status int
		want   string
	}{
		{"{}", 200, "does not say how to log in"},
		{`{"auth":{"command":["x"]}}`, 200, "does not say how to log in"},
		{"<html>", 200, "not the document"},
		{"", 404, "HTTP status 404"},
	} {
		answer, status = tt.answer, tt.status
		if _, err := Discover(t.Context(), ts.Client(), ts.URL); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d %q: %v", tt.status, tt.answer, err)
		}
	}
}
