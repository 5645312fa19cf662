package server

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is there of the routes of 1.18 has the shapes of its own document, whose
// answers to these operations are in testdata.
func TestContractOf18(t *testing.T) {
	data, err := os.ReadFile("testdata/api-1.18.33.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Operations, Schemas map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	s := newSchemas(doc.Schemas)
	r := newRig(t)
	write(t, r.dir+"/.opencode/skill/walk/SKILL.md", "---\nname: walk\ndescription: How to walk\n---\nOne step, then another.\n")
	model := r.script("one.txt", "text Done.\n")
	write(t, r.dir+"/opencode.json", `{"model":"script/`+model+`","permission":{"bash":{"rm *":"deny"}}}`)
	sess := r.session()
	r.ok("POST", sess+"/message", promptBody(model, "go"))
	project := r.ok("GET", "/project/current", "").(map[string]any)["id"].(string)
	for op, schema := range doc.Operations {
		path := strings.TrimPrefix(op, "GET ")
		path = strings.NewReplacer("{providerID}", "script", "{sessionID}", strings.TrimPrefix(sess, "/session/"), "{projectID}", project).Replace(path)
		if strings.HasPrefix(path, "/api/fs/find") {
			path += "?query=a"
		}
		var v any
		res := r.do("GET", path, "")
		if err := json.Unmarshal(res.body, &v); err != nil || res.status != 200 {
			t.Errorf("%s: %d %.300s", op, res.status, res.body)
			continue
		}
		if err := s.resolve(t, op, schema).Validate(v); err != nil {
			t.Errorf("%s: %v in %.900s", op, err, res.body)
		}
	}
}

// The pages of /api/session hold every session once; what is not there says so in
// the form of 1.18.
func TestAPISessions(t *testing.T) {
	r := newRig(t)
	want := map[string]bool{}
	for range 5 {
		want[strings.TrimPrefix(r.session(), "/session/")] = true
	}
	next := ""
	for page := 0; page == 0 || next != ""; page++ {
		got := r.ok("GET", "/api/session?limit=2&cursor="+next, "").(map[string]any)
		for _, s := range got["data"].([]any) {
			id := s.(map[string]any)["id"].(string)
			if !want[id] {
				t.Errorf("%s comes twice", id)
			}
			delete(want, id)
		}
		next, _ = got["cursor"].(map[string]any)["next"].(string)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	for path, tag := range map[string]string{
		"/api/session/ses_none":   "SessionNotFoundError",
		"/api/session/nothing":    "InvalidRequestError",
		"/api/session?cursor=x":   "InvalidRequestError",
		"/api/provider/none":      "NotFoundError",
		"/api/event":              "NotImplementedError",
		"/api/nothing":            "NotFoundError",
		"/api/location?directory": "",
	} {
		var body struct {
			Tag string `json:"_tag"`
		}
		res := r.do("GET", path, "")
		if err := json.Unmarshal(res.body, &body); err != nil || body.Tag != tag {
			t.Errorf("%s: %q, not %q, %v: %s", path, body.Tag, tag, err, res.body)
		}
	}
	if vcs := r.ok("GET", "/vcs", "").(map[string]any); vcs["branch"] != "main" || vcs["default_branch"] != "main" {
		t.Errorf("vcs %v", vcs)
	}
	write(t, r.dir+"/fresh.txt", "a\nb\n")
	want18 := []any{map[string]any{"file": "fresh.txt", "additions": 2.0, "deletions": 0.0, "status": "added"}}
	if diff := cmp.Diff(want18, r.ok("GET", "/vcs/status", "")); diff != "" {
		t.Errorf("vcs status (-want +got):\n%s", diff)
	}
	place := r.ok("GET", "/api/location?location[directory]="+url.QueryEscape(r.dir+"/sub"), "").(map[string]any)
	if place["directory"] != r.dir+"/sub" {
		t.Errorf("location %v", place)
	}
}
