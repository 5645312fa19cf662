package mcpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"lathe/internal/config"
	"lathe/internal/say"
	"lathe/internal/workspace"
)

const codexName = "config.toml"

// codexFile returns Codex' configuration.
func (w Where) codexFile() string {
	if dir := w.Getenv("CODEX_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, codexName)
	}
	return filepath.Join(w.Home, ".codex", codexName)
}

const maxTimeout = 24 * 3600 // seconds

// codexEntry is a server as Codex' configuration writes it. Its values stand for
// themselves; only those that name a variable are read from the environment.
type codexEntry struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`
	EnvVars []any             `toml:"env_vars"`
	Cwd     string            `toml:"cwd"`

	URL        string            `toml:"url"`
	TokenVar   string            `toml:"bearer_token_env_var"`
	Headers    map[string]string `toml:"http_headers"`
	HeaderVars map[string]string `toml:"env_http_headers"`

	Enabled     *bool    `toml:"enabled"`
	ToolTimeout float64  `toml:"tool_timeout_sec"`
	Tools       []string `toml:"enabled_tools"`
	NoTools     []string `toml:"disabled_tools"`
}

// codex returns what Codex' configuration names, for everywhere. A file that is broken says
// nothing of servers, and is not lathe's to complain about.
func (w Where) codex() (out []Source) {
	path := w.codexFile()
	text, err := workspace.ReadFile(path, maxPerson)
	if err != nil || !bytes.Contains(text, []byte("mcp_servers")) {
		return nil
	}
	var file struct {
		Servers map[string]toml.Primitive `toml:"mcp_servers"`
	}
	meta, err := toml.Decode(string(text), &file)
	if err != nil {
		return nil
	}
	s := Source{Path: path, Scope: User}
	said := map[string]codexEntry{}
	for i, name := range slices.Sorted(maps.Keys(file.Servers)) {
		if i == maxServers {
			s.Skipped = append(s.Skipped, fmt.Sprintf("%s beyond the first %d", say.Plural(len(file.Servers)-maxServers, "server"), maxServers))
			break
		}
		var e codexEntry
		if err := meta.PrimitiveDecode(file.Servers[name], &e); err != nil {
			s.Skipped = append(s.Skipped, name+": it is not written as Codex writes servers")
			continue
		}
		said[name] = e
		one, err := w.fromCodex(name, e)
		if err != nil {
			s.Skipped = append(s.Skipped, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		s.Servers = append(s.Servers, one)
	}
	raw, err := json.Marshal(said) // sorted by name
	if err != nil {
		return nil // a number that JSON does not have
	}
	s.Digest = digest(raw)
	return []Source{s}
}

// fromCodex makes a server of an entry.
func (w Where) fromCodex(name string, e codexEntry) (Server, error) {
	if len(e.Tools)+len(e.NoTools) > 0 {
		return Server{}, errors.New(`it leaves some of its tools out ("enabled_tools", "disabled_tools"): add it with lathe mcp add, and permission rules for these`)
	}
	c := config.MCP{Name: name, Enabled: e.Enabled, Timeout: int(min(max(e.ToolTimeout, 0), maxTimeout) * 1000)}
	switch {
	case e.Command != "":
		c.Type, c.Command, c.Environment, c.Cwd = "local", append([]string{e.Command}, e.Args...), e.Env, e.Cwd
		return w.withVariables(c, e.EnvVars)
	case e.URL != "":
		c.Type, c.URL = "remote", e.URL
		return w.withHeaders(c, e)
	}
	return Server{}, errors.New(`it has neither "command" nor "url"`)
}

// withVariables adds the variables that a server is given as they are set here.
func (w Where) withVariables(c config.MCP, vars []any) (Server, error) {
	full := c
	full.Environment = maps.Clone(c.Environment)
	for _, v := range vars {
		name, ok := v.(string)
		if !ok {
			return Server{}, errors.New(`"env_vars" has more than names, which is not supported`)
		}
		if value := w.Getenv(name); value != "" {
			if full.Environment == nil {
				full.Environment = map[string]string{}
			}
			full.Environment[name] = value
		}
	}
	return Server{MCP: full, Shown: c}, nil
}

// withHeaders fills in the headers of a remote server. Those whose values come from the
// environment are only named in what is shown.
func (w Where) withHeaders(c config.MCP, e codexEntry) (Server, error) {
	full := c
	full.Headers = map[string]string{}
	maps.Copy(full.Headers, e.Headers)
	from := maps.Clone(e.HeaderVars)
	if e.TokenVar != "" {
		if from == nil {
			from = map[string]string{}
		}
		from["Authorization"] = e.TokenVar
	}
	for header, name := range from {
		value := w.Getenv(name)
		if value == "" {
			return Server{}, fmt.Errorf("the variable %s is not set", name)
		}
		if header == "Authorization" && name == e.TokenVar {
			value = "Bearer " + value
		}
		full.Headers[header] = value
	}
	if len(full.Headers) == 0 {
		full.Headers = nil
	}
	return Server{MCP: full, Shown: c}, nil
}
