package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Parts keep the identifiers that the client gave them; what is added to them, and
// a part whose identifier is taken, gets another.
func TestClientsPartIDs(t *testing.T) {
	r := newRig(t)
	sess := r.session()
	body := func(parts string) string {
		return `{"noReply":true,"model":{"providerID":"script","modelID":"none.txt"},"parts":[` + parts + `]}`
	}
	ids := func(answer any) (out []string) {
		for _, p := range answer.(map[string]any)["parts"].([]any) {
			out = append(out, p.(map[string]any)["id"].(string))
		}
		return out
	}
	const a, b = "prt_20314afde001SWaAxD5SQWYDQ4", "prt_20314afde002SWaAxD5SQWYDQ4"
	text := func(id string) string { return fmt.Sprintf(`{"id":%q,"type":"text","text":"hi"}`, id) }
	file := fmt.Sprintf(`{"id":%q,"type":"file","mime":"text/plain","filename":"a.txt","url":"file://%s/a.txt"}`, b, r.dir)
	got := ids(r.ok("POST", sess+"/message", body(text(a)+`,{"type":"text","text":"ours"},`+file)))
	if len(got) != 5 || got[0] != a || got[4] != b {
		t.Errorf("ids %v, want the client's for the text and the file", got)
	}
	stored := r.ok("GET", sess+"/message", "").([]any)
	if diff := cmp.Diff(got, ids(stored[0])); diff != "" {
		t.Errorf("stored (-answered +stored):\n%s", diff)
	}
	other := r.session()
	if got := ids(r.ok("POST", other+"/message", body(text(a)+","+text("prt_x")+","+text("prt_x")))); got[0] == a || got[1] != "prt_x" || got[2] == "prt_x" {
		t.Errorf("taken ids: %v", got)
	}
	for _, bad := range []string{"msg_1", "prt_", "prt_a/b"} {
		if res := r.do("POST", sess+"/message", body(text(bad))); res.status != http.StatusBadRequest {
			t.Errorf("id %q: %d %s", bad, res.status, res.body)
		}
	}
}

// So do parts that are sent with a command.
func TestClientsPartIDsOfCommands(t *testing.T) {
	r := newRig(t)
	if err := os.MkdirAll(filepath.Join(r.dir, ".lathe", "command"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".lathe", "command", "look.md"), []byte("Look at $ARGUMENTS.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const id = "prt_20314afde001SWaAxD5SQWYDQ4"
	body := fmt.Sprintf(`{"command":"look","arguments":"it","model":%q,"parts":[{"id":%q,"type":"file","mime":"text/plain","filename":"a.txt","url":"file://%s/a.txt"}]}`, "script/"+r.script("look.txt", "text seen"), id, r.dir)
	sess := r.session()
	r.ok("POST", sess+"/command", body)
	stored := r.ok("GET", sess+"/message", "").([]any)[0].(map[string]any)["parts"].([]any)
	for _, p := range stored {
		if p := p.(map[string]any); p["type"] == "file" && p["id"] != id {
			t.Errorf("the file is %v, want %s", p["id"], id)
		}
	}
	if last := stored[len(stored)-1].(map[string]any); last["type"] != "file" {
		t.Errorf("the newest part is no file: %v", last)
	}
}
