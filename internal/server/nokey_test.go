package server

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever sends a prompt to a provider without a key, and whoever listens, is told
// which provider it is.
func TestPromptWithoutAKey(t *testing.T) {
	r := newRig(t)
	const message = `provider "openai" has no key`
	const hint = "set OPENAI_API_KEY, or run: lathe auth login openai"
	for _, path := range []string{"/message", "/prompt_async"} {
		sess := r.session()
		events := r.listen("/event")
		res := r.do("POST", sess+path, `{"model":{"providerID":"openai","modelID":"gpt-5"},"parts":[{"type":"text","text":"hi"}]}`)
		var told map[string]any
		if err := json.Unmarshal(res.body, &told); err != nil {
			t.Fatalf("%v: %s", err, res.body)
		}
		want := map[string]any{"name": "ProviderAuthError", "data": map[string]any{"message": message, "hint": hint, "providerID": "openai"}}
		if diff := cmp.Diff(want, told); res.status != 400 || diff != "" {
			t.Errorf("%s: status %d, body (-want +got):\n%s", path, res.status, diff)
		}
		frames := events.until("session.error")
		want = map[string]any{"name": "ProviderAuthError", "data": map[string]any{"message": message + "; " + hint, "providerID": "openai"}}
		if diff := cmp.Diff(any(want), frames[len(frames)-1].props["error"]); diff != "" {
			t.Errorf("%s: event (-want +got):\n%s", path, diff)
		}
		events.cancel()
	}
}
