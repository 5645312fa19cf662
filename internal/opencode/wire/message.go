package wire

import (
	"encoding/json"
	"fmt"

	"lathe"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

type user struct {
	ID        lathe.MessageID `json:"id"`
	SessionID lathe.SessionID `json:"sessionID"`
	Role      string          `json:"role"`
	Time      messageTime     `json:"time"`
	Summary   *userSummary    `json:"summary,omitempty"`
	Agent     string          `json:"agent"`
	Model     model           `json:"model"`
	System    string          `json:"system,omitempty"`
	Tools     map[string]bool `json:"tools,omitempty"`
	Variant   string          `json:"variant,omitempty"`
}

type messageTime struct {
	Created   number `json:"created"`
	Completed number `json:"completed,omitempty"`
}

type userSummary struct {
	Title string     `json:"title,omitempty"`
	Body  string     `json:"body,omitempty"`
	Diffs []fileDiff `json:"diffs"`
}

type assistant struct {
	ID         lathe.MessageID `json:"id"`
	SessionID  lathe.SessionID `json:"sessionID"`
	Role       string          `json:"role"`
	Time       messageTime     `json:"time"`
	Error      *failure        `json:"error,omitempty"`
	ParentID   lathe.MessageID `json:"parentID"`
	ModelID    string          `json:"modelID"`
	ProviderID string          `json:"providerID"`
	Variant    string          `json:"variant,omitempty"`
	Mode       string          `json:"mode"`
	Agent      string          `json:"agent"`
	Path       messagePath     `json:"path"`
	Summary    bool            `json:"summary,omitempty"`
	Cost       dollars         `json:"cost"`
	Tokens     tokens          `json:"tokens"`
	Finish     lathe.Finish    `json:"finish,omitempty"`
}

type messagePath struct {
	Cwd  string `json:"cwd"`
	Root string `json:"root"`
}

type withParts struct {
	Info  any   `json:"info"`
	Parts []any `json:"parts"`
}

// EncodeInfo returns a message without its parts.
func EncodeInfo(m lathe.Message) any {
	switch in := m.Info.(type) {
	case *lathe.User:
		return encodeUser(&m, in)
	case *lathe.Assistant:
		return encodeAssistant(&m, in)
	}
	return nil
}

func encodeUser(m *lathe.Message, in *lathe.User) user {
	out := user{
		ID: m.ID, SessionID: m.SessionID, Role: roleUser, Time: messageTime{Created: ms(m.Created)},
		Agent: in.Agent, Model: encodeModel(in.Model), System: in.System, Tools: in.Tools, Variant: in.Model.Variant,
	}
	if s := in.Summary; s != nil {
		out.Summary = &userSummary{Title: s.Title, Body: s.Body, Diffs: encodeDiffs(s.Diffs)}
	}
	return out
}

func encodeAssistant(m *lathe.Message, in *lathe.Assistant) assistant {
	return assistant{
		ID: m.ID, SessionID: m.SessionID, Role: roleAssistant,
		Time: messageTime{ms(m.Created), ms(in.Completed)}, Error: encodeFailure(in.Error), ParentID: in.ParentID,
		ModelID: in.Model.Model, ProviderID: in.Model.Provider, Variant: in.Model.Variant,
		Mode: in.Agent, Agent: in.Agent, Path: messagePath{in.Cwd, in.Root}, Summary: in.Summary,
		Cost: encodeMoney(in.Cost), Tokens: encodeTokens(in.Tokens), Finish: in.Finish,
	}
}

// EncodeMessage returns a message with its parts.
func EncodeMessage(m lathe.Message) any {
	return withParts{Info: EncodeInfo(m), Parts: encodeParts(m.Parts)}
}

// EncodeMessages returns a list of messages with their parts.
func EncodeMessages(all []lathe.Message) any {
	out := make([]any, 0, len(all))
	for _, m := range all {
		out = append(out, EncodeMessage(m))
	}
	return out
}

func encodeParts(parts []lathe.Part) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		out = append(out, EncodePart(p))
	}
	return out
}

// DecodeInfo reads a message without its parts.
func DecodeInfo(data []byte) (lathe.Message, error) {
	m, err := decodeInfo(data)
	if err != nil {
		return lathe.Message{}, fmt.Errorf("decode message: %w", err)
	}
	return m, nil
}

func decodeInfo(data []byte) (m lathe.Message, err error) {
	var head struct {
		Role string `json:"role"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return m, err
	}
	switch head.Role {
	case roleUser:
		m, err = decodeUser(data)
	case roleAssistant:
		m, err = decodeAssistant(data)
	default:
		return m, fmt.Errorf("role %q is neither %q nor %q", head.Role, roleUser, roleAssistant)
	}
	if err != nil {
		return m, err
	}
	if err := lathe.CheckID(string(m.ID), lathe.PrefixMessage); err != nil {
		return m, err
	}
	return m, lathe.CheckID(string(m.SessionID), lathe.PrefixSession)
}

func decodeUser(data []byte) (lathe.Message, error) {
	var in user
	if err := json.Unmarshal(data, &in); err != nil {
		return lathe.Message{}, err
	}
	u := &lathe.User{Agent: in.Agent, Model: in.Model.decode(in.Variant), System: in.System, Tools: in.Tools}
	if s := in.Summary; s != nil {
		u.Summary = &lathe.UserSummary{Title: s.Title, Body: s.Body, Diffs: decodeDiffs(s.Diffs)}
	}
	return lathe.Message{ID: in.ID, SessionID: in.SessionID, Created: in.Time.Created.time(), Info: u}, nil
}

func decodeAssistant(data []byte) (lathe.Message, error) {
	var in assistant
	if err := json.Unmarshal(data, &in); err != nil {
		return lathe.Message{}, err
	}
	cost, err := in.Cost.money()
	if err != nil {
		return lathe.Message{}, err
	}
	if in.Agent == "" {
		in.Agent = in.Mode // before agents had their own field
	}
	a := &lathe.Assistant{
		ParentID: in.ParentID, Agent: in.Agent, Cwd: in.Path.Cwd, Root: in.Path.Root,
		Model:     lathe.ModelRef{Provider: in.ProviderID, Model: in.ModelID, Variant: in.Variant},
		Completed: in.Time.Completed.time(), Finish: in.Finish, Summary: in.Summary, Cost: cost,
		Tokens: in.Tokens.decode(), Error: in.Error.decode(),
	}
	return lathe.Message{ID: in.ID, SessionID: in.SessionID, Created: in.Time.Created.time(), Info: a}, nil
}

// DecodeMessage reads a message with its parts.
func DecodeMessage(data []byte) (lathe.Message, error) {
	var in struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return lathe.Message{}, fmt.Errorf("decode message: %w", err)
	}
	m, err := DecodeInfo(in.Info)
	if err != nil {
		return m, err
	}
	for i, raw := range in.Parts {
		p, err := DecodePart(raw)
		if err != nil {
			return lathe.Message{}, fmt.Errorf("decode message %s: part %d: %w", m.ID, i, err)
		}
		m.Parts = append(m.Parts, p)
	}
	return m, nil
}
