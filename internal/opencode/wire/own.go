package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lathe"
	"lathe/internal/api"
)

// What follows is the wire form of lathe's own faces, on the routes below /lathe.
// It is OpenCode's, with a field "lathe" beside it for what OpenCode has no name
// for: decoding what was encoded loses nothing but fractions of a millisecond.

// ownPart is what OpenCode's form cannot say about a part.
type ownPart struct {
	Seq int64 `json:"seq,omitempty"`
}

// ownInfo is what OpenCode's form cannot say about a message.
type ownInfo struct {
	Seq    int64     `json:"seq,omitempty"`
	Steers bool      `json:"steers,omitempty"`
	By     string    `json:"by,omitempty"`
	Limit  string    `json:"limit,omitempty"`
	Parts  []ownPart `json:"parts,omitempty"`
}

type ownMessage struct {
	Info  any     `json:"info"`
	Parts []any   `json:"parts"`
	Lathe ownInfo `json:"lathe"`
}

func infoBeyond(m *lathe.Message) ownInfo {
	out := ownInfo{Seq: m.Seq}
	switch in := m.Info.(type) {
	case *lathe.User:
		out.Steers, out.By = in.Steers, in.By
	case *lathe.Assistant:
		out.Limit = limitOf(in.Error)
	}
	return out
}

func limitOf(f lathe.Failure) string {
	if l, ok := f.(*lathe.LimitFailure); ok {
		return l.Limit
	}
	return ""
}

// withLimit gives a failure back the kind of limit that OpenCode's form lost.
func withLimit(f lathe.Failure, limit string) lathe.Failure {
	if u, ok := f.(*lathe.UnknownFailure); ok && limit != "" {
		return &lathe.LimitFailure{Limit: limit, Message: u.Message}
	}
	return f
}

func (o ownInfo) apply(m *lathe.Message) {
	m.Seq = o.Seq
	switch in := m.Info.(type) {
	case *lathe.User:
		in.Steers, in.By = o.Steers, o.By
	case *lathe.Assistant:
		in.Error = withLimit(in.Error, o.Limit)
	}
}

// EncodeOwnMessage returns a message with its parts.
func EncodeOwnMessage(m lathe.Message) any {
	out := ownMessage{Info: EncodeInfo(m), Parts: encodeParts(m.Parts), Lathe: infoBeyond(&m)}
	for i := range m.Parts {
		out.Lathe.Parts = append(out.Lathe.Parts, ownPart{m.Parts[i].Seq})
	}
	return out
}

