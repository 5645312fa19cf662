package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"lathe"
)

type textPart struct {
	header
	Text      string     `json:"text"`
	Synthetic bool       `json:"synthetic,omitempty"`
	Ignored   bool       `json:"ignored,omitempty"`
	Time      *span      `json:"time,omitempty"`
	Metadata  lathe.Meta `json:"metadata,omitempty"`
}

type reasoningPart struct {
	header
	Text     string     `json:"text"`
	Metadata lathe.Meta `json:"metadata,omitempty"`
	Time     span       `json:"time"`
}

type filePart struct {
	header
	MIME     string      `json:"mime"`
	Filename string      `json:"filename,omitempty"`
	URL      string      `json:"url"`
	Source   *fileSource `json:"source,omitempty"`
}

type fileSource struct {
	Type       string          `json:"type"`
	Text       sourceText      `json:"text"`
	Path       string          `json:"path,omitempty"`
	Range      json.RawMessage `json:"range,omitempty"`
	Name       string          `json:"name,omitempty"`
	Kind       *number         `json:"kind,omitempty"`
	ClientName string          `json:"clientName,omitempty"`
	URI        string          `json:"uri,omitempty"`
}

type sourceText struct {
	Value string `json:"value"`
	Start number `json:"start"`
	End   number `json:"end"`
}

type toolPart struct {
	header
	CallID   string     `json:"callID"`
	Tool     string     `json:"tool"`
	State    any        `json:"state"`
	Metadata lathe.Meta `json:"metadata,omitempty"`
}

type stepStartPart struct {
	header
	Snapshot string `json:"snapshot,omitempty"`
}

type stepFinishPart struct {
	header
	Reason   lathe.Finish `json:"reason"`
	Snapshot string       `json:"snapshot,omitempty"`
	Cost     dollars      `json:"cost"`
	Tokens   tokens       `json:"tokens"`
}

type snapshotPart struct {
	header
	Snapshot string `json:"snapshot"`
}

type patchPart struct {
	header
	Hash  string   `json:"hash"`
	Files []string `json:"files"`
}

type agentPart struct {
	header
	Name   string      `json:"name"`
	Source *sourceText `json:"source,omitempty"`
}

type retryPart struct {
	header
	Attempt number    `json:"attempt"`
	Error   *failure  `json:"error"`
	Time    retryTime `json:"time"`
}

type retryTime struct {
	Created number `json:"created"`
}

type compactionPart struct {
	header
	Auto        bool            `json:"auto"`
	Overflow    bool            `json:"overflow,omitempty"`
	TailStartID lathe.MessageID `json:"tail_start_id,omitempty"`
}

type subtaskPart struct {
	header
	Prompt      string `json:"prompt"`
	Description string `json:"description"`
	Agent       string `json:"agent"`
	Model       *model `json:"model,omitempty"`
	Command     string `json:"command,omitempty"`
}

// EncodePart returns a part. It returns nil for a body of no known kind.
func EncodePart(p lathe.Part) any {
	h := func(kind string) header { return header{p.ID, p.SessionID, p.MessageID, kind} }
	switch b := p.Body.(type) {
	case *lathe.Text:
		out := textPart{header: h("text"), Text: b.Text, Synthetic: b.Synthetic, Ignored: b.Ignored, Metadata: b.Meta}
		if b.Time != (lathe.Span{}) {
			t := encodeSpan(b.Time)
			out.Time = &t
		}
		return out
	case *lathe.Reasoning:
		return reasoningPart{header: h("reasoning"), Text: b.Text, Metadata: b.Meta, Time: encodeSpan(b.Time)}
	case *lathe.File:
		return encodeFile(h("file"), b)
	case *lathe.ToolCall:
		return toolPart{
			header: h("tool"), CallID: b.CallID, Tool: b.Tool, State: encodeState(h("file"), b.State), Metadata: b.Meta,
		}
	case *lathe.StepStart:
		return stepStartPart{header: h("step-start"), Snapshot: b.Snapshot}
	case *lathe.StepFinish:
		return stepFinishPart{
			header: h("step-finish"), Reason: b.Reason, Snapshot: b.Snapshot,
			Cost: encodeMoney(b.Cost), Tokens: encodeTokens(b.Tokens),
		}
	case *lathe.SnapshotMark:
		return snapshotPart{header: h("snapshot"), Snapshot: b.Snapshot}
	case *lathe.Patch:
		return patchPart{header: h("patch"), Hash: b.Hash, Files: list(b.Files)}
	case *lathe.AgentMention:
		return agentPart{header: h("agent"), Name: b.Name, Source: encodeSourceText(b.Source)}
	case *lathe.Retry:
		return retryPart{
			header: h("retry"), Attempt: count(b.Attempt), Error: encodeRetried(b.Error),
			Time: retryTime{ms(b.Created)},
		}
	case *lathe.CompactionMark:
		return compactionPart{header: h("compaction"), Auto: b.Auto, Overflow: b.Overflow, TailStartID: b.TailStart}
	case *lathe.Subtask:
		return encodeSubtask(h("subtask"), b)
	}
	return nil
}

