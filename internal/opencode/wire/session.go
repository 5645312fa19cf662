package wire

import (
	"encoding/json"
	"fmt"

	"lathe"
)

type session struct {
	ID         lathe.SessionID `json:"id"`
	Slug       string          `json:"slug"`
	Version    string          `json:"version"`
	ProjectID  string          `json:"projectID"`
	Directory  string          `json:"directory"`
	ParentID   lathe.SessionID `json:"parentID,omitempty"`
	Title      string          `json:"title"`
	Permission []rule          `json:"permission,omitempty"`
	Time       sessionTime     `json:"time"`
	Summary    *sessionSummary `json:"summary,omitempty"`
	Share      *share          `json:"share,omitempty"`
	Revert     *revert         `json:"revert,omitempty"`

	// Names of 1.18.
	Agent  string        `json:"agent,omitempty"`
	Model  *sessionModel `json:"model,omitempty"`
	Cost   dollars       `json:"cost,omitempty"`
	Tokens *tokens       `json:"tokens,omitempty"`
}

type sessionModel struct {
	ID         string `json:"id"`
	ProviderID string `json:"providerID"`
	Variant    string `json:"variant,omitempty"`
}

type sessionTime struct {
	Created    number `json:"created"`
	Updated    number `json:"updated"`
	Compacting number `json:"compacting,omitempty"`
	Archived   number `json:"archived,omitempty"`
}

type sessionSummary struct {
	Additions number `json:"additions"`
	Deletions number `json:"deletions"`
	Files     number `json:"files"`
}

type share struct {
	URL string `json:"url"`
}

type revert struct {
	MessageID lathe.MessageID `json:"messageID"`
	PartID    lathe.PartID    `json:"partID,omitempty"`
	Snapshot  string          `json:"snapshot,omitempty"`
	Diff      *string         `json:"diff,omitempty"`
}

// encodeRevert sends the diff, if only an empty one, wherever there is a
// snapshot to compare with.
func encodeRevert(r *lathe.Revert) *revert {
	if r == nil {
		return nil
	}
	out := &revert{MessageID: r.MessageID, PartID: r.PartID, Snapshot: r.Snapshot}
	if r.Snapshot != "" || r.Diff != "" {
		out.Diff = &r.Diff
	}
	return out
}

func (r *revert) decode() *lathe.Revert {
	if r == nil {
		return nil
	}
	return &lathe.Revert{MessageID: r.MessageID, PartID: r.PartID, Snapshot: r.Snapshot, Diff: deref(r.Diff)}
}

type rule struct {
	Permission string       `json:"permission"`
	Pattern    string       `json:"pattern"`
	Action     lathe.Action `json:"action"`
}

// known returns a rule in the words that clients know: what is reviewed before it counts
// is an ask to them.
func known(r lathe.Rule) rule {
	if r.Action == lathe.Review {
		r.Action = lathe.AskMe
	}
	return rule(r)
}

// EncodeSession returns a session. Its share secret stays here.
func EncodeSession(s lathe.Session) any { return encodeSession(&s) }

// EncodeSessions returns a list of sessions.
func EncodeSessions(all []lathe.Session) any {
	out := make([]*session, 0, len(all))
	for i := range all {
		out = append(out, encodeSession(&all[i]))
	}
	return out
}

func encodeSession(s *lathe.Session) *session {
	out := &session{
		ID: s.ID, Slug: s.Slug, Version: s.Version, ProjectID: s.ProjectID, Directory: s.Directory,
		ParentID: s.ParentID, Title: s.Title,
		Time: sessionTime{ms(s.Created), ms(s.Updated), ms(s.Compacting), ms(s.Archived)},
	}
	for _, r := range s.Rules {
		out.Permission = append(out.Permission, known(r))
	}
	if v := s.Summary; v != nil {
		out.Summary = &sessionSummary{count(v.Additions), count(v.Deletions), count(v.Files)}
	}
	if s.Share != nil {
		out.Share = &share{URL: s.Share.URL}
	}
	out.Revert = encodeRevert(s.Revert)
	out.Agent, out.Cost = s.Agent, encodeMoney(s.Cost)
	if !s.Model.IsZero() {
		out.Model = &sessionModel{s.Model.Model, s.Model.Provider, s.Model.Variant}
	}
	if s.Tokens != (lathe.Tokens{}) {
		out.Tokens = new(encodeTokens(s.Tokens))
	}
	return out
}

