package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"lathe"
)

// This file and codec_part.go are the stored form. Fields may be added; none may
// change its meaning without a migration. What a decoder does not know it skips.

// spill is the size from which a body leaves the row for a blob file.
const spill = 64 << 10

// blobRef stands in a document for a body that is a blob.
type blobRef struct {
	Hash string `json:"hash"`
	Size int64  `json:"size"`
}

// encoder collects the bodies that become blobs.
type encoder struct{ blobs map[string]string }

// text returns the body to put into the document, or a reference to it.
func (e *encoder) text(s string) (string, *blobRef) {
	if len(s) <= spill {
		return s, nil
	}
	h := hashOf(s)
	if e.blobs == nil {
		e.blobs = map[string]string{}
	}
	e.blobs[h] = s
	return "", &blobRef{Hash: h, Size: int64(len(s))}
}

// decoder fetches them. load reads a blob. With damage, a note stands for one that
// cannot be read; without, that is an error.
type decoder struct {
	load   func(blobRef) (string, error)
	damage *damage
}

func (d decoder) text(s string, ref *blobRef) (string, error) {
	if ref == nil {
		return s, nil
	}
	s, _, err := d.fetch(*ref)
	return s, err
}

// raw is JSON from outside. Text holds what is not JSON, or not compact: a model
// must get its arguments back byte for byte.
type raw struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
	Blob *blobRef        `json:"blob,omitempty"`
}

func (e *encoder) raw(in json.RawMessage) *raw {
	if in == nil {
		return nil
	}
	if len(in) <= spill {
		var b bytes.Buffer
		if json.Compact(&b, in) == nil && bytes.Equal(b.Bytes(), in) {
			return &raw{JSON: in}
		}
	}
	text, ref := e.text(string(in))
	return &raw{Text: text, Blob: ref}
}

func (d decoder) raw(r *raw) (json.RawMessage, error) {
	switch {
	case r == nil:
		return nil, nil
	case r.JSON != nil:
		return r.JSON, nil
	case r.Blob == nil:
		return json.RawMessage(r.Text), nil
	}
	s, lost, err := d.fetch(*r.Blob)
	if lost {
		s = "{}"
	}
	return json.RawMessage(s), err
}

// metadata is a map whose values tools chose; a large one leaves as a whole.
// Same names the key whose value is the text beside the metadata: what a command
// prints is its output and in its metadata too.
type metadata struct {
	Map  any      `json:"map,omitempty"` // to encode, the encoded map
	Blob *blobRef `json:"blob,omitempty"`
	Same string   `json:"same,omitempty"`
}

// sameKey is the key whose value may be the text itself.
const sameKey = "output"

func (e *encoder) metadata(m map[string]any, text string) (*metadata, error) {
	if m == nil {
		return nil, nil
	}
	var d metadata
	if out, ok := m[sameKey].(string); ok && out == text && text != "" {
		m = maps.Clone(m)
		delete(m, sameKey)
		d.Same = sameKey
	}
	b, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if len(b) > spill {
		_, d.Blob = e.text(string(b))
	} else {
		d.Map = json.RawMessage(b)
	}
	return &d, nil
}

func (d decoder) metadata(m *metadata, text string) (out map[string]any, err error) {
	if m == nil {
		return nil, nil
	}
	if out, _ = m.Map.(map[string]any); m.Blob != nil {
		s, lost, err := d.fetch(*m.Blob)
		if err == nil && !lost {
			err = json.Unmarshal([]byte(s), &out)
		}
		if err != nil {
			return nil, err
		}
	}
	if out == nil {
		out = map[string]any{}
	}
	if m.Same != "" {
		out[m.Same] = text
	}
	return out, nil
}

// marshal writes JSON without the escapes that HTML would need.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Times are milliseconds since 1970; 0 is the zero time.

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

type spanDoc struct {
	Start int64 `json:"start,omitempty"`
	End   int64 `json:"end,omitempty"`
}

func encodeSpan(s lathe.Span) spanDoc { return spanDoc{ms(s.Start), ms(s.End)} }
func (d spanDoc) decode() lathe.Span  { return lathe.Span{Start: at(d.Start), End: at(d.End)} }

type modelDoc struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Variant  string `json:"variant,omitempty"`
}

