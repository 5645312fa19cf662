package config

import (
	"errors"
	"reflect"
	"slices"

	"lathe/internal/jsonc"
)

// Lazy reports whether a server starts with its first call only.
func (m MCP) Lazy() bool { return m.LazyStart == nil || *m.LazyStart }

// ServerNetwork returns which hosts the program of a server reaches, as the person says.
func (c *Config) ServerNetwork(server string) Reach {
	i := slices.IndexFunc(c.MCP, func(m MCP) bool { return m.Name == server })
	if i < 0 {
		return Reach{}
	}
	return c.MCP[i].Network
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
