package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/client"
)

func TestCredentials(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Trusted = true
		o.Getenv = func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-secret"}[name] }
	})
	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetKey(t.Context(), "anthropic", "sk-secret"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetToken(t.Context(), "https://example.com", "TOKEN", "tok-secret"); err != nil {
		t.Fatal(err)
	}
	res := r.do("GET", "/lathe/auth", "")
	if strings.Contains(string(res.body), "secret") {
		t.Errorf("a secret is told: %s", res.body)
	}
	var got api.Credentials
	if err := json.Unmarshal(res.body, &got); err != nil {
		t.Fatal(err)
	}
	want := api.Credentials{
		Stored:      []api.Credential{{Provider: "anthropic", Kind: "key"}, {Provider: "https://example.com", Kind: "organisation"}},
		Environment: []api.FoundKey{{Provider: "openai", Name: "OpenAI", Variable: "OPENAI_API_KEY"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("credentials (-want +got):\n%s", diff)
	}
	for _, id := range []string{"anthropic", "https://example.com"} {
		if err := c.RemoveKey(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := c.Credentials(t.Context()); err != nil || len(got.Stored) != 0 {
		t.Errorf("after they were removed: %+v, %v", got, err)
	}
	if res := newRig(t).do("GET", "/lathe/auth", ""); res.status != 403 {
		t.Errorf("over the network without a password: %d %s", res.status, res.body)
	}
}
