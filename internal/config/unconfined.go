package config

import (
	"slices"

	"lathe/internal/jsonc"
)

// Confining is what "sandbox" of a server or formatter says: true or "on", false or "off".
// The zero value is on.
type Confining struct{ Off bool }

func (c *Confining) decode(d *decoder, v *jsonc.Value, path string) {
	switch {
	case v.Kind == jsonc.Bool:
		c.Off = !v.True
	case v.Kind == jsonc.String && (v.Text == "on" || v.Text == "off"):
		c.Off = v.Text == "off"
	default:
		d.want(v, path, `true, false, "on" or "off"`)
	}
}

// Unconfined reports whether the person lets an MCP server's program run without
// confinement. It counts only for a program that the person's configuration names: a
// repository, trusted or not, must not put another one in its place.
func (c *Config) Unconfined(server string) bool {
	i := slices.IndexFunc(c.MCP, func(m MCP) bool { return m.Name == server })
	return i >= 0 && c.MCP[i].Sandbox.Off && c.MCP[i].Type != "" && !c.repositorySays("mcp", server, "command", "environment", "cwd")
}

// UnconfinedServer reports the same of a language server. A program that the repository
// brings is confined all the same, which is for the caller to see to.
func (c *Config) UnconfinedServer(id string) bool {
	i := slices.IndexFunc(c.LSP.Entries, func(s LanguageServer) bool { return s.Name == id })
	return i >= 0 && c.LSP.Entries[i].Sandbox.Off && !c.repositorySays("lsp", id, "command", "env", "initialization")
}

// UnconfinedFormatter reports the same of a formatter, for which the same holds.
func (c *Config) UnconfinedFormatter(name string) bool {
	i := slices.IndexFunc(c.Formatter.Entries, func(f Formatter) bool { return f.Name == name })
	return i >= 0 && c.Formatter.Entries[i].Sandbox.Off && !c.repositorySays("formatter", name, "command", "environment")
}

// UnconfinedNames lists what of these the person lets run so, for people.
func (c *Config) UnconfinedNames() (list []string) {
	for _, m := range c.MCP {
		if c.Unconfined(m.Name) {
			list = append(list, "the MCP server "+m.Name)
		}
	}
	for _, s := range c.LSP.Entries {
		if c.UnconfinedServer(s.Name) && !s.Disabled {
			list = append(list, "the language server "+s.Name)
		}
	}
	for _, f := range c.Formatter.Entries {
		if c.UnconfinedFormatter(f.Name) && !f.Disabled {
			list = append(list, "the formatter "+f.Name)
		}
	}
	return list
}

// repositorySays reports whether some of an entry's keys were written by a repository.
func (c *Config) repositorySays(section, name string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return c.writtenBy(c.tree.Path(section, name, key), Repository) })
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
