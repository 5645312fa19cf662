// Package codec is the form in which documents of sessions are stored, whichever
// database holds them: JSON next to the columns that are queried, bodies that are too
// large for a row by the hash of their content, and the lines in which a running tool
// says what it shows.
package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"lathe"
)

// This package is the stored form. Fields may be added; none may change its
// meaning without a migration. A Decoder skips what it does not know.

// Spill is the size from which a body leaves the row for a blob file.
const Spill = 64 << 10

// Ref stands in a document for a body that is a blob.
type Ref struct {
	Hash string `json:"hash"`
	Size int64  `json:"size"`
}

// MaxBody bounds what a damaged row or blob may grow to.
const MaxBody = 1 << 30

// Check returns an error unless the reference may be one of ours: a damaged row
// must not lead outside the blob directory.
func (r Ref) Check() error {
	if len(r.Hash) != sha256.Size*2 || strings.ContainsAny(r.Hash, `/\.`) || r.Size < 0 || r.Size > MaxBody {
		return fmt.Errorf("blob reference %q is malformed", r.Hash)
	}
	return nil
}

// Hash returns what a body is named by.
func Hash(s string) string {
	h := sha256.New()
	io.Copy(h, onlyReader{strings.NewReader(s)}) // piece by piece; hashing cannot fail
	return hex.EncodeToString(h.Sum(nil))
}

// onlyReader hides WriteTo of a strings.Reader, which would copy the whole string.
type onlyReader struct{ io.Reader }

// Encoder makes documents and collects the bodies that become blobs, by hash.
type Encoder struct{ Blobs map[string]string }

// text returns the body to put into the document, or a reference to it.
func (e *Encoder) text(s string) (string, *Ref) {
	if len(s) <= Spill {
		return s, nil
	}
	h := Hash(s)
	if e.Blobs == nil {
		e.Blobs = map[string]string{}
	}
	e.Blobs[h] = s
	return "", &Ref{Hash: h, Size: int64(len(s))}
}

// Decoder reads documents. Load reads a blob. With Damage set, a note replaces a blob
// that cannot be read; without it, that is an error.
type Decoder struct {
	Load   func(Ref) (string, error)
	Damage *Damage
	Bare   bool // texts that are stored apart are not read: they are empty, and Load is not needed
}

func (d Decoder) text(s string, ref *Ref) (string, error) {
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
	Blob *Ref            `json:"blob,omitempty"`
}

func (e *Encoder) raw(in json.RawMessage) *raw {
	if in == nil {
		return nil
	}
	if len(in) <= Spill {
		var b bytes.Buffer
		if json.Compact(&b, in) == nil && bytes.Equal(b.Bytes(), in) {
			return &raw{JSON: in}
		}
	}
	text, ref := e.text(string(in))
	return &raw{Text: text, Blob: ref}
}

