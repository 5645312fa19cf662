package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A page that leads a model's fetch to the server it runs in brings back nothing,
// though fetching is allowed; nor does one of another server of the same person.
func TestServeIsNotFetched(t *testing.T) {
	dir := t.TempDir()
	shared := map[string]string{"LATHE_HOME": filepath.Join(t.TempDir(), "lathe")}
	s, other := start(t, dir, shared, "--port", "0").ready(), start(t, dir, shared, "--port", "0").ready()
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "key"), []byte("TOPSECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := "/file/content?path=key&directory=" + secret
	page := httptest.NewServer(http.RedirectHandler(s.url+path, http.StatusFound))
	defer page.Close()
	for i, address := range []string{s.url + path, strings.Replace(s.url, "127.0.0.1", "localhost", 1) + path, other.url + path, page.URL + "/"} {
		script := fmt.Sprintf("fetch%d.txt", i) // it is read once
		call := fmt.Sprintf("tool webfetch {\"url\":%q,\"format\":\"text\"}\n---\ntext Finished.\n", address)
		if err := os.WriteFile(filepath.Join(dir, script), []byte(call), 0o644); err != nil {
			t.Fatal(err)
		}
		_, made := s.do("POST", "/session", `{"permission":[{"permission":"webfetch","pattern":"`+page.URL+`/*","action":"allow"}]}`)
		var sess struct{ ID string }
		if err := json.Unmarshal([]byte(made), &sess); err != nil {
			t.Fatal(err)
		}
		s.do("POST", "/session/"+sess.ID+"/message", `{"model":{"providerID":"script","modelID":"`+script+`"},"parts":[{"type":"text","text":"go"}]}`)
		_, messages := s.do("GET", "/session/"+sess.ID+"/message", "")
		if strings.Contains(messages, "TOPSECRET") || !strings.Contains(messages, "lathe's own server") {
			t.Errorf("%s: %s", address, messages)
		}
	}
	other.stop()
	s.stop()
}
