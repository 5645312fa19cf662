package server

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServersOverTheAPI adds a server, looks at it, and switches it off, in OpenCode's
// shapes; what its configuration keeps secret is told nowhere.
func TestServersOverTheAPI(t *testing.T) {
	r := newRig(t)
	write(t, filepath.Join(r.dir, "opencode.json"), `{"mcp":{"off":{"type":"local","command":["x"],"environment":{"A":"TOPSECRET"},"enabled":false},"far":{"type":"remote","url":"http://127.0.0.1:9/x?key=TOPSECRET","headers":{"X-Key":"TOPSECRET"}}}}`)
	if err := os.Chtimes(filepath.Join(r.dir, "opencode.json"), r.srv.opts.Now(), r.srv.opts.Now()); err != nil {
		t.Fatal(err)
	}
	add := r.do(http.MethodPost, "/mcp", `{"name":"bad","config":{"type":"local","command":["no-such-server"],"environment":{"B":"TOPSECRET"}}}`)
	var got map[string]map[string]string
	if err := json.Unmarshal(add.body, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{
		"off": {"status": "disabled"}, "far": {"status": "failed", "error": "it was not started yet"},
		"bad": {"status": "failed", "error": `start "no-such-server": exec: "no-such-server": executable file not found in $PATH`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after adding (-want +got):\n%s", diff)
	}
	if res := r.do(http.MethodPost, "/mcp/bad/disconnect", ""); string(res.body) != "true" {
		t.Errorf("disconnect: %s", res.body)
	}
	for _, path := range []string{"/mcp", "/config", "/lathe/mcp", "/lathe/mcp/far", "/lathe/mcp/bad", "/experimental/resource", "/lathe/config/effective"} {
		res := r.do(http.MethodGet, path, "")
		if res.status != http.StatusOK || strings.Contains(string(res.body), "TOPSECRET") {
			t.Errorf("%s: %d %s", path, res.status, res.body)
		}
	}
	if strings.Contains(r.logs.String(), "TOPSECRET") {
		t.Error("the log tells a secret")
	}
}
