package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is wrong with a body is named as the client wrote it.
func TestBodyFaults(t *testing.T) {
	r := newRig(t)
	sess := r.session()
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/session", `{"title":5}`, 400, "title: expected string, received number"},
		{"POST", sess + "/summarize", `{"providerID":[],"modelID":"m"}`, 400, "providerID: expected string, received array"},
		{"POST", "/session", `{"title":"` + strings.Repeat("a", bodyLimit) + `"}`, 413, "the body is larger than 1048576 bytes"},
	} {
		res := r.do(tt.method, tt.path, tt.body)
		var out struct{ Data struct{ Message string } }
		if err := json.Unmarshal(res.body, &out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, out.Data.Message); diff != "" || res.status != tt.status {
			t.Errorf("%s: %d (-want +got):\n%s", tt.path, res.status, diff)
		}
	}
}
