package server

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReadRulesBindFinding holds that a search over the API prints nothing that the
// default agent would have to ask for, and does not name what a rule denies.
func TestReadRulesBindFinding(t *testing.T) {
	r := newRig(t)
	for name, text := range map[string]string{
		"opencode.json": `{"permission": {"read": {"private/*": "deny"}}}`, "private/id.txt": "turnip key\n", ".env": "KEY=turnip\n", "soup.txt": "turnip soup\n",
	} {
		write(t, filepath.Join(r.dir, name), text)
	}
	for path, want := range map[string]string{
		"/find?pattern=turnip": "turnip soup", "/find/file?query=t": "soup.txt", "/find/file?query=": "sub/",
		"/lathe/file?query=txt": "soup.txt", "/api/fs/find?query=txt": "soup.txt",
	} {
		res := r.do("GET", path, "")
		if body := string(res.body); res.status != 200 || !strings.Contains(body, want) || strings.Contains(body, "turnip key") || strings.Contains(body, "KEY=") || strings.Contains(body, "id.txt") {
			t.Errorf("%s: %d %s", path, res.status, body)
		}
	}
}