// DecodeSession reads a session, as an export or a data directory holds it.
func DecodeSession(data []byte) (lathe.Session, error) {
	var in session
	if err := json.Unmarshal(data, &in); err != nil {
		return lathe.Session{}, fmt.Errorf("decode session: %w", err)
	}
	if err := lathe.CheckID(string(in.ID), lathe.PrefixSession); err != nil {
		return lathe.Session{}, fmt.Errorf("decode session: %w", err)
	}
	s := lathe.Session{
		ID: in.ID, Slug: in.Slug, ProjectID: in.ProjectID, Directory: in.Directory, ParentID: in.ParentID,
		Title: in.Title, Version: in.Version, Created: in.Time.Created.time(), Updated: in.Time.Updated.time(),
		Compacting: in.Time.Compacting.time(), Archived: in.Time.Archived.time(), Revert: in.Revert.decode(),
	}
	for _, r := range in.Permission {
		s.Rules = append(s.Rules, lathe.Rule(r))
	}
	if v := in.Summary; v != nil {
		s.Summary = &lathe.SessionSummary{
			Additions: int(v.Additions), Deletions: int(v.Deletions), Files: int(v.Files),
		}
	}
	if in.Share != nil {
		s.Share = &lathe.Share{URL: in.Share.URL}
	}
	s.Agent = in.Agent
	if in.Model != nil {
		s.Model = lathe.ModelRef{Provider: in.Model.ProviderID, Model: in.Model.ID, Variant: in.Model.Variant}
	}
	if in.Tokens != nil {
		s.Tokens = in.Tokens.decode()
	}
	var err error
	s.Cost, err = in.Cost.money()
	return s, err
}

type fileDiff struct {
	File      string `json:"file"`
	Before    string `json:"before"`
	After     string `json:"after"`
	Patch     string `json:"patch,omitempty"`
	Additions number `json:"additions"`
	Deletions number `json:"deletions"`
	Status    string `json:"status,omitempty"`
}

// EncodeDiffs returns a list of file changes.
func EncodeDiffs(diffs []lathe.FileDiff) any { return encodeDiffs(diffs) }

func encodeDiffs(diffs []lathe.FileDiff) []fileDiff {
	out := make([]fileDiff, 0, len(diffs))
	for _, d := range diffs {
		out = append(out, fileDiff{
			File: d.File, Before: d.Before, After: d.After, Patch: d.Patch,
			Additions: count(d.Additions), Deletions: count(d.Deletions), Status: d.Status,
		})
	}
	return out
}

func decodeDiffs(in []fileDiff) []lathe.FileDiff {
	var out []lathe.FileDiff
	for _, d := range in {
		out = append(out, lathe.FileDiff{
			File: d.File, Before: d.Before, After: d.After, Patch: d.Patch,
			Additions: int(d.Additions), Deletions: int(d.Deletions), Status: d.Status,
		})
	}
	return out
}

// DecodeDiffs reads a list of file changes.
func DecodeDiffs(data []byte) ([]lathe.FileDiff, error) {
	var in []fileDiff
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode diffs: %w", err)
	}
	return decodeDiffs(in), nil
}

type todo struct {
	ID       string `json:"id"`
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
}

// EncodeTodos returns a task list.
func EncodeTodos(todos []lathe.Todo) any {
	out := make([]todo, 0, len(todos))
	for _, t := range todos {
		out = append(out, todo(t))
	}
	return out
}

// DecodeTodos reads a task list.
func DecodeTodos(data []byte) ([]lathe.Todo, error) {
	var in []todo
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode task list: %w", err)
	}
	var out []lathe.Todo
	for _, t := range in {
		out = append(out, lathe.Todo(t))
	}
	return out, nil
}

type status struct {
	Type    string  `json:"type"`
	Attempt number  `json:"attempt,omitempty"`
	Message *string `json:"message,omitempty"`
	Next    *number `json:"next,omitempty"`
}

// EncodeStatus returns what a session is doing. Nil means idle.
func EncodeStatus(st lathe.Status) any {
	switch st := st.(type) {
	case lathe.Busy:
		return status{Type: "busy"}
	case lathe.Retrying:
		next := ms(st.Next)
		return status{Type: "retry", Attempt: count(st.Attempt), Message: &st.Message, Next: &next}
	}
	return status{Type: "idle"}
}
