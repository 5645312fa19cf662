package api

// MCPImport is a file of another program, or a part of it, that names MCP servers.
type MCPImport struct {
	ID      string        `json:"id"`
	Path    string        `json:"path"`
	Scope   string        `json:"scope"`         // "project": of the repository; "user" and "local": the person's own
	Dir     string        `json:"dir,omitempty"` // that it is about; empty: all
	State   string        `json:"state"`         // "new", "changed" since an answer, "used" or "refused"
	Digest  string        `json:"digest"`        // stands for what it says
	Servers []MCPImported `json:"servers"`
	Skipped []string      `json:"skipped,omitempty"` // what cannot be used, each with the reason
}

// Open reports whether the person was not asked yet about what it says now.
func (m MCPImport) Open() bool {
	return (m.State == "new" || m.State == "changed") && len(m.Servers) > 0
}

// MCPImported is a server that such a file names.
type MCPImported struct {
	Name   string   `json:"name"`
	Remote bool     `json:"remote,omitempty"`
	Where  string   `json:"where"`           // its command or address, as it is written
	Given  []string `json:"given,omitempty"` // names of the variables and headers that it is given
	Own    bool     `json:"own,omitempty"`   // the configuration has a server of this name, which is used instead
}

// MCPImportAnswer says whether the servers of a file are to be used.
type MCPImportAnswer struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	Use    bool   `json:"use"`
}
