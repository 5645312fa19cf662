package acp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// chosenOf returns what an answer says is chosen, by option.
func chosenOf(options []configOption) map[string]string {
	out := map[string]string{}
	for _, o := range options {
		out[o.ID] = o.Current
	}
	return out
}

// A model and its effort are chosen by options, the effort goes when a model without it is
// chosen, and the window of a model that is known is told with what a turn used.
func TestModelEffortAndUsage(t *testing.T) {
	r := newRig(t, bare)
	write(t, filepath.Join(r.dir, "opencode.json"), `{"provider":{
		"deep":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"http://127.0.0.1:1","apiKey":"x"},"models":{"thinker":{"limit":{"context":9000,"output":100},"variants":{"low":{"reasoningEffort":"low"},"high":{"reasoningEffort":"high"}}}}}}}`)
	r.script("text Done.\nusage in=120 out=8\n")
	id := r.open()
	set := func(option, value string) map[string]string {
		t.Helper()
		var out configResponse
		r.call("session/set_config_option", `{"sessionId":"`+id+`","configId":"`+option+`","value":`+quote(value)+`}`, &out)
		return chosenOf(out.Options)
	}
	for _, c := range []struct {
		option, value string
		want          map[string]string
	}{
		{"model", "deep/thinker", map[string]string{"mode": "build", "model": "deep/thinker", "effort": "default"}},
		{"effort", "high", map[string]string{"mode": "build", "model": "deep/thinker", "effort": "high"}},
		{"effort", "default", map[string]string{"mode": "build", "model": "deep/thinker", "effort": "default"}},
		{"effort", "low", map[string]string{"mode": "build", "model": "deep/thinker", "effort": "low"}},
		{"model", "script/<file>", map[string]string{"mode": "build", "model": "script/<file>"}},
	} {
		if d := cmp.Diff(c.want, set(c.option, c.value)); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.option, c.value, d)
		}
	}
	r.prompt(id, "go")
	messages, err := r.client.Messages(t.Context(), lathe.SessionID(id), 10)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(lathe.ModelRef{Provider: "script", Model: "<file>"}, messages[0].Info.(*lathe.User).Model); d != "" {
		t.Errorf("the prompt went to (-want +got):\n%s", d)
	}
	if !strings.Contains(strings.Join(r.kinds(), " "), "usage_update") {
		t.Fatalf("no usage was told: %v", r.kinds())
	}
	for _, u := range r.seen() {
		if u["sessionUpdate"] == "usage_update" && (u["used"] != 128.0 || u["size"] != 200000.0) {
			t.Errorf("usage %v", u)
		}
	}
}
