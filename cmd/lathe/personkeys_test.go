package main

import (
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/keyring"
	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

const machineKey = "sk-test-0123456789" // see providerConfig

// keysSent returns the keys with which the provider was asked, by whom the prompt names.
func keysSent(t *testing.T, model *llmtest.Server) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, r := range model.Requests() {
		who := "nobody"
		for _, name := range []string{"ann", "bob", "eve"} {
			if strings.Contains(string(r.Body), "this is "+name) {
				who = name
			}
		}
		key := r.Header.Get("X-Api-Key")
		if n := len(out[who]); n == 0 || out[who][n-1] != key {
			out[who] = append(out[who], key)
		}
	}
	return out
}

// Each person's turns use that person's key, whichever worker runs them and through whichever
// server they were asked for, with all that belongs to them: titles, subagents, compactions.
// Nobody sees a key of somebody else, and neither the database nor what it tells has one in clear.
func TestOwnKeysOnWorkers(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	text := func(s string) llmtest.Step { return llmtest.Step{Blocks: []llmtest.Block{llmtest.Text(s)}} }
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "task", Args: `{"description":"look","prompt":"a subagent for whom this is ann","subagent_type":"general"}`}}},
		text("the subagent is done"), text("ann has her answer"), text("bob has his answer"), text("eve has hers"), text("a summary"),
	})
	people := map[string]string{}
	for _, name := range []string{"ann", "bob", "eve"} {
		people[name] = w.person(store, name)
	}
	blind := w.peer("blind", store, "--workers-only") // has no secret
	w.env = append(w.env, "LATHE_KEYS_SECRET="+keyring.NewSecret())
	w.worker("first", store, "--turns", "1")
	w.worker("second", store, "--turns", "1")
	front := w.peer("front", store, "--workers-only")
	as := func(p *peer, name string) *peer {
		one := *p
		one.token = people[name]
		return &one
	}

	keys := map[string]string{"ann": "sk-ant-of-ann-0123456789-0123456789-aaaa", "bob": "sk-ant-of-bob-0123456789-0123456789-bbbb"}
	for name, key := range keys {
		as(front, name).call("PUT", "/auth/test?check=false", `{"type":"api","key":"`+key+`"}`)
	}
	if status, out := as(blind, "eve").try("PUT", "/auth/test", `{"type":"api","key":"sk-of-eve"}`); status != http.StatusBadRequest || !strings.Contains(string(out), "LATHE_KEYS_SECRET") {
		t.Errorf("a server without the secret: %d %s", status, out)
	}
	for name, want := range map[string]string{"ann": "aaaa", "bob": "bbbb", "eve": ""} {
		for where, p := range map[string]*peer{"front": front, "blind": blind} {
			got := string(as(p, name).call("GET", "/lathe/keys", ""))
			if (want == "") != (got == "[]\n" || got == "[]") || !strings.Contains(got, want) || strings.Contains(got, "sk-ant") || strings.Count(got, "person") > 1 {
				t.Errorf("%s sees at %s %s", name, where, got)
			}
		}
	}

	annsSession := ""
	for _, name := range []string{"ann", "bob", "eve"} {
		p := as(map[bool]*peer{true: front, false: blind}[name != "bob"], name)
		id := p.session(`[{"permission":"*","pattern":"*","action":"allow"}]`)
		if name == "ann" {
			annsSession = id
		}
		if out := string(p.call("POST", "/session/"+id+"/message", promptBody("this is "+name))); !strings.Contains(out, name+" has ") && name != "eve" {
			t.Errorf("%s is answered %s", name, out)
		}
	}
	ann := as(front, "ann")
	ann.call("POST", "/session/"+annsSession+"/summarize", `{"providerID":"test","modelID":"m"}`)
	want := map[string][]string{"ann": {keys["ann"]}, "bob": {keys["bob"]}, "eve": {machineKey}}
	if diff := cmp.Diff(want, keysSent(t, model)); diff != "" {
		t.Errorf("the keys that the provider got (-want +got):\n%s", diff)
	}
	accepted(t, model)

	ann.call("DELETE", "/auth/test", "")
	if got := string(ann.call("GET", "/lathe/keys", "")); strings.Contains(got, "aaaa") {
		t.Errorf("after the removal: %s", got)
	}
	server := pgtest.Shared(t)
	file := filepath.Join(server.Host(), "keys.sql")
	server.Program(t, "pg_dump", "--file="+file, server.URL())
	t.Cleanup(func() { _ = os.Remove(file) })
	dump, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(dump), "PUT /auth/{providerID}\t/auth/test") {
		t.Error("the audit does not tell who stored a key")
	}
	for name, key := range keys {
		for _, form := range []string{key, hex.EncodeToString([]byte(key)), key[7:20]} {
			if strings.Contains(string(dump), form) {
				t.Errorf("the database has the key of %s as %q", name, form)
			}
		}
	}
	for _, home := range []string{"first", "second", "front", "blind", "home"} {
		err := filepath.WalkDir(filepath.Join(filepath.Dir(w.home), home), func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // sockets and what goes away meanwhile
			}
			raw, err := os.ReadFile(path)
			if strings.Contains(string(raw), "sk-ant-of-") {
				t.Errorf("%s has a key", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
