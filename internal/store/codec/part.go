package codec

import (
	"encoding/json"
	"fmt"

	"lathe"
)

// Kinds of parts, as stored.
const (
	KindText       = "text"
	KindReasoning  = "reasoning"
	KindFile       = "file"
	KindTool       = "tool"
	KindStepStart  = "step-start"
	KindStepFinish = "step-finish"
	KindSnapshot   = "snapshot"
	KindPatch      = "patch"
	KindAgent      = "agent"
	KindRetry      = "retry"
	KindCompaction = "compaction"
	KindSubtask    = "subtask"
)

type textDoc struct {
	Text      string     `json:"text,omitempty"`
	Blob      *Ref       `json:"blob,omitempty"`
	Synthetic bool       `json:"synthetic,omitempty"`
	Ignored   bool       `json:"ignored,omitempty"`
	Time      spanDoc    `json:"time"`
	Meta      lathe.Meta `json:"meta,omitempty"`
}

type fileDoc struct {
	MIME     string     `json:"mime"`
	Filename string     `json:"filename,omitempty"`
	URL      string     `json:"url,omitempty"`
	Blob     *Ref       `json:"blob,omitempty"`
	Source   *sourceDoc `json:"source,omitempty"`
}

type sourceDoc struct {
	Kind       string        `json:"kind,omitempty"`
	Path       string        `json:"path,omitempty"`
	Text       sourceTextDoc `json:"text"`
	Range      *raw          `json:"range,omitempty"`
	Name       string        `json:"name,omitempty"`
	SymbolKind int           `json:"symbolKind,omitempty"`
	Client     string        `json:"client,omitempty"`
	URI        string        `json:"uri,omitempty"`
}

