package turn

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm/adapter"
)

// Clients look response headers up in lower case, whatever protocol they came by.
func TestResponseHeadersAreLowerCase(t *testing.T) {
	err := adapter.StatusError(418, http.Header{"X-Req": {"1"}, "Set-Cookie": {"secret"}, "Retry-After": {"2", "3"}}, nil)
	got := classify(t.Context(), err, lathe.ModelRef{Provider: "p", Model: "m"})
	want := &lathe.APIFailure{Message: "the provider answered: i'm a teapot", Status: 418,
		Headers: map[string]string{"x-req": "1", "retry-after": "2"}, Metadata: map[string]string{"kind": "invalid"}}
	if diff := cmp.Diff(lathe.Failure(want), got); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
}