func (d Decoder) raw(r *raw) (json.RawMessage, error) {
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

// metadata is a map with values chosen by tools; a large one is stored apart as
// a whole. Same names the key whose value equals the text next to the metadata:
// what a command prints is its output and in its metadata too. How long a call waited
// for the person stands in the map as well as in the blob, for those that read none.
type metadata struct {
	Map  any    `json:"map,omitempty"` // to encode, the encoded map
	Blob *Ref   `json:"blob,omitempty"`
	Same string `json:"same,omitempty"`
}

// OutputKey is the key whose value may be the text itself.
const OutputKey = "output"

func (e *Encoder) metadata(m map[string]any, text string) (*metadata, error) {
	if m == nil {
		return nil, nil
	}
	var d metadata
	if out, ok := m[OutputKey].(string); ok && out == text && text != "" {
		m = maps.Clone(m)
		delete(m, OutputKey)
		d.Same = OutputKey
	}
	b, err := Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if len(b) <= Spill {
		d.Map = json.RawMessage(b)
		return &d, nil
	}
	_, d.Blob = e.text(string(b))
	if waited, ok := m[lathe.MetaWaited]; ok {
		d.Map = map[string]any{lathe.MetaWaited: waited}
	}
	return &d, nil
}

func (d Decoder) metadata(m *metadata, text string) (out map[string]any, err error) {
	if m == nil {
		return nil, nil
	}
	if out, _ = m.Map.(map[string]any); m.Blob != nil && !d.Bare {
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

// Marshal writes JSON without the escapes that HTML would need.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Millis returns a time as it is stored, in milliseconds since 1970; 0 is the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// At returns the time that Millis stored.
func At(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

type spanDoc struct {
	Start int64 `json:"start,omitempty"`
	End   int64 `json:"end,omitempty"`
}

func encodeSpan(s lathe.Span) spanDoc { return spanDoc{Millis(s.Start), Millis(s.End)} }
func (d spanDoc) decode() lathe.Span  { return lathe.Span{Start: At(d.Start), End: At(d.End)} }

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
	Helper     *helperDoc            `json:"helper,omitempty"`
}

type helperDoc struct {
	Background bool   `json:"background,omitempty"`
	Untold     bool   `json:"untold,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Base       string `json:"base,omitempty"`
	Checkout   string `json:"checkout,omitempty"`
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
	Message  string `json:"message"`
	Part     string `json:"part,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	Diff     string `json:"diff,omitempty"`
	DiffBlob *Ref   `json:"diffBlob,omitempty"`
}

// Session returns the document of a session: whatever has no column of its own.
func (e *Encoder) Session(s *lathe.Session) ([]byte, error) {
	d := sessionDoc{
		Slug: s.Slug, Version: s.Version, Compacting: Millis(s.Compacting), Agent: s.Agent,
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
	if s.Helper != nil {
		d.Helper = new(helperDoc(*s.Helper))
	}
	return Marshal(d)
}

// Session fills in what is not a column.
func (d Decoder) Session(data []byte, s *lathe.Session) error {
	var doc sessionDoc
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	s.Slug, s.Version, s.Compacting, s.Agent = doc.Slug, doc.Version, At(doc.Compacting), doc.Agent
	s.Model, s.Cost, s.Tokens = lathe.ModelRef(doc.Model), lathe.Money(doc.Cost), lathe.Tokens(doc.Tokens)
	s.Summary, s.Rules = doc.Summary, decodeRules(doc.Rules)
	if doc.Share != nil {
		s.Share = &lathe.Share{ID: doc.Share.ID, URL: doc.Share.URL, Secret: doc.Share.Secret, Service: doc.Share.Service}
	}
	if doc.Helper != nil {
		s.Helper = new(lathe.Helper(*doc.Helper))
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

// Roles of messages, as stored.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

type userDoc struct {
	Agent   string          `json:"agent,omitempty"`
	Model   modelDoc        `json:"model"`
	System  string          `json:"system,omitempty"`
	SysBlob *Ref            `json:"systemBlob,omitempty"`
	Tools   map[string]bool `json:"tools,omitempty"`
	Steers  bool            `json:"steers,omitempty"`
	By      string          `json:"by,omitempty"`
	Summary *summaryDoc     `json:"summary,omitempty"`
}

type summaryDoc struct {
	Title string    `json:"title,omitempty"`
	Body  string    `json:"body,omitempty"`
	Diffs []diffDoc `json:"diffs,omitempty"`
}

type diffDoc struct {
	File       string `json:"file"`
	Before     string `json:"before,omitempty"`
	BeforeBlob *Ref   `json:"beforeBlob,omitempty"`
	After      string `json:"after,omitempty"`
	AfterBlob  *Ref   `json:"afterBlob,omitempty"`
	Patch      string `json:"patch,omitempty"`
	PatchBlob  *Ref   `json:"patchBlob,omitempty"`
	Additions  int    `json:"additions,omitempty"`
	Deletions  int    `json:"deletions,omitempty"`
	Status     string `json:"status,omitempty"`
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

// Info returns the role and the document of a message.
func (e *Encoder) Info(info lathe.MessageInfo) (role string, data []byte, err error) {
	switch m := info.(type) {
	case *lathe.User:
		d := userDoc{Agent: m.Agent, Model: modelDoc(m.Model), Tools: m.Tools, Steers: m.Steers, By: m.By}
		d.System, d.SysBlob = e.text(m.System)
		if s := m.Summary; s != nil {
			d.Summary = &summaryDoc{Title: s.Title, Body: s.Body, Diffs: e.diffs(s.Diffs)}
		}
		data, err = Marshal(d)
		return RoleUser, data, err
	case *lathe.Assistant:
		data, err = Marshal(assistantDoc{
			Parent: string(m.ParentID), Agent: m.Agent, Model: modelDoc(m.Model), Cwd: m.Cwd, Root: m.Root,
			Completed: Millis(m.Completed), Finish: string(m.Finish), Summary: m.Summary, Cost: int64(m.Cost),
			Tokens: tokensDoc(m.Tokens), Error: encodeFailure(m.Error),
		})
		return RoleAssistant, data, err
	}
	return "", nil, fmt.Errorf("encode message: unknown kind %T", info)
}

// Info returns nil without an error for a role it does not know.
func (d Decoder) Info(role string, data []byte) (lathe.MessageInfo, error) {
	switch role {
	case RoleUser:
		var doc userDoc
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		return d.user(doc)
	case RoleAssistant:
		var doc assistantDoc
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		return &lathe.Assistant{
			ParentID: lathe.MessageID(doc.Parent), Agent: doc.Agent, Model: lathe.ModelRef(doc.Model),
			Cwd: doc.Cwd, Root: doc.Root, Completed: At(doc.Completed), Finish: lathe.Finish(doc.Finish),
			Summary: doc.Summary, Cost: lathe.Money(doc.Cost), Tokens: lathe.Tokens(doc.Tokens),
			Error: decodeFailure(doc.Error),
		}, nil
	}
	return nil, nil
}

func (d Decoder) user(doc userDoc) (*lathe.User, error) {
	system, err := d.text(doc.System, doc.SysBlob)
	if err != nil {
		return nil, err
	}
	u := &lathe.User{Agent: doc.Agent, Model: lathe.ModelRef(doc.Model), System: system, Tools: doc.Tools, Steers: doc.Steers, By: doc.By}
	if s := doc.Summary; s != nil {
		diffs, err := d.diffs(s.Diffs)
		if err != nil {
			return nil, err
		}
		u.Summary = &lathe.UserSummary{Title: s.Title, Body: s.Body, Diffs: diffs}
	}
	return u, nil
}

// Diffs returns the document of what a turn or a session changed.
func (e *Encoder) Diffs(diffs []lathe.FileDiff) ([]byte, error) { return Marshal(e.diffs(diffs)) }

// Diffs reads what [Encoder.Diffs] wrote.
func (d Decoder) Diffs(data []byte) ([]lathe.FileDiff, error) {
	docs, err := parse[[]diffDoc](data)
	if err != nil {
		return nil, err
	}
	return d.diffs(docs)
}

func (e *Encoder) diffs(diffs []lathe.FileDiff) []diffDoc {
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

func (d Decoder) diffs(docs []diffDoc) ([]lathe.FileDiff, error) {
	var out []lathe.FileDiff
	for i := range docs {
		doc := &docs[i]
		f := lathe.FileDiff{File: doc.File, Additions: doc.Additions, Deletions: doc.Deletions, Status: doc.Status}
		for _, body := range []struct {
			to   *string
			text string
			ref  *Ref
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

// Todos returns the document of a task list.
func Todos(todos []lathe.Todo) ([]byte, error) {
	docs := make([]todoDoc, 0, len(todos))
	for _, t := range todos {
		docs = append(docs, todoDoc(t))
	}
	return Marshal(docs)
}

// ParseTodos reads what [Todos] wrote.
func ParseTodos(data []byte) ([]lathe.Todo, error) {
	docs, err := parse[[]todoDoc](data)
	var out []lathe.Todo
	for _, d := range docs {
		out = append(out, lathe.Todo(d))
	}
	return out, err
}
