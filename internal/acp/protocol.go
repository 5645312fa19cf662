package acp

import "encoding/json"

// protocolVersion is the version of the protocol that is spoken here.
const protocolVersion = 1

// Codes of errors, besides those of JSON-RPC.
const codeAuthRequired = -32000

type initializeRequest struct {
	ProtocolVersion int                `json:"protocolVersion"`
	Capabilities    clientCapabilities `json:"clientCapabilities"`
	Info            *implementation    `json:"clientInfo"`
}

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// clientCapabilities is what an editor can do. A nil pointer means that the editor did not say.
type clientCapabilities struct {
	FS struct {
		ReadTextFile  bool `json:"readTextFile"`
		WriteTextFile bool `json:"writeTextFile"`
	} `json:"fs"`
	Auth struct {
		Terminal bool `json:"terminal"`
	} `json:"auth"`
	Elicitation *struct {
		Form *struct{} `json:"form"`
	} `json:"elicitation"`
	Session struct {
		Notices    *struct{} `json:"notices"`
		Compaction *struct{} `json:"compaction"`
	} `json:"session"`
}

type initializeResponse struct {
	ProtocolVersion int               `json:"protocolVersion"`
	Capabilities    agentCapabilities `json:"agentCapabilities"`
	Info            implementation    `json:"agentInfo"`
	AuthMethods     []authMethod      `json:"authMethods"`
}

type agentCapabilities struct {
	LoadSession bool `json:"loadSession"`
	Prompt      struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	} `json:"promptCapabilities"`
	MCP struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	} `json:"mcpCapabilities"`
	Session struct {
		List   struct{} `json:"list"`
		Resume struct{} `json:"resume"`
		Fork   struct{} `json:"fork"`
		Close  struct{} `json:"close"`
		Delete struct{} `json:"delete"`
	} `json:"sessionCapabilities"`
}

type authMethod struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type,omitempty"` // "terminal", or empty for the agent's own
	Args        []string `json:"args,omitempty"`
}

// sessionRequest has the fields that all methods which open a session share.
type sessionRequest struct {
	SessionID  string      `json:"sessionId"`
	Cwd        string      `json:"cwd"`
	MCPServers []mcpServer `json:"mcpServers"`
}

// mcpServer is a tool server that the editor wants in a session. Without a type it
// is a program.
type mcpServer struct {
	Type    string      `json:"type"`
	Name    string      `json:"name"`
	Command string      `json:"command"`
	Args    []string    `json:"args"`
	Env     []nameValue `json:"env"`
	URL     string      `json:"url"`
	Headers []nameValue `json:"headers"`
}

type nameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type sessionResponse struct {
	SessionID     string         `json:"sessionId,omitempty"`
	Modes         *modes         `json:"modes,omitempty"`
	ConfigOptions []configOption `json:"configOptions,omitempty"`
}

type modes struct {
	Current   string `json:"currentModeId"`
	Available []mode `json:"availableModes"`
}

type mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type configOption struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Category    string         `json:"category,omitempty"`
	Type        string         `json:"type"`
	Current     string         `json:"currentValue"`
	Options     []configChoice `json:"options"`
}

// configChoice is a value, or a group of them.
type configChoice struct {
	Value       string         `json:"value,omitempty"`
	Group       string         `json:"group,omitempty"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Options     []configChoice `json:"options,omitempty"`
}

type listRequest struct {
	Cwd    string `json:"cwd"`
	Cursor string `json:"cursor"`
}

type listResponse struct {
	Sessions   []sessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type promptRequest struct {
	SessionID string         `json:"sessionId"`
	Prompt    []contentBlock `json:"prompt"`
}

type promptResponse struct {
	StopReason string `json:"stopReason"`
}

// Reasons for the end of a turn.
const (
	stopEndTurn   = "end_turn"
	stopMaxTokens = "max_tokens"
	stopMaxSteps  = "max_turn_requests"
	stopRefusal   = "refusal"
	stopCancelled = "cancelled"
)

// contentBlock is a piece of a prompt or an answer; which fields are used depends
// on the type.
type contentBlock struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"` // base64
	MIMEType string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// MarshalJSON writes the text of a text block even where it is empty.
func (b contentBlock) MarshalJSON() ([]byte, error) {
	if b.Type == "text" {
		return json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{b.Type, b.Text})
	}
	type plain contentBlock
	return json.Marshal(plain(b))
}

