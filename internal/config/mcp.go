package config

// Lazy reports whether a server starts with its first call only.
func (m MCP) Lazy() bool { return m.LazyStart == nil || *m.LazyStart }
