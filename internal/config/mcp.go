package config

import (
	"errors"
	"reflect"
	"slices"

	"lathe/internal/jsonc"
)

// Lazy reports whether a server starts with its first call only.
func (m MCP) Lazy() bool { return m.LazyStart == nil || *m.LazyStart }

// Unconfined reports whether the person lets a server's program run without confinement. It
// counts only for a program that the person's configuration names: a repository, trusted or
// not, must not put another one in its place.
func (c *Config) Unconfined(server string) bool {
	i := slices.IndexFunc(c.MCP, func(m MCP) bool { return m.Name == server })
	if i < 0 || c.MCP[i].Sandbox != "off" || c.MCP[i].Type == "" {
		return false
	}
	for _, key := range []string{"command", "environment", "cwd"} {
		if c.writtenBy(c.tree.Path("mcp", server, key), Repository) {
			return false
		}
	}
	return true
}

// ServerNetwork returns which hosts the program of a server reaches, as the person says.
func (c *Config) ServerNetwork(server string) Reach {
	i := slices.IndexFunc(c.MCP, func(m MCP) bool { return m.Name == server })
	if i < 0 {
		return Reach{}
	}
	return c.MCP[i].Network
}

// writtenBy reports whether a tree has a value of such a source.
func (c *Config) writtenBy(v *jsonc.Value, who Trust) bool {
	if v == nil {
		return false
	}
	if len(v.Members)+len(v.Items) == 0 {
		return c.trust[v.Source()] == who
	}
	return slices.ContainsFunc(v.Members, func(m jsonc.Member) bool { return c.writtenBy(m.Value, who) }) ||
		slices.ContainsFunc(v.Items, func(e *jsonc.Value) bool { return c.writtenBy(e, who) })
}

// ParseMCP reads one server as the configuration writes it, in JSON.
func ParseMCP(name string, raw []byte) (MCP, error) {
	whole := jsonc.NewObject()
	entry, err := jsonc.Parse("mcp."+name, raw)
	if err != nil {
		return MCP{}, err
	}
	servers := jsonc.NewObject()
	servers.Set(name, entry)
	whole.Set("mcp", servers)
	var c Config
	d := &decoder{}
	d.object(whole, "", reflect.ValueOf(&c).Elem())
	if err := d.err(); err != nil {
		return MCP{}, err
	}
	if len(c.MCP) != 1 || c.MCP[0].Type == "" {
		return MCP{}, errors.New(`"type" is missing: "local" or "remote"`)
	}
	return c.MCP[0], nil
}
