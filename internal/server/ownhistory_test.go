package server

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHistoryPages reads a session from both ends and from a message in its middle, with
// a gap in the numbers where messages were taken back.
func TestHistoryPages(t *testing.T) {
	r := newRig(t)
	id, model := r.session(), r.script("turn.txt", "text unused\n")
	say := func(n int) string {
		body := fmt.Sprintf(`{"noReply":true,"model":{"providerID":"script","modelID":%q},"parts":[{"type":"text","text":"prompt %d"}]}`, model, n)
		return r.ok("POST", "/lathe"+id+"/prompt", body).(map[string]any)["messageID"].(string)
	}
	for n := range 30 {
		say(n)
	}
	gone := say(99)
	for range 30 {
		say(99)
	}
	r.ok("POST", "/lathe"+id+"/revert", `{"messageID":"`+gone+`"}`)
	var middle string
	for n := range 10 {
		m := say(30 + n)
		if n == 5 {
			middle = m
		}
	}
	type page struct {
		Texts       []string
		More, Newer bool
	}
	var firstSeq, lastSeq float64
	read := func(query string) (p page) {
		t.Helper()
		h := r.ok("GET", "/lathe"+id+"/message?"+query, "").(map[string]any)
		p.More, _ = h["more"].(bool)
		p.Newer, _ = h["newer"].(bool)
		for i, m := range h["messages"].([]any) {
			m := m.(map[string]any)
			lastSeq = m["lathe"].(map[string]any)["seq"].(float64)
			if i == 0 {
				firstSeq = lastSeq
			}
			p.Texts = append(p.Texts, m["parts"].([]any)[0].(map[string]any)["text"].(string))
		}
		return p
	}
	texts := func(from, to int) (out []string) {
		for n := from; n < to; n++ {
			out = append(out, fmt.Sprintf("prompt %d", n))
		}
		return out
	}
	check := func(query string, want page) {
		t.Helper()
		if diff := cmp.Diff(want, read(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	check("limit=8", page{texts(32, 40), true, false})
	check(fmt.Sprintf("limit=8&before=%v", firstSeq), page{texts(24, 32), true, false})
	check("limit=8&before=3", page{texts(0, 2), false, false})
	check(fmt.Sprintf("limit=4&after=%v", lastSeq), page{texts(2, 6), true, true})
	check(fmt.Sprintf("limit=6&after=%v", 28), page{texts(28, 34), true, true}) // over the gap
	check(fmt.Sprintf("limit=6&after=%v", lastSeq), page{texts(34, 40), true, false})
	check(fmt.Sprintf("limit=6&after=%v", lastSeq), page{nil, true, false})
	check("limit=2&after=0", page{texts(0, 2), false, true})
	check("limit=6&around="+middle, page{texts(33, 39), true, true})
	if res := r.do("GET", "/lathe"+id+"/message?around=msg_none", ""); res.status != 404 {
		t.Errorf("around nothing: %d", res.status)
	}
}
