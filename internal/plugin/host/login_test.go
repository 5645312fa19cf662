//go:build unix

package host_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/plugin/host"
)

const loginPlugin = `
export const L = async () => ({ auth: {
  provider: "acme",
  async loader(getAuth, provider) {
    const auth = await getAuth()
    return { apiKey: auth.access, baseURL: "http://acme.test/v1", headers: { "X-Acme": provider.id },
      async fetch(url, init) { return fetch(String(url).replace("http://acme.test", process.env.ACME), { ...init, headers: { ...init.headers, "X-Fetched": "yes" } }) } }
  },
  methods: [
    { type: "oauth", label: "Acme account", prompts: [{ type: "text", key: "team", message: "Team" }], async authorize(inputs) {
      return { url: "http://acme.test/login?team=" + inputs.team, instructions: "paste the code", method: "code",
        async callback(code) { return code === "good" ? { type: "success", refresh: "r", access: "a", expires: 5000 } : { type: "failed" } } } } },
    { type: "api", label: "Key", async authorize() { return { type: "success", key: "k" } } },
  ],
} })`

// A plugin logs in, prepares the requests to its provider and makes them itself.
func TestLoginOfAPlugin(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		for i := range 3 {
			fmt.Fprintf(w, "%d %s %s %s\n", i, req.Method, req.Header.Get("X-Fetched"), body)
			w.(http.Flusher).Flush()
		}
	}))
	defer srv.Close()
	each(t, func(t *testing.T, r *rig) {
		r.o.Env = append(r.o.Env, "ACME="+srv.URL)
		r.o.Credential = func(string) any { return map[string]any{"type": "oauth", "access": "token"} }
		r.write("plugin/l.js", loginPlugin)
		h := r.start(`{}`)
		begun, err := h.Logins().Authorize(t.Context(), "acme", 0, map[string]string{"team": "x"})
		want := host.Authorization{URL: "http://acme.test/login?team=x", Method: "code", Instructions: "paste the code"}
		if diff := cmp.Diff(want, begun); err != nil || diff != "" {
			t.Errorf("begun: %v (-want +got):\n%s", err, diff)
		}
		if _, err := h.Logins().Callback(t.Context(), "acme", "bad"); err == nil {
			t.Error("a login that failed is no error")
		}
		left, err := h.Logins().Callback(t.Context(), "acme", "good")
		if diff := cmp.Diff(host.Credential{Type: "success", Refresh: "r", Access: "a", Expires: 5000}, left); err != nil || diff != "" {
			t.Errorf("left: %v (-want +got):\n%s", err, diff)
		}
		begun, err = h.Logins().Authorize(t.Context(), "acme", 1, nil)
		if err != nil || begun.Result == nil || begun.Result.Key != "k" {
			t.Errorf("key: %+v, %v", begun, err)
		}
		if _, err := h.Logins().Authorize(t.Context(), "other", 0, nil); err == nil {
			t.Error("a provider that no plugin knows was logged in to")
		}
		loaded, err := h.Logins().Load(t.Context(), "acme", map[string]any{"id": "acme"})
		if diff := cmp.Diff(host.Loaded{APIKey: "token", BaseURL: "http://acme.test/v1", Headers: map[string]string{"X-Acme": "acme"}, Fetches: true}, loaded); err != nil || diff != "" {
			t.Errorf("loaded: %v (-want +got):\n%s", err, diff)
		}
		client := &http.Client{Transport: h.Logins().Transport("acme")}
		resp, err := client.Post("http://acme.test/v1/chat", "application/json", strings.NewReader(`{"q":"é"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if line := ` POST yes {"q":"é"}`; err != nil || string(text) != "0"+line+"\n1"+line+"\n2"+line+"\n" {
			t.Errorf("answer %q, %v", text, err)
		}
		if _, err := client.Get("http://127.0.0.1:1/none"); err == nil {
			t.Error("a request that cannot be made has no error")
		}
	})
}
