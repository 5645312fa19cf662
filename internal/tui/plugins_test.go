package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// pluginFake is an engine with plugins and with hooks of another tool.
type pluginFake struct {
	files   []api.ForeignHooks
	changes []api.PluginChange
	answers []api.HooksDecision
}

func (f *pluginFake) Plugins(context.Context) (api.Plugins, error) {
	return api.Plugins{
		Plugins: []api.Plugin{
			{Name: "skills", Kind: "plugin", Spec: "opencode-skills@1", Hooks: []string{"chat.message"}, Tools: []string{"use_skill"}},
			{Name: "resting", Kind: "plugin", Spec: "/r.js", Off: true}, {Name: "bad\x1b[2J漢字", Kind: "plugin", Spec: "/b.js", Error: "no such package"},
			{Name: "hook ./check", Kind: "hook", Hooks: []string{"tool.execute.before"}, From: "/c/lathe.json", Repository: true},
		},
		Accounts: []api.PluginAccount{{Plugin: "skills", Hook: "chat.message", Calls: 3, Millis: 12, LastError: "it took longer than 5s"}},
	}, nil
}

func (f *pluginFake) ChangePlugin(_ context.Context, in api.PluginChange) (api.PluginChanged, error) {
	f.changes = append(f.changes, in)
	return api.PluginChanged{}, nil
}

func (f *pluginFake) ForeignHooks(context.Context) ([]api.ForeignHooks, error) { return f.files, nil }

func (f *pluginFake) DecideHooks(_ context.Context, in api.HooksDecision) error {
	f.answers = append(f.answers, in)
	return nil
}

// TestPluginsAreShownAndSwitched looks at the plugins and switches two.
func TestPluginsAreShownAndSwitched(t *testing.T) {
	f := &pluginFake{}
	d, _ := ableTo(t, Options{}, question(1, "Start it."))
	d.app.access.Able.Plugins = f
	open := func() { d.typed("/plugins"); d.press("esc", "enter") }
	open()
	d.shows("plugins, tools and hooks", "last error: it took longer than 5s; 3 calls, 12 ms", "off", "漢字", "no such package", "of the repository")
	d.harmless()
	d.press("ctrl+k", "esc")
	open()
	d.press("down", "ctrl+k")
	want := []api.PluginChange{{Do: "off", Spec: "opencode-skills@1"}, {Do: "on", Spec: "/r.js"}}
	if diff := cmp.Diff(want, f.changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// foreignHooks is a file with a hook of Claude Code.
func foreignHooks(state api.HooksState) []api.ForeignHooks {
	return []api.ForeignHooks{{File: "/h/.claude/settings.json", Digest: "d1", State: state, Problems: []string{"hooks for Nothing are not called"},
		Hooks: []api.ForeignHook{{Event: "PreToolUse", Matcher: "Bash", Command: "./check 漢字\x1b[2J"}}}}
}

// TestForeignHooksAreAskedOnce asks at the start about hooks that were not asked about.
func TestForeignHooksAreAskedOnce(t *testing.T) {
	for key, run := range map[string]bool{"y": true, "n": false, "esc": false, "enter": false, "up enter": true} {
		f := &pluginFake{files: foreignHooks(api.HooksAsk)}
		d, _ := ableTo(t, Options{}, question(1, "Start it."))
		d.app.access.Able.Plugins = f
		d.do(d.app.plugins.Ask(d.app.opts.Now))
		d.shows("run your hooks of Claude Code?", "/h/.claude/settings.json", "PreToolUse", "Bash", "./check 漢字", "hooks for Nothing are not called")
		d.harmless()
		d.press(strings.Fields(key)...)
		d.hides("run your hooks of Claude Code?")
		if diff := cmp.Diff([]api.HooksDecision{{File: "/h/.claude/settings.json", Digest: "d1", Run: run}}, f.answers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	for _, state := range []api.HooksState{api.HooksRun, api.HooksRefused, api.HooksUntrusted, api.HooksUnusable} {
		f := &pluginFake{files: foreignHooks(state)}
		d, _ := ableTo(t, Options{}, question(1, "Start it."))
		d.app.access.Able.Plugins = f
		d.do(d.app.plugins.Ask(d.app.opts.Now))
		d.hides("run your hooks of Claude Code?")
	}
}
