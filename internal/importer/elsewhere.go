package importer

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/jsonc"
	"lathe/internal/mcpjson"
	"lathe/internal/opencode/disk"
	"lathe/internal/plugin/claude"
	"lathe/internal/workspace"
)

// Machine says where other programs keep what they have.
type Machine struct {
	Paths  config.Paths
	Getenv func(string) string
	// Has reports whether a session is stored here already.
	Has func(ctx context.Context, id lathe.SessionID) bool
}

// Bounds of a look; what is beyond them is not counted.
const (
	mostSessions = 1000
	mostFolders  = 2000
	maxSettings  = 4 << 20
)

// Look says what other programs have on this machine: only how much, never what it says. A
// program without anything is left out, and so is what cannot be read.
func (m Machine) Look(ctx context.Context) ([]api.Elsewhere, error) {
	all := []api.Elsewhere{m.openCode(ctx), m.claudeCode(ctx), m.codex(ctx)}
	return slices.DeleteFunc(all, func(e api.Elsewhere) bool {
		return e.Sessions+e.Servers+e.Plugins+e.Hooks == 0 && !e.Login
	}), context.Cause(ctx)
}

func (m Machine) openCode(ctx context.Context) api.Elsewhere {
	out := api.Elsewhere{Program: api.OpenCode, Dir: m.Paths.OpenCodeData}
	ids, err := disk.IDs(ctx, m.Paths.OpenCodeData, mostSessions)
	if err == nil {
		out.More = len(ids) == mostSessions
		for _, id := range ids {
			if !m.Has(ctx, id) {
				out.Sessions++
			}
		}
	}
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		doc := settings(filepath.Join(m.Paths.OpenCodeConfig, name))
		out.Servers += size(doc, "mcp")
		out.Plugins += size(doc, "plugin")
	}
	for _, dir := range []string{"plugin", "plugins"} {
		out.Plugins += count(ctx, mostSessions, filepath.Join(m.Paths.OpenCodeConfig, dir), "*.[jt]s")
	}
	_, behind := m.Paths.AuthFile()
	out.Login = size(settings(behind)) > 0
	return out
}

func (m Machine) claudeCode(ctx context.Context) api.Elsewhere {
	dir := m.Getenv("CLAUDE_CONFIG_DIR")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.Paths.Home, ".claude")
	}
	out := api.Elsewhere{Program: api.ClaudeCode, Dir: dir}
	out.Sessions = count(ctx, mostSessions, filepath.Join(dir, "projects"), "*", "*.jsonl")
	out.More = out.Sessions == mostSessions
	for _, s := range mcpjson.Sources(mcpjson.Where{Dir: m.Paths.Home, Home: m.Paths.Home, Getenv: m.Getenv, NoProject: true}) {
		out.Servers += len(s.Servers)
	}
	out.Hooks = len(claude.Read(claude.File{Path: filepath.Join(dir, "settings.json")}).Hooks)
	out.Login = isThere(filepath.Join(dir, ".credentials.json"))
	return out
}

// codexServer is the head of a table that names a server in Codex' configuration.
var codexServer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*\[mcp_servers\.(?:[\w-]+|"[^"\n]+")\]`)
})

func (m Machine) codex(ctx context.Context) api.Elsewhere {
	dir := m.Getenv("CODEX_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.Paths.Home, ".codex")
	}
	out := api.Elsewhere{Program: api.Codex, Dir: dir}
	out.Sessions = count(ctx, mostSessions, filepath.Join(dir, "sessions"), "*", "*", "*", "rollout-*.jsonl")
	out.More = out.Sessions == mostSessions
	if text, err := workspace.ReadFile(filepath.Join(dir, "config.toml"), maxSettings); err == nil {
		out.Servers = len(codexServer().FindAll(text, mostSessions))
	}
	out.Login = isThere(filepath.Join(dir, "auth.json"))
	return out
}

func isThere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 2
}

// settings reads a file of settings; nil if that cannot be done.
func settings(path string) *jsonc.Value {
	text, err := workspace.ReadFile(path, maxSettings)
	if err != nil {
		return nil
	}
	doc, err := jsonc.Parse(path, text)
	if err != nil {
		return nil
	}
	return doc
}

// size counts what a list or an object holds.
func size(doc *jsonc.Value, keys ...string) int {
	v := doc.Path(keys...)
	if v == nil {
		return 0
	}
	return max(len(v.Items), len(v.Members))
}

// count counts the files that a name in folders below one another matches, where each
// pattern is one level; at most that many, in few folders.
func count(ctx context.Context, most int, dir string, levels ...string) int {
	folders := mostFolders
	return countIn(ctx, most, &folders, dir, levels)
}

func countIn(ctx context.Context, most int, folders *int, dir string, levels []string) (n int) {
	if *folders--; *folders < 0 || ctx.Err() != nil {
		return 0
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if n == most {
			break
		}
		ok, _ := filepath.Match(levels[0], e.Name())
		switch {
		case !ok:
		case len(levels) > 1 && e.IsDir():
			n += countIn(ctx, most-n, folders, filepath.Join(dir, e.Name()), levels[1:])
		case len(levels) == 1 && !e.IsDir():
			n++
		}
	}
	return n
}
