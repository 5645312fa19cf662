package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"lathe"
	"lathe/internal/api"
)

// ErrUnknownEvent means that an event is of a kind that lathe has no use for.
var ErrUnknownEvent = errors.New("unknown kind of event")

// DecodeEvent reads an event of a stream, as [EncodeStream] and its kin write it.
// The error is [ErrUnknownEvent] for kinds that are passed over; session.idle and
// server.* among them.
func DecodeEvent(data []byte) (lathe.Event, error) {
	var in struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	ev, err := decodeEvent(in.Type, in.Properties)
	if err != nil {
		return nil, fmt.Errorf("decode event %q: %w", in.Type, err)
	}
	return ev, nil
}

func decodeEvent(kind string, data []byte) (lathe.Event, error) {
	var p struct {
		SessionID lathe.SessionID `json:"sessionID"`
		MessageID lathe.MessageID `json:"messageID"`
		PartID    lathe.PartID    `json:"partID"`
		RequestID lathe.AskID     `json:"requestID"`
		Reply     lathe.ReplyKind `json:"reply"`
		Delta     string          `json:"delta"`
		Directory string          `json:"directory"`
		Info      json.RawMessage `json:"info"`
		Part      json.RawMessage `json:"part"`
		Error     json.RawMessage `json:"error"`
		Status    json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	switch kind {
	case "session.created", "session.updated", "session.deleted":
		return decodeSessionEvent(kind, p.Info)
	case "session.status":
		st, err := decodeStatus(p.Status)
		return lathe.SessionStatus{SessionID: p.SessionID, Status: st}, err
	case "session.error":
		f, err := DecodeFailure(orEmpty(p.Error))
		if len(p.Error) == 0 {
			f, err = nil, nil
		}
		return lathe.SessionFailed{SessionID: p.SessionID, Failure: f}, err
	case "session.compacted":
		return lathe.SessionCompacted{SessionID: p.SessionID}, nil
	case "message.updated":
		m, err := DecodeInfo(orEmpty(p.Info))
		return lathe.MessageUpdated{Message: m}, err
	case "message.removed":
		return lathe.MessageRemoved{SessionID: p.SessionID, MessageID: p.MessageID}, nil
	case "message.part.updated":
		part, err := DecodePart(orEmpty(p.Part))
		return lathe.PartUpdated{Part: part}, err
	case "message.part.delta":
		return lathe.PartDelta{SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.PartID, Delta: p.Delta}, nil
	case "message.part.removed":
		return lathe.PartRemoved{SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.PartID}, nil
	case "permission.asked":
		return decodeAsk(data)
	case "permission.replied":
		return lathe.PermissionReplied{SessionID: p.SessionID, AskID: p.RequestID, Reply: p.Reply}, nil
	case "question.asked":
		return decodeQuestion(data)
	case "server.instance.disposed":
		return lathe.InstanceDisposed{Directory: p.Directory}, nil
	}
	return nil, ErrUnknownEvent
}

func orEmpty(raw json.RawMessage) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

func decodeSessionEvent(kind string, info json.RawMessage) (lathe.Event, error) {
	s, err := DecodeSession(orEmpty(info))
	if err != nil {
		return nil, err
	}
	switch kind {
	case "session.created":
		return lathe.SessionCreated{Session: s}, nil
	case "session.deleted":
		return lathe.SessionDeleted{Session: s}, nil
	}
	return lathe.SessionUpdated{Session: s}, nil
}

func decodeStatus(data []byte) (lathe.Status, error) {
	var in struct {
		Type    string `json:"type"`
		Attempt number `json:"attempt"`
		Message string `json:"message"`
		Next    number `json:"next"`
	}
	if err := json.Unmarshal(orEmpty(data), &in); err != nil {
		return nil, err
	}
	switch in.Type {
	case "idle":
		return lathe.Idle{}, nil
	case "busy":
		return lathe.Busy{}, nil
	case "retry":
		return lathe.Retrying{Attempt: int(in.Attempt), Message: in.Message, Next: in.Next.time()}, nil
	}
	return nil, fmt.Errorf("status %q is not one of idle, busy and retry", in.Type)
}

func decodeAsk(data []byte) (lathe.Event, error) {
	var in ask
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	if err := lathe.CheckID(string(in.ID), lathe.PrefixAsk); err != nil {
		return nil, err
	}
	return lathe.PermissionAsked{Ask: lathe.Ask{
		ID: in.ID, SessionID: in.SessionID, Permission: in.Permission, Patterns: in.Patterns, Always: in.Always,
		Metadata: in.Metadata, Tool: (*lathe.ToolRef)(in.Tool),
	}}, nil
}

func decodeQuestion(data []byte) (lathe.Event, error) {
	var in questionAsk
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	if err := lathe.CheckID(string(in.ID), lathe.PrefixQuestion); err != nil {
		return nil, err
	}
	out := lathe.QuestionAsk{ID: in.ID, SessionID: in.SessionID, Tool: (*lathe.ToolRef)(in.Tool)}
	for _, q := range in.Questions {
		e := lathe.Question{Text: q.Question, Header: q.Header, Multiple: q.Multiple, Custom: q.Custom == nil || *q.Custom}
		for _, o := range q.Options {
			e.Options = append(e.Options, lathe.QuestionOption(o))
		}
		out.Questions = append(out.Questions, e)
	}
	return lathe.QuestionAsked{Ask: out}, nil
}

// EncodePrompt returns the body of a prompt.
func EncodePrompt(p api.Prompt) any {
	out := map[string]any{}
	parts := []any{}
	for _, b := range p.Parts {
		parts = append(parts, EncodePart(lathe.Part{Body: b}))
	}
	out["parts"] = parts
	if !p.Model.IsZero() {
		out["model"] = encodeModel(p.Model)
	}
	for k, v := range map[string]string{"messageID": string(p.MessageID), "agent": p.Agent, "system": p.System, "variant": p.Model.Variant} {
		if v != "" {
			out[k] = v
		}
	}
	if p.NoReply {
		out["noReply"] = true
	}
	if p.Tools != nil {
		out["tools"] = p.Tools
	}
	return out
}

// EncodeSessionRequest returns the body that creates a session.
func EncodeSessionRequest(in api.SessionRequest) any {
	out := map[string]any{}
	if in.ParentID != "" {
		out["parentID"] = in.ParentID
	}
	if in.Title != nil {
		out["title"] = *in.Title
	}
	if in.Agent != "" {
		out["agent"] = in.Agent
	}
	if in.HasRules {
		rules := []rule{}
		for _, r := range in.Rules {
			rules = append(rules, rule(r))
		}
		out["permission"] = rules
	}
	return out
}
