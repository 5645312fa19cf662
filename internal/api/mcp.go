package api

import "encoding/json"

// MCPServer is a server of the model context protocol as a person is told of it. It
// holds no values of its environment or headers.
type MCPServer struct {
	Name      string   `json:"name"`
	Where     string   `json:"where"` // its command or address
	Remote    bool     `json:"remote"`
	State     string   `json:"state"`
	Why       string   `json:"why,omitempty"`
	Login     string   `json:"login,omitempty"` // empty where it takes none
	Known     bool     `json:"known"`           // what follows is known
	Title     string   `json:"title,omitempty"`
	Protocol  string   `json:"protocol,omitempty"`
	Tools     int      `json:"tools"`
	Resources int      `json:"resources"`
	Prompts   int      `json:"prompts"`
	Notes     []string `json:"notes,omitempty"`   // what was left out
	Changed   []string `json:"changed,omitempty"` // tools that are not what they were when a person looked
}

// MCPTool is a tool of a server.
type MCPTool struct {
	Key         string          `json:"key"`  // as models and rules call it
	Name        string          `json:"name"` // as the server does
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Hints       string          `json:"hints,omitempty"` // what the server claims of it
}

// MCPDetail is a server with its tools.
type MCPDetail struct {
	MCPServer
	List []MCPTool `json:"list"`
}

// MCPLogin is a login that waits for the person.
type MCPLogin struct {
	URL     string `json:"authorizationUrl"`
	State   string `json:"oauthState"`
	Listens bool   `json:"listens"`          // the browser's answer is heard; else it is to be pasted
	Opened  bool   `json:"opened,omitempty"` // a browser was
	Already bool   `json:"already,omitempty"`
}

// MCPRefreshed is what taking up the servers' tools anew means.
type MCPRefreshed struct {
	Added   []string `json:"added"`
	Gone    []string `json:"gone"`
	Changed []string `json:"changed"`
	Resent  int64    `json:"resent"` // about how many tokens of history are sent uncached once
}

// MCPResource is something that a server can be asked to read.
type MCPResource struct {
	Name        string `json:"name"`
	URI         string `json:"uri"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	Server      string `json:"client"`
}