// DecodeOwnMessage reads what [EncodeOwnMessage] wrote.
func DecodeOwnMessage(data []byte) (lathe.Message, error) {
	m, err := DecodeMessage(data)
	if err != nil {
		return m, err
	}
	var in struct {
		Lathe ownInfo `json:"lathe"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return m, fmt.Errorf("decode message %s: %w", m.ID, err)
	}
	in.Lathe.apply(&m)
	for i := range min(len(m.Parts), len(in.Lathe.Parts)) {
		m.Parts[i].Seq = in.Lathe.Parts[i].Seq
	}
	return m, nil
}

type ownHistory struct {
	Messages []json.RawMessage `json:"messages"`
	Event    string            `json:"event"`
	More     bool              `json:"more"`
	Newer    bool              `json:"newer"`
}

type ownPage struct {
	Messages []any  `json:"messages"`
	Event    string `json:"event"`
	More     bool   `json:"more"`
	Newer    bool   `json:"newer,omitempty"`
}

// EncodeOwnHistory returns a page of messages.
func EncodeOwnHistory(h api.History) any {
	list := make([]any, 0, len(h.Messages))
	for _, m := range h.Messages {
		list = append(list, EncodeOwnMessage(m))
	}
	return ownPage{list, h.Event, h.More, h.Newer}
}

// DecodeOwnHistory reads a page of messages.
func DecodeOwnHistory(data []byte) (api.History, error) {
	var in ownHistory
	if err := json.Unmarshal(data, &in); err != nil {
		return api.History{}, fmt.Errorf("decode messages: %w", err)
	}
	out := api.History{Event: in.Event, More: in.More, Newer: in.Newer}
	for _, raw := range in.Messages {
		m, err := DecodeOwnMessage(raw)
		if err != nil {
			return api.History{}, err
		}
		out.Messages = append(out.Messages, m)
	}
	return out, nil
}

// ownEvent is an event of lathe's own stream. Its number goes with the frame.
type ownEvent struct {
	Time       number   `json:"time"`
	Directory  string   `json:"directory,omitempty"`
	Type       string   `json:"type"`
	Properties any      `json:"properties"`
	Lathe      *ownMore `json:"lathe,omitempty"`
}

// ownMore is what OpenCode's form cannot say about an event.
type ownMore struct {
	ownInfo
	End int `json:"end,omitempty"` // of a delta
}

const prunedEvent = "lathe.session.pruned"

// undoOffEvent is lathe's own as well.
const undoOffEvent = "lathe.undo.off"

const jobEvent = "lathe.job.changed"

type jobProps struct {
	SessionID lathe.SessionID `json:"sessionID"`
	JobID     string          `json:"jobID"`
	Running   bool            `json:"running"`
}

// noticeEvent tells a person something; other clients are shown a toast.
const noticeEvent = "lathe.notice"

type noticeProps struct {
	SessionID lathe.SessionID `json:"sessionID,omitempty"`
	Title     string          `json:"title"`
	Text      string          `json:"text"`
}

type undoOffProps struct {
	SessionID lathe.SessionID `json:"sessionID"`
	Reason    string          `json:"reason"`
}

// modeEvent is for lathe's own faces alone.
const modeEvent = "lathe.session.mode"

type modeProps struct {
	SessionID lathe.SessionID    `json:"sessionID"`
	Mode      lathe.ApprovalMode `json:"mode"`
}

type prunedProps struct {
	SessionID lathe.SessionID `json:"sessionID"`
	Results   int             `json:"results"`
	Tokens    int64           `json:"tokens"`
}

// EncodeOwnEvent returns an event for lathe's own stream, and false when it has no
// JSON.
func EncodeOwnEvent(env lathe.Envelope) (Output, bool) {
	kind, props := describe(env.Event)
	out := ownEvent{Time: ms(env.Time), Directory: env.Directory, Type: kind, Properties: props}
	switch ev := env.Event.(type) {
	case lathe.MessageUpdated:
		out.Lathe = &ownMore{ownInfo: infoBeyond(&ev.Message)}
	case lathe.PartUpdated:
		out.Lathe = &ownMore{ownInfo: ownInfo{Seq: ev.Part.Seq}}
	case lathe.SessionFailed:
		out.Lathe = &ownMore{ownInfo: ownInfo{Limit: limitOf(ev.Failure)}}
	case lathe.PartDelta:
		out.Type = "message.part.delta"
		out.Properties = partDelta{ev.SessionID, ev.MessageID, ev.PartID, "text", ev.Delta}
		out.Lathe = &ownMore{End: ev.End}
	case lathe.UndoOff:
		out.Type, out.Properties = undoOffEvent, undoOffProps(ev)
	case lathe.SessionMode:
		out.Type, out.Properties = modeEvent, modeProps(ev)
	case lathe.Notice:
		out.Type, out.Properties = noticeEvent, noticeProps(ev)
	case lathe.JobChanged:
		out.Type, out.Properties = jobEvent, jobProps(ev)
	case lathe.SessionPruned:
		out.Type, out.Properties = prunedEvent, prunedProps{ev.SessionID, ev.Results, ev.Tokens}
	}
	if out.Type == "" {
		return Output{}, false
	}
	b, err := Encode(out)
	return b, err == nil // metadata of a tool may have no JSON
}

// DecodeOwnEvent reads what [EncodeOwnEvent] wrote. The error is [ErrUnknownEvent]
// for kinds that lathe has no use for.
func DecodeOwnEvent(data []byte) (lathe.Envelope, error) {
	var in struct {
		Time       number          `json:"time"`
		Directory  string          `json:"directory"`
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Lathe      ownMore         `json:"lathe"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return lathe.Envelope{}, fmt.Errorf("decode event: %w", err)
	}
	env := lathe.Envelope{Time: in.Time.time(), Directory: in.Directory}
	ev, err := decodeOwn(in.Type, in.Properties)
	if err != nil {
		return env, fmt.Errorf("decode event %q: %w", in.Type, err)
	}
	switch e := ev.(type) {
	case lathe.MessageUpdated:
		in.Lathe.apply(&e.Message)
		ev = e
	case lathe.PartUpdated:
		e.Part.Seq = in.Lathe.Seq
		ev = e
	case lathe.SessionFailed:
		e.Failure = withLimit(e.Failure, in.Lathe.Limit)
		ev = e
	case lathe.PartDelta:
		e.End = max(in.Lathe.End, 0)
		ev = e
	}
	env.Event = ev
	return env, nil
}

