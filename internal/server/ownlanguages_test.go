package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

func (r *rig) languages() (out api.LanguageServers) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.get("/lathe/lsp")), &out); err != nil {
		r.t.Fatal(err)
	}
	for i := range out.Servers {
		out.Servers[i].Memory = 0 // as the machine has it
	}
	return out
}

// TestLanguageServerIsStoppedAndStartedAnew stops a server over the interface; the next
// change starts it again.
func TestLanguageServerIsStoppedAndStartedAnew(t *testing.T) {
	r := withLanguages(t, "push")
	if diff := cmp.Diff(api.LanguageServers{On: true, Servers: []api.LanguageServer{}}, r.languages()); diff != "" {
		t.Errorf("before anything was changed (-want +got):\n%s", diff)
	}
	change := func(file string) {
		name := r.script(file+".txt", fmt.Sprintf("tool write {\"filePath\":%q,\"content\":\"bad\\n\"}\n---\ntext done\n", filepath.Join(r.dir, file+".fake")))
		r.ok("POST", r.session()+"/message", promptBody(name, "go"))
	}
	change("a")
	runs := r.languages()
	if len(runs.Servers) != 1 || runs.Servers[0].ID != "mine" || runs.Servers[0].State != "connected" {
		t.Fatalf("%+v", runs)
	}
	root, _ := json.Marshal(runs.Servers[0].Root)
	stop := fmt.Sprintf(`{"id":"mine","root":%s}`, root)
	r.ok("POST", "/lathe/lsp/stop", stop)
	if diff := cmp.Diff(api.LanguageServers{On: true, Servers: []api.LanguageServer{}}, r.languages()); diff != "" {
		t.Errorf("after it was stopped (-want +got):\n%s", diff)
	}
	if res := r.do("POST", "/lathe/lsp/stop", stop); res.status != http.StatusNotFound {
		t.Errorf("stopped twice: %d %s", res.status, res.body)
	}
	change("b")
	if again := r.languages(); len(again.Servers) != 1 || again.Servers[0].State != "connected" {
		t.Errorf("%+v", again)
	}
}

// TestFailedLanguageServerIsTriedAgain holds that stopping a server that failed tells why it
// did and makes the next change try it at once.
func TestFailedLanguageServerIsTriedAgain(t *testing.T) {
	r := withLanguages(t, "exit")
	name := r.script("w.txt", fmt.Sprintf("tool write {\"filePath\":%q,\"content\":\"bad\\n\"}\n---\ntext done\n", filepath.Join(r.dir, "a.fake")))
	r.ok("POST", r.session()+"/message", promptBody(name, "go"))
	failed := r.languages()
	if len(failed.Servers) != 1 || failed.Servers[0].State != "error" || failed.Servers[0].Why == "" {
		t.Fatalf("%+v", failed)
	}
	root, _ := json.Marshal(failed.Servers[0].Root)
	r.ok("POST", "/lathe/lsp/stop", fmt.Sprintf(`{"id":"mine","root":%s}`, root))
	if left := r.languages(); len(left.Servers) != 0 {
		t.Errorf("%+v", left)
	}
}
