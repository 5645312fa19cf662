package server

import (
	"fmt"
	"net/http"
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