type sourceTextDoc struct {
	Value string `json:"value,omitempty"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

type toolDoc struct {
	CallID string     `json:"call"`
	Tool   string     `json:"tool"`
	State  stateDoc   `json:"state"`
	Meta   lathe.Meta `json:"meta,omitempty"`
}

// stateDoc is any tool state; Kind says which.
type stateDoc struct {
	Kind        string    `json:"kind"`
	Input       *raw      `json:"input,omitempty"`
	Text        string    `json:"text,omitempty"` // raw arguments, output or error
	Blob        *Ref      `json:"blob,omitempty"`
	Title       string    `json:"title,omitempty"`
	Metadata    *metadata `json:"metadata,omitempty"`
	Attachments []fileDoc `json:"attachments,omitempty"`
	Time        spanDoc   `json:"time"`
	Compacted   int64     `json:"compacted,omitempty"`
	Shown       int       `json:"shown,omitempty"`
	Interrupted bool      `json:"interrupted,omitempty"`
}

type stepFinishDoc struct {
	Reason   string    `json:"reason,omitempty"`
	Snapshot string    `json:"snapshot,omitempty"`
	Cost     int64     `json:"cost,omitempty"`
	Tokens   tokensDoc `json:"tokens"`
}

type snapshotDoc struct {
	Snapshot string `json:"snapshot,omitempty"`
}

type patchDoc struct {
	Hash   string   `json:"hash"`
	Files  []string `json:"files,omitempty"`
	Shared []string `json:"shared,omitempty"`
}

type agentDoc struct {
	Name   string         `json:"name"`
	Source *sourceTextDoc `json:"source,omitempty"`
}

type retryDoc struct {
	Attempt int         `json:"attempt"`
	Error   *failureDoc `json:"error,omitempty"`
	Created int64       `json:"created,omitempty"`
}

type compactionDoc struct {
	Auto      bool   `json:"auto,omitempty"`
	Overflow  bool   `json:"overflow,omitempty"`
	TailStart string `json:"tailStart,omitempty"`
}

type subtaskDoc struct {
	Prompt      string   `json:"prompt,omitempty"`
	Blob        *Ref     `json:"blob,omitempty"`
	Description string   `json:"description,omitempty"`
	Agent       string   `json:"agent,omitempty"`
	Model       modelDoc `json:"model"`
	Command     string   `json:"command,omitempty"`
}

// Part returns the kind and the document of a part.
func (e *Encoder) Part(body lathe.PartBody) (kind string, data []byte, err error) {
	kind, doc, err := e.partDoc(body)
	if err != nil {
		return "", nil, fmt.Errorf("encode part: %w", err)
	}
	data, err = Marshal(doc)
	if err != nil {
		return "", nil, fmt.Errorf("encode %s part: %w", kind, err)
	}
	return kind, data, nil
}

func (e *Encoder) partDoc(body lathe.PartBody) (string, any, error) {
	switch b := body.(type) {
	case *lathe.Text:
		d := textDoc{Synthetic: b.Synthetic, Ignored: b.Ignored, Time: encodeSpan(b.Time), Meta: b.Meta}
		d.Text, d.Blob = e.text(b.Text)
		return KindText, d, nil
	case *lathe.Reasoning:
		d := textDoc{Time: encodeSpan(b.Time), Meta: b.Meta}
		d.Text, d.Blob = e.text(b.Text)
		return KindReasoning, d, nil
	case *lathe.File:
		return KindFile, e.file(b), nil
	case *lathe.ToolCall:
		st, err := e.state(b.State)
		return KindTool, toolDoc{CallID: b.CallID, Tool: b.Tool, State: st, Meta: b.Meta}, err
	case *lathe.StepStart:
		return KindStepStart, snapshotDoc{b.Snapshot}, nil
	case *lathe.StepFinish:
		return KindStepFinish, stepFinishDoc{string(b.Reason), b.Snapshot, int64(b.Cost), tokensDoc(b.Tokens)}, nil
	case *lathe.SnapshotMark:
		return KindSnapshot, snapshotDoc{b.Snapshot}, nil
	case *lathe.Patch:
		return KindPatch, patchDoc{b.Hash, b.Files, b.Shared}, nil
	case *lathe.AgentMention:
		return KindAgent, agentDoc{b.Name, (*sourceTextDoc)(b.Source)}, nil
	case *lathe.Retry:
		return KindRetry, retryDoc{b.Attempt, encodeFailure(b.Error), Millis(b.Created)}, nil
	case *lathe.CompactionMark:
		return KindCompaction, compactionDoc{b.Auto, b.Overflow, string(b.TailStart)}, nil
	case *lathe.Subtask:
		d := subtaskDoc{Description: b.Description, Agent: b.Agent, Model: modelDoc(b.Model), Command: b.Command}
		d.Prompt, d.Blob = e.text(b.Prompt)
		return KindSubtask, d, nil
	}
	return "", nil, fmt.Errorf("unknown kind %T", body)
}

func (e *Encoder) file(f *lathe.File) fileDoc {
	d := fileDoc{MIME: f.MIME, Filename: f.Filename}
	d.URL, d.Blob = e.text(f.URL)
	if s := f.Source; s != nil {
		d.Source = &sourceDoc{
			Kind: s.Kind, Path: s.Path, Text: sourceTextDoc(s.Text), Range: e.raw(s.Range),
			Name: s.Name, SymbolKind: s.SymbolKind, Client: s.Client, URI: s.URI,
		}
	}
	return d
}

func (e *Encoder) state(st lathe.ToolState) (d stateDoc, err error) {
	switch st := st.(type) {
	case *lathe.ToolPending:
		d.Kind = "pending"
		d.Text, d.Blob = e.text(st.Raw)
	case *lathe.ToolRunning:
		d = stateDoc{Kind: "running", Input: e.raw(st.Input), Title: st.Title, Time: spanDoc{Start: Millis(st.Start)}}
		d.Metadata, err = e.metadata(st.Metadata, "")
	case *lathe.ToolDone:
		d = stateDoc{
			Kind: "done", Input: e.raw(st.Input), Title: st.Title,
			Time: encodeSpan(st.Time), Compacted: Millis(st.Compacted), Shown: st.Shown,
		}
		d.Text, d.Blob = e.text(st.Output)
		for i := range st.Attachments {
			d.Attachments = append(d.Attachments, e.file(&st.Attachments[i]))
		}
		d.Metadata, err = e.metadata(st.Metadata, st.Output)
	case *lathe.ToolFailed:
		d = stateDoc{Kind: "failed", Input: e.raw(st.Input), Time: encodeSpan(st.Time), Interrupted: st.Interrupted}
		d.Text, d.Blob = e.text(st.Error)
		d.Metadata, err = e.metadata(st.Metadata, st.Error)
	default:
		err = fmt.Errorf("unknown tool state %T", st)
	}
	return d, err
}

// Part returns nil without an error for a kind it does not know.
func (d Decoder) Part(kind string, data []byte) (lathe.PartBody, error) {
	switch kind {
	case KindText, KindReasoning:
		return d.textPart(kind, data)
	case KindFile:
		doc, err := parse[fileDoc](data)
		if err != nil {
			return nil, err
		}
		f, err := d.file(doc)
		return &f, err
	case KindTool:
		return d.tool(data)
	case KindStepStart:
		doc, err := parse[snapshotDoc](data)
		return &lathe.StepStart{Snapshot: doc.Snapshot}, err
	case KindStepFinish:
		doc, err := parse[stepFinishDoc](data)
		return &lathe.StepFinish{
			Reason: lathe.Finish(doc.Reason), Snapshot: doc.Snapshot,
			Cost: lathe.Money(doc.Cost), Tokens: lathe.Tokens(doc.Tokens),
		}, err
	case KindSnapshot:
		doc, err := parse[snapshotDoc](data)
		return &lathe.SnapshotMark{Snapshot: doc.Snapshot}, err
	case KindPatch:
		doc, err := parse[patchDoc](data)
		return &lathe.Patch{Hash: doc.Hash, Files: doc.Files, Shared: doc.Shared}, err
	case KindAgent:
		doc, err := parse[agentDoc](data)
		return &lathe.AgentMention{Name: doc.Name, Source: (*lathe.SourceText)(doc.Source)}, err
	case KindRetry:
		doc, err := parse[retryDoc](data)
		return &lathe.Retry{Attempt: doc.Attempt, Error: decodeFailure(doc.Error), Created: At(doc.Created)}, err
	case KindCompaction:
		doc, err := parse[compactionDoc](data)
		return &lathe.CompactionMark{
			Auto: doc.Auto, Overflow: doc.Overflow, TailStart: lathe.MessageID(doc.TailStart),
		}, err
	case KindSubtask:
		return d.subtask(data)
	}
	return nil, nil
}

func parse[T any](data []byte) (doc T, err error) {
	err = json.Unmarshal(data, &doc)
	return doc, err
}

func (d Decoder) textPart(kind string, data []byte) (lathe.PartBody, error) {
	doc, err := parse[textDoc](data)
	if err != nil {
		return nil, err
	}
	text, err := d.text(doc.Text, doc.Blob)
	if err != nil {
		return nil, err
	}
	if kind == KindReasoning {
		return &lathe.Reasoning{Text: text, Time: doc.Time.decode(), Meta: doc.Meta}, nil
	}
	return &lathe.Text{
		Text: text, Synthetic: doc.Synthetic, Ignored: doc.Ignored, Time: doc.Time.decode(), Meta: doc.Meta,
	}, nil
}

func (d Decoder) subtask(data []byte) (lathe.PartBody, error) {
	doc, err := parse[subtaskDoc](data)
	if err != nil {
		return nil, err
	}
	prompt, err := d.text(doc.Prompt, doc.Blob)
	return &lathe.Subtask{
		Prompt: prompt, Description: doc.Description, Agent: doc.Agent,
		Model: lathe.ModelRef(doc.Model), Command: doc.Command,
	}, err
}

func (d Decoder) file(doc fileDoc) (lathe.File, error) {
	url, err := d.text(doc.URL, doc.Blob)
	if err != nil {
		return lathe.File{}, err
	}
	f := lathe.File{MIME: doc.MIME, Filename: doc.Filename, URL: url}
	if s := doc.Source; s != nil {
		rng, err := d.raw(s.Range)
		if err != nil {
			return lathe.File{}, err
		}
		f.Source = &lathe.FileSource{
			Kind: s.Kind, Path: s.Path, Text: lathe.SourceText(s.Text), Range: rng,
			Name: s.Name, SymbolKind: s.SymbolKind, Client: s.Client, URI: s.URI,
		}
	}
	return f, nil
}

func (d Decoder) tool(data []byte) (lathe.PartBody, error) {
	doc, err := parse[toolDoc](data)
	if err != nil {
		return nil, err
	}
	st, err := d.state(doc.State)
	if err != nil {
		return nil, err
	}
	return &lathe.ToolCall{CallID: doc.CallID, Tool: doc.Tool, State: st, Meta: doc.Meta}, nil
}

func (d Decoder) state(doc stateDoc) (lathe.ToolState, error) {
	input, err := d.raw(doc.Input)
	if err != nil {
		return nil, err
	}
	text, err := d.text(doc.Text, doc.Blob)
	if err != nil {
		return nil, err
	}
	meta, err := d.metadata(doc.Metadata, text)
	if err != nil {
		return nil, err
	}
	switch doc.Kind {
	case "pending":
		return &lathe.ToolPending{Raw: text}, nil
	case "running":
		return &lathe.ToolRunning{Input: input, Title: doc.Title, Metadata: meta, Start: At(doc.Time.Start)}, nil
	case "done":
		st := &lathe.ToolDone{
			Input: input, Output: text, Title: doc.Title, Metadata: meta,
			Time: doc.Time.decode(), Compacted: At(doc.Compacted), Shown: doc.Shown,
		}
		return st, d.attachments(st, doc.Attachments)
	case "failed":
		return &lathe.ToolFailed{
			Input: input, Error: text, Metadata: meta, Time: doc.Time.decode(), Interrupted: doc.Interrupted,
		}, nil
	}
	return nil, fmt.Errorf("unknown tool state %q", doc.Kind)
}

// attachments adds the files of a call. If some are lost, its output says so.
func (d Decoder) attachments(st *lathe.ToolDone, docs []fileDoc) error {
	for _, doc := range docs {
		own := Decoder{Load: d.Load, Bare: d.Bare}
		if d.Damage != nil {
			own.Damage = &Damage{}
		}
		f, err := own.file(doc)
		switch {
		case err != nil:
			return err
		case own.Damage != nil && own.Damage.Why != nil:
			d.Damage.Add(own.Damage.Why)
			st.Output += "\n" + note("the file "+f.Filename, own.Damage.Why)
		default:
			st.Attachments = append(st.Attachments, f)
		}
	}
	return nil
}

// TextOf returns the streamed text of a part, and whether it has one.
func TextOf(b lathe.PartBody) (string, bool) {
	switch b := b.(type) {
	case *lathe.Text:
		return b.Text, true
	case *lathe.Reasoning:
		return b.Text, true
	}
	return "", false
}

// IsOpen reports whether more is to come: text or thought without an end, a tool
// call without a result.
func IsOpen(b lathe.PartBody) bool {
	switch b := b.(type) {
	case *lathe.Text:
		return !b.Time.Start.IsZero() && b.Time.End.IsZero()
	case *lathe.Reasoning:
		return !b.Time.Start.IsZero() && b.Time.End.IsZero()
	case *lathe.ToolCall:
		switch b.State.(type) {
		case *lathe.ToolPending, *lathe.ToolRunning:
			return true
		}
	}
	return false
}