type tokensDoc struct {
	Input      int64 `json:"input,omitempty"`
	Output     int64 `json:"output,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
}

// sessionDoc is what a session row holds beside its columns.
type sessionDoc struct {
	Slug       string                `json:"slug,omitempty"`
	Version    string                `json:"version,omitempty"`
	Compacting int64                 `json:"compacting,omitempty"`
	Rules      []ruleDoc             `json:"rules,omitempty"`
	Agent      string                `json:"agent,omitempty"`
	Model      modelDoc              `json:"model"`
	Cost       int64                 `json:"cost,omitempty"`
	Tokens     tokensDoc             `json:"tokens"`
	Summary    *lathe.SessionSummary `json:"summary,omitempty"`
	Share      *shareDoc             `json:"share,omitempty"`
	Revert     *revertDoc            `json:"revert,omitempty"`
}

type ruleDoc struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

type shareDoc struct {
	ID      string `json:"id,omitempty"`
	URL     string `json:"url"`
	Secret  string `json:"secret,omitempty"`
	Service string `json:"service,omitempty"`
}

type revertDoc struct {
	Message  string   `json:"message"`
	Part     string   `json:"part,omitempty"`
	Snapshot string   `json:"snapshot,omitempty"`
	Diff     string   `json:"diff,omitempty"`
	DiffBlob *blobRef `json:"diffBlob,omitempty"`
}

func (e *encoder) session(s *lathe.Session) ([]byte, error) {
	d := sessionDoc{
		Slug: s.Slug, Version: s.Version, Compacting: ms(s.Compacting), Agent: s.Agent,
		Model: modelDoc(s.Model), Cost: int64(s.Cost), Tokens: tokensDoc(s.Tokens), Summary: s.Summary,
		Rules: encodeRules(s.Rules),
	}
	if s.Share != nil {
		d.Share = &shareDoc{ID: s.Share.ID, URL: s.Share.URL, Secret: s.Share.Secret, Service: s.Share.Service}
	}
	if r := s.Revert; r != nil {
		d.Revert = &revertDoc{Message: string(r.MessageID), Part: string(r.PartID), Snapshot: r.Snapshot}
		d.Revert.Diff, d.Revert.DiffBlob = e.text(r.Diff)
	}
	return marshal(d)
}

// session fills in what is not a column.
func (d decoder) session(data []byte, s *lathe.Session) error {
	var doc sessionDoc
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	s.Slug, s.Version, s.Compacting, s.Agent = doc.Slug, doc.Version, at(doc.Compacting), doc.Agent
	s.Model, s.Cost, s.Tokens = lathe.ModelRef(doc.Model), lathe.Money(doc.Cost), lathe.Tokens(doc.Tokens)
	s.Summary, s.Rules = doc.Summary, decodeRules(doc.Rules)
	if doc.Share != nil {
		s.Share = &lathe.Share{ID: doc.Share.ID, URL: doc.Share.URL, Secret: doc.Share.Secret, Service: doc.Share.Service}
	}
	if r := doc.Revert; r != nil {
		diff, err := d.text(r.Diff, r.DiffBlob)
		if err != nil {
			return err
		}
		s.Revert = &lathe.Revert{
			MessageID: lathe.MessageID(r.Message), PartID: lathe.PartID(r.Part), Snapshot: r.Snapshot, Diff: diff,
		}
	}
	return nil
}

func encodeRules(rules []lathe.Rule) []ruleDoc {
	var out []ruleDoc
	for _, r := range rules {
		out = append(out, ruleDoc{r.Permission, r.Pattern, string(r.Action)})
	}
	return out
}

func decodeRules(docs []ruleDoc) []lathe.Rule {
	var out []lathe.Rule
	for _, r := range docs {
		out = append(out, lathe.Rule{Permission: r.Permission, Pattern: r.Pattern, Action: lathe.Action(r.Action)})
	}
	return out
}

const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

type userDoc struct {
	Agent   string          `json:"agent,omitempty"`
	Model   modelDoc        `json:"model"`
	System  string          `json:"system,omitempty"`
	SysBlob *blobRef        `json:"systemBlob,omitempty"`
	Tools   map[string]bool `json:"tools,omitempty"`
	Steers  bool            `json:"steers,omitempty"`
	Summary *summaryDoc     `json:"summary,omitempty"`
}

type summaryDoc struct {
	Title string    `json:"title,omitempty"`
	Body  string    `json:"body,omitempty"`
	Diffs []diffDoc `json:"diffs,omitempty"`
}

type diffDoc struct {
	File       string   `json:"file"`
	Before     string   `json:"before,omitempty"`
	BeforeBlob *blobRef `json:"beforeBlob,omitempty"`
	After      string   `json:"after,omitempty"`
	AfterBlob  *blobRef `json:"afterBlob,omitempty"`
	Patch      string   `json:"patch,omitempty"`
	PatchBlob  *blobRef `json:"patchBlob,omitempty"`
	Additions  int      `json:"additions,omitempty"`
	Deletions  int      `json:"deletions,omitempty"`
	Status     string   `json:"status,omitempty"`
}

type assistantDoc struct {
	Parent    string      `json:"parent,omitempty"`
	Agent     string      `json:"agent,omitempty"`
	Model     modelDoc    `json:"model"`
	Cwd       string      `json:"cwd,omitempty"`
	Root      string      `json:"root,omitempty"`
	Completed int64       `json:"completed,omitempty"`
	Finish    string      `json:"finish,omitempty"`
	Summary   bool        `json:"summary,omitempty"`
	Cost      int64       `json:"cost,omitempty"`
	Tokens    tokensDoc   `json:"tokens"`
	Error     *failureDoc `json:"error,omitempty"`
}

// info returns the role and the document of a message.
func (e *encoder) info(info lathe.MessageInfo) (role string, data []byte, err error) {
	switch m := info.(type) {
	case *lathe.User:
		d := userDoc{Agent: m.Agent, Model: modelDoc(m.Model), Tools: m.Tools, Steers: m.Steers}
		d.System, d.SysBlob = e.text(m.System)
		if s := m.Summary; s != nil {
			d.Summary = &summaryDoc{Title: s.Title, Body: s.Body, Diffs: e.diffs(s.Diffs)}
		}
		data, err = marshal(d)
		return roleUser, data, err
	case *lathe.Assistant:
		data, err = marshal(assistantDoc{
			Parent: string(m.ParentID), Agent: m.Agent, Model: modelDoc(m.Model), Cwd: m.Cwd, Root: m.Root,
			Completed: ms(m.Completed), Finish: string(m.Finish), Summary: m.Summary, Cost: int64(m.Cost),
			Tokens: tokensDoc(m.Tokens), Error: encodeFailure(m.Error),
		})
		return roleAssistant, data, err
	}
	return "", nil, fmt.Errorf("encode message: unknown kind %T", info)
}

// info returns nil without an error for a role it does not know.
func (d decoder) info(role string, data []byte) (lathe.MessageInfo, error) {
	switch role {
	case roleUser:
		var doc userDoc
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		return d.user(doc)
	case roleAssistant:
		var doc assistantDoc
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		return &lathe.Assistant{
			ParentID: lathe.MessageID(doc.Parent), Agent: doc.Agent, Model: lathe.ModelRef(doc.Model),
			Cwd: doc.Cwd, Root: doc.Root, Completed: at(doc.Completed), Finish: lathe.Finish(doc.Finish),
			Summary: doc.Summary, Cost: lathe.Money(doc.Cost), Tokens: lathe.Tokens(doc.Tokens),
			Error: decodeFailure(doc.Error),
		}, nil
	}
	return nil, nil
}

func (d decoder) user(doc userDoc) (*lathe.User, error) {
	system, err := d.text(doc.System, doc.SysBlob)
	if err != nil {
		return nil, err
	}
	u := &lathe.User{Agent: doc.Agent, Model: lathe.ModelRef(doc.Model), System: system, Tools: doc.Tools, Steers: doc.Steers}
	if s := doc.Summary; s != nil {
		diffs, err := d.diffs(s.Diffs)
		if err != nil {
			return nil, err
		}
		u.Summary = &lathe.UserSummary{Title: s.Title, Body: s.Body, Diffs: diffs}
	}
	return u, nil
}

func (e *encoder) diffs(diffs []lathe.FileDiff) []diffDoc {
	var out []diffDoc
	for i := range diffs {
		f := &diffs[i]
		d := diffDoc{File: f.File, Additions: f.Additions, Deletions: f.Deletions, Status: f.Status}
		d.Before, d.BeforeBlob = e.text(f.Before)
		d.After, d.AfterBlob = e.text(f.After)
		d.Patch, d.PatchBlob = e.text(f.Patch)
		out = append(out, d)
	}
	return out
}

func (d decoder) diffs(docs []diffDoc) ([]lathe.FileDiff, error) {
	var out []lathe.FileDiff
	for i := range docs {
		doc := &docs[i]
		f := lathe.FileDiff{File: doc.File, Additions: doc.Additions, Deletions: doc.Deletions, Status: doc.Status}
		for _, body := range []struct {
			to   *string
			text string
			ref  *blobRef
		}{{&f.Before, doc.Before, doc.BeforeBlob}, {&f.After, doc.After, doc.AfterBlob}, {&f.Patch, doc.Patch, doc.PatchBlob}} {
			s, err := d.text(body.text, body.ref)
			if err != nil {
				return nil, err
			}
			*body.to = s
		}
		out = append(out, f)
	}
	return out, nil
}

type todoDoc struct {
	ID       string `json:"id,omitempty"`
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority,omitempty"`
}