func decodeOwn(kind string, data []byte) (lathe.Event, error) {
	ev, err := decodeEvent(kind, orEmpty(data))
	if !errors.Is(err, ErrUnknownEvent) {
		return ev, err
	}
	switch kind {
	case "session.diff":
		return decodeProps(data, func(p struct {
			SessionID lathe.SessionID
			Diff      []fileDiff
		}) lathe.Event {
			return lathe.SessionDiff{SessionID: p.SessionID, Diff: decodeDiffs(p.Diff)}
		})
	case "todo.updated":
		return decodeProps(data, func(p struct {
			SessionID lathe.SessionID
			Todos     []todo
		}) lathe.Event {
			out := lathe.TodoUpdated{SessionID: p.SessionID}
			for _, t := range p.Todos {
				out.Todos = append(out.Todos, lathe.Todo(t))
			}
			return out
		})
	case "mcp.tools.changed":
		return decodeProps(data, func(p mcpServer) lathe.Event { return lathe.MCPToolsChanged{Server: p.Server} })
	case "mcp.browser.open.failed":
		return decodeProps(data, func(p mcpBrowser) lathe.Event { return lathe.MCPBrowserFailed{Server: p.Name, URL: p.URL} })
	case "question.replied":
		return decodeProps(data, func(p questionReplied) lathe.Event {
			return lathe.QuestionReplied{SessionID: p.SessionID, AskID: p.RequestID, Answers: p.Answers}
		})
	case "question.rejected":
		return decodeProps(data, func(p questionRejected) lathe.Event {
			return lathe.QuestionRejected{SessionID: p.SessionID, AskID: p.RequestID}
		})
	case "lsp.updated":
		return lathe.LSPUpdated{}, nil
	case "lsp.client.diagnostics":
		return decodeProps(data, func(p lspDiagnosed) lathe.Event { return lathe.LSPDiagnosed{Server: p.ServerID, Path: p.Path} })
	case noticeEvent:
		return decodeProps(data, func(p noticeProps) lathe.Event { return lathe.Notice(p) })
	case "file.edited":
		return decodeProps(data, func(p fileEdited) lathe.Event { return lathe.FileEdited(p) })
	case "command.executed":
		return decodeProps(data, func(p commandExecuted) lathe.Event { return lathe.CommandExecuted(p) })
	case undoOffEvent:
		return decodeProps(data, func(p undoOffProps) lathe.Event { return lathe.UndoOff(p) })
	case modeEvent:
		return decodeProps(data, func(p modeProps) lathe.Event { return lathe.SessionMode(p) })
	case jobEvent:
		return decodeProps(data, func(p jobProps) lathe.Event { return lathe.JobChanged(p) })
	case prunedEvent:
		return decodeProps(data, func(p prunedProps) lathe.Event { return lathe.SessionPruned(p) })
	case "server.connected", "server.heartbeat", "":
		return nil, ErrUnknownEvent
	}
	if len(data) == 0 {
		data = []byte("{}")
	}
	return lathe.ClientEvent{Type: kind, Properties: data}, nil
}

func decodeProps[T any](data []byte, event func(T) lathe.Event) (lathe.Event, error) {
	var p T
	if err := json.Unmarshal(orEmpty(data), &p); err != nil {
		return nil, err
	}
	return event(p), nil
}

type ownPromptMore struct {
	Refs      bool       `json:"refs,omitempty"`
	Limits    api.Limits `json:"limits,omitzero"`
	Rules     []rule     `json:"rules,omitempty"`
	Command   string     `json:"command,omitempty"`
	Arguments string     `json:"arguments,omitempty"`
	Shell     string     `json:"shell,omitempty"`
}

// EncodeOwnPrompt returns the body of a prompt, with a field "lathe" for the rest.
func EncodeOwnPrompt(p api.Prompt) any {
	out := EncodePrompt(p).(map[string]any)
	more := ownPromptMore{Refs: p.Refs, Limits: p.Limits, Command: p.Command, Arguments: p.Arguments, Shell: p.Shell}
	for _, r := range p.Rules {
		more.Rules = append(more.Rules, rule(r))
	}
	out["lathe"] = more
	return out
}

