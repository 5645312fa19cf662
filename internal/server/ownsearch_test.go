package server

import (
	"encoding/json"
	"testing"

	"lathe/internal/api"
)

// TestOwnSearch holds that what was just said is found, in its directory alone.
func TestOwnSearch(t *testing.T) {
	r := newRig(t)
	name := r.script("s.txt", "text the kettle stands in the garden")
	r.ok("POST", r.session()+"/message", promptBody(name, "where is it?"))
	search := func(query string) (hits []api.Hit) {
		t.Helper()
		res := r.do("GET", "/lathe/search?query="+query, "")
		if err := json.Unmarshal(res.body, &hits); err != nil || res.status != 200 {
			t.Fatalf("%s: %d %s", query, res.status, res.body)
		}
		return hits
	}
	hits := search("kettle")
	if len(hits) != 1 || hits[0].Role != "assistant" || hits[0].Text != "the kettle stands in the garden" || hits[0].Message == "" || hits[0].Title == "" {
		t.Errorf("hits: %+v", hits)
	}
	if hits := search("teapot"); len(hits) > 0 {
		t.Errorf("hits: %+v", hits)
	}
	if hits := search("+"); len(hits) > 0 {
		t.Errorf("no words: %+v", hits)
	}
}