func encodeSubtask(h header, b *lathe.Subtask) subtaskPart {
	out := subtaskPart{header: h, Prompt: b.Prompt, Description: b.Description, Agent: b.Agent, Command: b.Command}
	if !b.Model.IsZero() {
		m := encodeModel(b.Model)
		out.Model = &m
	}
	return out
}

func encodeFile(h header, f *lathe.File) filePart {
	out := filePart{header: h, MIME: f.MIME, Filename: f.Filename, URL: f.URL}
	if s := f.Source; s != nil {
		out.Source = &fileSource{
			Type: s.Kind, Text: *encodeSourceText(&s.Text), Path: s.Path, Range: s.Range, Name: s.Name,
			ClientName: s.Client, URI: s.URI,
		}
		if s.Kind == "symbol" {
			kind := count(s.SymbolKind)
			out.Source.Kind = &kind
		}
	}
	return out
}

func encodeSourceText(s *lathe.SourceText) *sourceText {
	if s == nil {
		return nil
	}
	return &sourceText{Value: s.Value, Start: count(s.Start), End: count(s.End)}
}

// attachment names the n-th file of a tool call, which has no identifier of its own.
func attachment(h header, n int) header {
	h.ID += lathe.PartID("_" + strconv.Itoa(n))
	return h
}

// maxDepth bounds the nesting of a part from outside.
const maxDepth = 200

// DecodePart reads a part of any kind.
func DecodePart(data []byte) (lathe.Part, error) {
	p, err := decodePart(data)
	if err != nil {
		return lathe.Part{}, fmt.Errorf("decode part: %w", err)
	}
	return p, nil
}

