package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exchange is a request that was sent to OpenCode 1.1.34, and its answer. Long
// texts and lists are cut.
type exchange struct {
	Name, Method, Path string
	Query, Headers     map[string]string
	Body               json.RawMessage
	Status             int
	Answer             any
}

// differences are answers that are not OpenCode's, each with its line in
// docs/compat.md.
var differences = map[string]string{
	"015-formatter":                  "formatters",
	"009-provider-auth":              "logins",
	"030-file-content-escape":        "status of refusals",
	"037-unknown-route":              "unknown routes",
	"040-head-root":                  "unknown routes",
	"047-path-directory-missing-dir": "missing directories",
	"053-cors-get-localhost":         "web origins",
	"054-cors-get-evil":              "web origins",
	"061-session-create-badjson":     "malformed JSON",
	"078-session-messages-notfound":  "unknown sessions",
	"082-session-delete-notfound":    "unknown sessions",
}

// What OpenCode 1.1.34 was asked is asked again: the statuses are the same, and
// whatever was in its answers is in ours, except for the listed differences.
func TestReplay(t *testing.T) {
	data, err := os.ReadFile("testdata/replay-1.1.34.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	compat, err := os.ReadFile("../../docs/compat.md")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	write(t, filepath.Join(r.dir, "README.md"), "# Demo project\n")
	write(t, filepath.Join(r.dir, "src", "main.go"), "package main\n\nfunc Helper() int { return 1 }\n")
	ids := map[string]string{}
	ours := func(s string) string {
		s = strings.ReplaceAll(s, "/home/dev/project", r.dir)
		for theirs, id := range ids {
			s = strings.ReplaceAll(s, theirs, id)
		}
		return s
	}
	for _, ex := range all {
		q := url.Values{}
		for k, v := range ex.Query {
			q.Set(k, ours(v))
		}
		var header []string
		for k, v := range ex.Headers {
			header = append(header, k, strings.ReplaceAll(ours(v), "%2Fhome%2Fdev%2Fproject", url.PathEscape(r.dir)))
		}
		body := ours(string(ex.Body))
		if body == "null" {
			body = ""
		}
		var text string
		if json.Unmarshal(ex.Body, &text) == nil && text != "" { // not JSON when it was sent
			body = text
		}
		res := r.do(ex.Method, ours(ex.Path)+"?"+q.Encode(), body, header...)
		var got any
		_ = json.Unmarshal(res.body, &got)
		if want, ok := ex.Answer.(map[string]any); ok && ex.Method == "POST" && ex.Path == "/session" && res.status == 200 {
			ids[want["id"].(string)] = got.(map[string]any)["id"].(string)
		}
		var diffs []string
		if res.status != ex.Status {
			diffs = append(diffs, fmt.Sprintf("status %d, not %d", res.status, ex.Status))
		} else {
			diffs = lacks("", ex.Answer, got)
		}
		section, listed := differences[ex.Name]
		switch {
		case len(diffs) > 0 && !listed:
			t.Errorf("%s: %s\nin %.300s", ex.Name, strings.Join(diffs, "; "), res.body)
		case len(diffs) == 0 && listed && section != "":
			t.Errorf("%s is listed as different and is not", ex.Name)
		case section != "" && !strings.Contains(string(compat), "**"+section+"**"):
			t.Errorf("docs/compat.md does not tell about %q", section)
		}
	}
}

// byName are objects whose keys are names, not fields.
var byName = map[string]bool{".default": true, ".providers[].models": true, ".all[].models": true, "": false}

// lacks lists what is in an answer of theirs and missing or of another kind in ours.
func lacks(at string, theirs, ours any) []string {
	switch want := theirs.(type) {
	case map[string]any:
		got, ok := ours.(map[string]any)
		if !ok {
			return []string{at + " is no object"}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if (at == "" && k == "data" && want["success"] == false) || byName[at] || strings.HasSuffix(at, ".options") || optional[k] || strings.HasPrefix(at, ".properties") {
				continue
			}
			if _, ok := got[k]; !ok {
				out = append(out, at+"."+k+" is missing")
				continue
			}
			out = append(out, lacks(at+"."+k, want[k], got[k])...)
		}
		return out
	case []any:
		got, ok := ours.([]any)
		switch {
		case !ok:
			return []string{at + " is no list"}
		case len(want) == 0:
			return nil
		case len(got) == 0:
			return []string{at + " is empty"}
		}
		return listLacks(at+"[]", want, got)
	case nil:
		return nil
	}
	if fmt.Sprintf("%T", theirs) != fmt.Sprintf("%T", ours) {
		return []string{fmt.Sprintf("%s is a %T, not a %T", at, ours, theirs)}
	}
	return nil
}

// listLacks compares each kind of element with the first of ours of that kind.
func listLacks(at string, want, got []any) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range want {
		k := kindOf(w)
		if seen[k] {
			continue
		}
		seen[k] = true
		i := slices.IndexFunc(got, func(g any) bool { return kindOf(g) == k })
		if i < 0 {
			out = append(out, at+" has no "+k)
			continue
		}
		out = append(out, lacks(at, w, got[i])...)
	}
	return out
}

// kindOf says what a part or a message is; other things are all of one kind.
func kindOf(v any) string {
	m, _ := v.(map[string]any)
	if info, ok := m["info"].(map[string]any); ok {
		k := fmt.Sprint(info["role"])
		if e, ok := info["error"].(map[string]any); ok {
			k += " with " + fmt.Sprint(e["name"])
		}
		if info["summary"] == true {
			k += " summary"
		}
		return k
	}
	kind, _ := m["type"].(string)
	if state, ok := m["state"].(map[string]any); ok {
		kind += fmt.Sprintf(" %v %v", m["tool"], state["status"])
	}
	return kind
}

// optional are fields that depend on the configuration, or that only a
// JavaScript validator fills in.
var optional = map[string]bool{
	"snapshot": true, "summary": true, // docs/compat.md tells when they are there
	"responseBody": true, "responseHeaders": true, "url": true, // of a provider that is asked over HTTP
	"errors": true, "discriminator": true, "note": true, "values": true,
	"$schema": true, "autoupdate": true, "share": true, "small_model": true, "origin": true, "format": true, "prefix": true, "expected": true, "patch": true, "diff": true, "key": true, "temperature": true,
	"description": true, "agent": true, "model": true, "mcp": true, "username": true, "keybinds": true, "mode": true, "plugin": true,
	"command": true, "provider": true, "title": true, "sessionID": true, "pattern": true, "path": true, "properties": true, "parentID": true,
}