func textBlock(text string) contentBlock { return contentBlock{Type: "text", Text: text} }

type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"` // base64
}

// notification carries one update of a session.
type notification struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

type chunkUpdate struct {
	Update    string       `json:"sessionUpdate"` // user_message_chunk, agent_message_chunk, agent_thought_chunk
	Content   contentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// toolUpdate begins a tool call or changes it; empty fields stay as they were.
type toolUpdate struct {
	Update    string          `json:"sessionUpdate,omitempty"` // tool_call or tool_call_update
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Name      string          `json:"name,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Status    string          `json:"status,omitempty"`
	Content   []toolContent   `json:"content,omitempty"`
	Locations []location      `json:"locations,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput any             `json:"rawOutput,omitempty"`
}

// toolContent is what a call shows: content, or the change of a file.
type toolContent struct {
	Type    string        `json:"type"` // content or diff
	Content *contentBlock `json:"content,omitempty"`
	Path    string        `json:"path,omitempty"`
	OldText *string       `json:"oldText,omitempty"`
	NewText *string       `json:"newText,omitempty"`
}

type location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

type planUpdate struct {
	Update  string      `json:"sessionUpdate"`
	Entries []planEntry `json:"entries"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type commandsUpdate struct {
	Update   string             `json:"sessionUpdate"`
	Commands []availableCommand `json:"availableCommands"`
}

type availableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitempty"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

type modeUpdate struct {
	Update  string `json:"sessionUpdate"`
	Current string `json:"currentModeId"`
}

type configUpdate struct {
	Update  string         `json:"sessionUpdate"`
	Options []configOption `json:"configOptions"`
}

type infoUpdate struct {
	Update    string `json:"sessionUpdate"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type usageUpdate struct {
	Update string `json:"sessionUpdate"`
	Used   int64  `json:"used"`
	Size   int64  `json:"size"`
	Cost   *cost  `json:"cost,omitempty"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type noticeUpdate struct {
	Update   string `json:"sessionUpdate"`
	Severity string `json:"severity"` // info, warning or error
	Title    string `json:"title"`
}

type compactionUpdate struct {
	Update string `json:"sessionUpdate"`
	ID     string `json:"compactionId"`
	Status string `json:"status"` // in_progress, completed or failed
}

type permissionRequest struct {
	SessionID string             `json:"sessionId"`
	ToolCall  toolUpdate         `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once or reject_always
}

type permissionResponse struct {
	Outcome struct {
		Outcome  string `json:"outcome"` // selected or cancelled
		OptionID string `json:"optionId"`
	} `json:"outcome"`
}

// form is a question with fields to fill in.
type form struct {
	SessionID  string     `json:"sessionId"`
	ToolCallID string     `json:"toolCallId,omitempty"`
	Mode       string     `json:"mode"`
	Message    string     `json:"message"`
	Schema     formSchema `json:"requestedSchema"`
}

type formSchema struct {
	Type       string               `json:"type"`
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required,omitempty"`
}

type formField struct {
	Type        string       `json:"type"` // string or array
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	OneOf       []formOption `json:"oneOf,omitempty"`
	Items       *formItems   `json:"items,omitempty"`
}

type formItems struct {
	AnyOf []formOption `json:"anyOf"`
}

type formOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

type formResponse struct {
	Action  string                     `json:"action"` // accept, decline or cancel
	Content map[string]json.RawMessage `json:"content"`
}
