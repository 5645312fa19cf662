package api

import "encoding/json"

// MCPServer is an MCP server as a person sees it. It holds no values of its environment or headers.
type MCPServer struct {
	Name      string   `json:"name"`
	Where     string   `json:"where"` // its command or address
	Remote    bool     `json:"remote"`
	State     string   `json:"state"`
	Why       string   `json:"why,omitempty"`
	Login     string   `json:"login,omitempty"` // empty if it needs none
	Known     bool     `json:"known"`           // the fields below are known
	Title     string   `json:"title,omitempty"`
	Protocol  string   `json:"protocol,omitempty"`
	Free      bool     `json:"unconfined,omitempty"` // its program may use the whole machine
	Memory    int64    `json:"memory,omitempty"`     // bytes; 0: it does not run here
	Tools     int      `json:"tools"`
	Resources int      `json:"resources"`
	Prompts   int      `json:"prompts"`
	Notes     []string `json:"notes,omitempty"`   // what was left out
	Changed   []string `json:"changed,omitempty"` // tools that changed since a person looked at them
}

// MCPTool is a tool of a server.
type MCPTool struct {
	Key         string          `json:"key"`  // its name for models and rules
	Name        string          `json:"name"` // its name for the server
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Hints       string          `json:"hints,omitempty"` // what the server claims about it
}

// MCPDetail is a server with its tools.
type MCPDetail struct {
	MCPServer
	List []MCPTool `json:"list"`
}

// MCPLogin is a login that is waiting for the person.
type MCPLogin struct {
	URL     string `json:"authorizationUrl"`
	State   string `json:"oauthState"`
	Listens bool   `json:"listens"`          // lathe receives the browser's answer; otherwise it has to be pasted
	Opened  bool   `json:"opened,omitempty"` // a browser was opened
	Already bool   `json:"already,omitempty"`
}

// MCPRefreshed says what it means to use the servers' new tools.
type MCPRefreshed struct {
	Added   []string `json:"added"`
	Gone    []string `json:"gone"`
	Changed []string `json:"changed"`
	Resent  int64    `json:"resent"` // about how many tokens of history have to be sent uncached once
}

// MCPResource is something that a server can be asked to read.
type MCPResource struct {
	Name        string `json:"name"`
	URI         string `json:"uri"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	Server      string `json:"client"`
}
