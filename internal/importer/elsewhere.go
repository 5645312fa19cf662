package importer

import (
	"context"
	"os"
	"path/filepath"
	"slices"

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
		return e.Sessions+e.Servers+e.Plugins+e.Hooks+e.Commands+e.Agents == 0 && !e.Login && !e.Told
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

// claudeDir is where Claude Code keeps what is the person's.
func (m Machine) claudeDir() string { return m.named("CLAUDE_CONFIG_DIR", ".claude") }

// codexDir is where Codex does.
func (m Machine) codexDir() string { return m.named("CODEX_HOME", ".codex") }

// named returns the directory that a variable names, or the usual one in the home directory.
func (m Machine) named(variable, usual string) string {
	if dir := m.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Paths.Home, usual)
}

func (m Machine) claudeCode(ctx context.Context) api.Elsewhere {
	dir := m.claudeDir()
	out := api.Elsewhere{Program: api.ClaudeCode, Dir: dir}
	out.Sessions = count(ctx, mostSessions, filepath.Join(dir, "projects"), "*", "*.jsonl")
	out.More = out.Sessions == mostSessions
	out.Servers = m.servers(false)
	for _, k := range kinds(api.ClaudeCode) {
		switch n := m.toCopy(ctx, k, dir); k.name {
		case "command":
			out.Commands = n
		default:
			out.Agents = n
		}
	}
	out.Hooks = len(claude.Read(claude.File{Path: filepath.Join(dir, "settings.json")}).Hooks)
	out.Login = isThere(filepath.Join(dir, ".credentials.json"))
	return out
}

func (m Machine) codex(ctx context.Context) api.Elsewhere {
	dir := m.codexDir()
	out := api.Elsewhere{Program: api.Codex, Dir: dir}
	out.Sessions = count(ctx, mostSessions, filepath.Join(dir, "sessions"), "*", "*", "*", "rollout-*.jsonl")
	out.More = out.Sessions == mostSessions
	out.Servers = m.servers(true)
	for _, k := range kinds(api.Codex) {
		out.Commands += m.toCopy(ctx, k, dir)
	}
	out.Told = isThere(filepath.Join(dir, instructions)) && !isFile(filepath.Join(m.Paths.Config, instructions))
	out.Login = isThere(filepath.Join(dir, "auth.json"))
	return out
}

// toCopy counts the files of a kind that an import would copy: those that are here already, and
// those of which nothing can be made, are not named again and again.
func (m Machine) toCopy(ctx context.Context, k kind, dir string) (n int) {
	for _, path := range k.files(dir) {
		if ctx.Err() != nil {
			return n
		}
		if m.adopt(k, dir, path, true).Outcome == api.ImportRead {
			n++
		}
	}
	return n
}

// servers counts the MCP servers that Codex, or Claude Code, names for the person.
func (m Machine) servers(codex bool) (n int) {
	for _, s := range mcpjson.Sources(mcpjson.Where{Dir: m.Paths.Home, Home: m.Paths.Home, Getenv: m.Getenv, NoProject: true}) {
		if s.Codex() == codex {
			n += len(s.Servers)
		}
	}
	return n
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