func decodePart(data []byte) (lathe.Part, error) {
	if tooDeep(data, maxDepth) {
		return lathe.Part{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return lathe.Part{}, err
	}
	for _, id := range []struct{ id, prefix string }{
		{string(h.ID), lathe.PrefixPart}, {string(h.MessageID), lathe.PrefixMessage},
		{string(h.SessionID), lathe.PrefixSession},
	} {
		if err := lathe.CheckID(id.id, id.prefix); err != nil {
			return lathe.Part{}, err
		}
	}
	body, err := decodeBody(h.Type, data)
	if err != nil {
		return lathe.Part{}, err
	}
	return lathe.Part{ID: h.ID, SessionID: h.SessionID, MessageID: h.MessageID, Body: body}, nil
}

// DecodeBody reads the content of a part, which carries no identifiers yet: what
// a client sends as input. The kind is the part's "type".
func DecodeBody(data []byte) (lathe.PartBody, error) {
	if tooDeep(data, maxDepth) {
		return nil, fmt.Errorf("decode part: nested deeper than %d", maxDepth)
	}
	var h header
	err := json.Unmarshal(data, &h)
	var body lathe.PartBody
	if err == nil {
		body, err = decodeBody(h.Type, data)
	}
	if err != nil {
		return nil, fmt.Errorf("decode part: %w", err)
	}
	return body, nil
}

func decodeBody(kind string, data []byte) (lathe.PartBody, error) {
	switch kind {
	case "text":
		return decodeAs(data, func(in textPart) (lathe.PartBody, error) {
			return &lathe.Text{
				Text: in.Text, Synthetic: in.Synthetic, Ignored: in.Ignored, Time: in.Time.decode(), Meta: in.Metadata,
			}, nil
		})
	case "reasoning":
		return decodeAs(data, func(in reasoningPart) (lathe.PartBody, error) {
			return &lathe.Reasoning{Text: in.Text, Time: in.Time.decode(), Meta: in.Metadata}, nil
		})
	case "file":
		return decodeAs(data, func(in filePart) (lathe.PartBody, error) {
			f, err := in.decode()
			return &f, err
		})
	case "tool":
		return decodeTool(data)
	case "step-start":
		return decodeAs(data, func(in stepStartPart) (lathe.PartBody, error) {
			return &lathe.StepStart{Snapshot: in.Snapshot}, nil
		})
	case "step-finish":
		return decodeAs(data, func(in stepFinishPart) (lathe.PartBody, error) {
			cost, err := in.Cost.money()
			return &lathe.StepFinish{Reason: in.Reason, Snapshot: in.Snapshot, Cost: cost, Tokens: in.Tokens.decode()}, err
		})
	case "snapshot":
		return decodeAs(data, func(in snapshotPart) (lathe.PartBody, error) {
			return &lathe.SnapshotMark{Snapshot: in.Snapshot}, nil
		})
	case "patch":
		return decodeAs(data, func(in patchPart) (lathe.PartBody, error) {
			return &lathe.Patch{Hash: in.Hash, Files: in.Files}, nil
		})
	case "agent":
		return decodeAs(data, func(in agentPart) (lathe.PartBody, error) {
			return &lathe.AgentMention{Name: in.Name, Source: in.Source.decode()}, nil
		})
	case "retry":
		return decodeAs(data, func(in retryPart) (lathe.PartBody, error) {
			return &lathe.Retry{Attempt: int(in.Attempt), Error: in.Error.decode(), Created: in.Time.Created.time()}, nil
		})
	case "compaction":
		return decodeAs(data, func(in compactionPart) (lathe.PartBody, error) {
			return &lathe.CompactionMark{Auto: in.Auto, Overflow: in.Overflow, TailStart: in.TailStartID}, nil
		})
	case "subtask":
		return decodeAs(data, func(in subtaskPart) (lathe.PartBody, error) {
			return &lathe.Subtask{
				Prompt: in.Prompt, Description: in.Description, Agent: in.Agent, Command: in.Command,
				Model: deref(in.Model).decode(""),
			}, nil
		})
	}
	return nil, fmt.Errorf("unknown type %q", kind)
}

// decodeAs never returns a body beside an error.
func decodeAs[T any](data []byte, body func(T) (lathe.PartBody, error)) (lathe.PartBody, error) {
	var in T
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	b, err := body(in)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (in *filePart) decode() (lathe.File, error) {
	if in.URL == "" {
		return lathe.File{}, errors.New("file without a url")
	}
	f := lathe.File{MIME: in.MIME, Filename: in.Filename, URL: in.URL}
	if s := in.Source; s != nil {
		f.Source = &lathe.FileSource{
			Kind: s.Type, Path: s.Path, Text: *s.Text.decode(), Range: compact(s.Range), Name: s.Name,
			SymbolKind: int(deref(s.Kind)), Client: s.ClientName, URI: s.URI,
		}
	}
	return f, nil
}

func (s *sourceText) decode() *lathe.SourceText {
	if s == nil {
		return nil
	}
	return &lathe.SourceText{Value: s.Value, Start: int(s.Start), End: int(s.End)}
}

// compact removes white space, so that a value reads back as it was sent.
func compact(in json.RawMessage) json.RawMessage {
	if in == nil || string(in) == "null" {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, in) != nil {
		return in
	}
	return b.Bytes()
}

// tooDeep reports whether JSON nests deeper than the limit. It only counts: the
// decoder finds what is malformed.
func tooDeep(data []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
