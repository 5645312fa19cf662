//go:build unix

package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/client"
	"lathe/internal/plugin"
	"lathe/internal/tool"
)

// Plugins that are as they were are started when one is called, not before.
func TestPluginStartsWhenCalled(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.write("plugin/lib.ts", `export const word: string = "one"`)
		r.sources = nil
		r.write("plugin/p.ts", `import { word } from "./lib"
export const P = async () => ({ async "experimental.text.complete"(i, o) { o.text += word } })`)
		r.write("tool/t.js", `export default { description: "d", args: {}, async execute() { return "ran" } }`)
		running := func(why string, want bool) string {
			t.Helper()
			h := r.start(`{"model":"a/b"}`)
			defer h.Close()
			if got := h.PID() != 0; got != want {
				t.Errorf("%s: the process runs after the start: %v", why, got)
			}
			if find(h, "t") == nil {
				t.Errorf("%s: there is no tool", why)
			}
			text := r.chain(h).TextComplete(t.Context(), plugin.TextInput{}, "")
			if h.PID() == 0 {
				t.Errorf("%s: a call does not start the process", why)
			}
			return text
		}
		for i, step := range []struct {
			why    string
			change func()
			starts bool
			want   string
		}{
			{"first", func() {}, true, "one"},
			{"again", func() {}, false, "one"},
			{"what a plugin imports changed", func() { r.rewrite("plugin/lib.ts", `export const word = "two"`) }, true, "two"},
			{"again", func() {}, false, "two"},
			{"a plugin changed", func() {
				r.rewrite("plugin/p.ts", `import { word } from "./lib"; export const P = async () => ({ async "experimental.text.complete"(i, o) { o.text += word + "!" } })`)
			}, true, "two!"},
			{"the options changed", func() { r.sources[0].Options = map[string]any{"a": 1} }, true, "two!"},
			{"one makes the configuration", func() { r.rewrite("plugin/p.ts", `export const P = async () => ({ config() {}, tool: {} })`) }, true, ""},
			{"which is made anew each time", func() {}, true, ""},
		} {
			step.change()
			if diff := cmp.Diff(step.want, running(fmt.Sprint(i, " ", step.why), step.starts)); diff != "" {
				t.Errorf("%d %s (-want +got):\n%s", i, step.why, diff)
			}
		}
	})
}

// rewrite changes a file that was written before.
func (r *rig) rewrite(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// What a plugin brings that is not ready in time counts from the next start, and its first
// call waits for it.
func TestLatePluginIsKnownNextTime(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"model":"a/b"}`)
		})
		r.o.Door = client.InProcess(mux)
		r.write("plugin/late.js", `export const L = async ({ client }) => { const { data } = await client.config.get(); return {
			tool: { late: { description: "d", args: {}, async execute() { return "ran with " + data.model } } },
			async "experimental.text.complete"(i, o) { o.text += data.model } } }`)
		h := r.start(`{}`)
		for c := r.chain(h); c.TextComplete(t.Context(), plugin.TextInput{}, "") != "a/b"; {
			if t.Context().Err() != nil {
				t.Fatal("it does not join")
			}
			h.Settle(DefaultWait)
		}
		if find(h, "late") == nil {
			t.Errorf("its tool is not known once it joined: %+v", h.Plugins())
		}
		_ = h.Close()
		h = r.start(`{}`)
		if h.PID() != 0 {
			t.Fatal("it is started, though it is known")
		}
		one := find(h, "late")
		if one == nil {
			t.Fatalf("its tool is not known: %+v", h.Plugins())
		}
		res, err := one.Run(t.Context(), &tool.Call{Input: json.RawMessage(`{}`)})
		if err != nil || res.Output != "ran with a/b" {
			t.Errorf("result %+v, %v", res, err)
		}
	})
}