// DecodeOwnPrompt reads such a body.
func DecodeOwnPrompt(data []byte) (api.Prompt, error) {
	p, err := DecodePrompt(data)
	if err != nil {
		return api.Prompt{}, err
	}
	var in struct {
		Lathe ownPromptMore `json:"lathe"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return api.Prompt{}, fmt.Errorf("decode prompt: %w", err)
	}
	more := in.Lathe
	if l := more.Limits; l.Steps < 0 || l.Cost < 0 || l.Tokens < 0 || l.Time < 0 || l.Time > int64(time.Duration(1<<63-1)/time.Millisecond) {
		return api.Prompt{}, errors.New("decode prompt: a limit is out of range")
	}
	if more.Shell != "" && more.Command != "" {
		return api.Prompt{}, errors.New("decode prompt: shell and command exclude each other")
	}
	p.Refs, p.Limits, p.Command, p.Arguments, p.Shell = more.Refs, more.Limits, more.Command, more.Arguments, more.Shell
	for _, r := range more.Rules {
		if r.Permission == "" || (r.Action != lathe.Allow && r.Action != lathe.Deny && r.Action != lathe.AskMe) {
			return api.Prompt{}, fmt.Errorf("decode prompt: permission %q with action %q is not a rule", r.Permission, r.Action)
		}
		p.Rules = append(p.Rules, lathe.Rule(r))
	}
	return p, nil
}

type ownOutcome[M any] struct {
	Last    M           `json:"last,omitempty"`
	Failure *failure    `json:"failure,omitempty"`
	Limit   string      `json:"limit,omitempty"`
	Blocked bool        `json:"blocked,omitempty"`
	Steps   int         `json:"steps"`
	Cost    lathe.Money `json:"cost"`
	Tokens  tokens      `json:"tokens"`
	Running bool        `json:"running,omitempty"`
}

// EncodeOwnOutcome returns how a turn ended.
func EncodeOwnOutcome(o api.Outcome) any {
	out := ownOutcome[any]{
		Failure: encodeFailure(o.Failure), Limit: limitOf(o.Failure), Blocked: o.Blocked, Steps: o.Steps, Cost: o.Cost,
		Tokens: encodeTokens(o.Tokens), Running: o.Running,
	}
	if o.Last != nil {
		out.Last = EncodeOwnMessage(*o.Last)
	}
	return out
}

// DecodeOwnOutcome reads how a turn ended.
func DecodeOwnOutcome(data []byte) (api.Outcome, error) {
	var in ownOutcome[json.RawMessage]
	if err := json.Unmarshal(data, &in); err != nil {
		return api.Outcome{}, fmt.Errorf("decode outcome: %w", err)
	}
	out := api.Outcome{
		Failure: withLimit(in.Failure.decode(), in.Limit), Blocked: in.Blocked, Steps: in.Steps, Cost: in.Cost,
		Tokens: in.Tokens.decode(), Running: in.Running,
	}
	if in.Last != nil {
		m, err := DecodeOwnMessage(in.Last)
		if err != nil {
			return api.Outcome{}, err
		}
		out.Last = &m
	}
	return out, nil
}

// DecodeAsks reads a list of permission asks.
func DecodeAsks(data []byte) ([]lathe.Ask, error) {
	return decodeList(data, func(raw []byte) (lathe.Ask, error) {
		ev, err := decodeAsk(raw)
		if err != nil {
			return lathe.Ask{}, err
		}
		return ev.(lathe.PermissionAsked).Ask, nil
	})
}

// DecodeQuestionAsks reads a list of questions.
func DecodeQuestionAsks(data []byte) ([]lathe.QuestionAsk, error) {
	return decodeList(data, func(raw []byte) (lathe.QuestionAsk, error) {
		ev, err := decodeQuestion(raw)
		if err != nil {
			return lathe.QuestionAsk{}, err
		}
		return ev.(lathe.QuestionAsked).Ask, nil
	})
}

// DecodeStatuses reads what sessions do, by session.
func DecodeStatuses(data []byte) (map[lathe.SessionID]lathe.Status, error) {
	var in map[lathe.SessionID]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode statuses: %w", err)
	}
	out := make(map[lathe.SessionID]lathe.Status, len(in))
	for id, raw := range in {
		st, err := decodeStatus(raw)
		if err != nil {
			return nil, fmt.Errorf("decode statuses: %w", err)
		}
		out[id] = st
	}
	return out, nil
}

func decodeList[T any](data []byte, decode func([]byte) (T, error)) ([]T, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, fmt.Errorf("decode list: %w", err)
	}
	out := make([]T, 0, len(items))
	for _, raw := range items {
		v, err := decode(raw)
		if err != nil {
			return nil, fmt.Errorf("decode list: %w", err)
		}
		out = append(out, v)
	}
	return out, nil
}
