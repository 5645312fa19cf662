package codec

import (
	"encoding/json"
	"time"

	"lathe"
)

// eventDoc is an event as servers that share a store tell each other. Fields that
// have no use for a kind are left out.
type eventDoc struct {
	Session  *sessionRowDoc     `json:"session,omitempty"`
	Message  *messageRowDoc     `json:"message,omitempty"`
	Part     *partRowDoc        `json:"part,omitempty"`
	New      bool               `json:"new,omitempty"`
	ID       lathe.SessionID    `json:"id,omitempty"`
	Of       lathe.MessageID    `json:"of,omitempty"`
	PartID   lathe.PartID       `json:"partID,omitempty"`
	Status   string             `json:"status,omitempty"`
	Retry    *retryingDoc       `json:"retry,omitempty"`
	Failure  *failureDoc        `json:"failure,omitempty"`
	Diffs    []diffDoc          `json:"diffs,omitempty"`
	Todos    []todoDoc          `json:"todos,omitempty"`
	Ask      *lathe.Ask         `json:"ask,omitempty"`
	Question *lathe.QuestionAsk `json:"question,omitempty"`
	AskID    lathe.AskID        `json:"askID,omitempty"`
	Reply    lathe.ReplyKind    `json:"reply,omitempty"`
	Answers  [][]string         `json:"answers,omitempty"`
	Count    int                `json:"count,omitempty"`
	Tokens   int64              `json:"tokens,omitempty"`
	Text     string             `json:"text,omitempty"`
	More     string             `json:"more,omitempty"`
	Project  *projectRowDoc     `json:"project,omitempty"`
	// Properties are those of a [lathe.ClientEvent].
	Properties json.RawMessage `json:"properties,omitempty"`
}

type sessionRowDoc struct {
	ID, Parent                lathe.SessionID
	Project, Directory, Title string
	Created, Updated          int64
	Archived                  int64 `json:",omitempty"`
	Data                      json.RawMessage
}

type messageRowDoc struct {
	ID      lathe.MessageID
	Session lathe.SessionID
	Seq     int64
	Created int64
	Role    string
	Data    json.RawMessage
	Damage  string `json:",omitempty"`
}

type partRowDoc struct {
	ID      lathe.PartID
	Message lathe.MessageID
	Session lathe.SessionID
	Seq     int64
	Kind    string
	Data    json.RawMessage
	Damage  string `json:",omitempty"`
}

type projectRowDoc struct {
	ID, Worktree, VCS string
	Created, Updated  int64
	Data              json.RawMessage
}

type retryingDoc struct {
	Attempt int
	Message string
	Next    int64
}

// Statuses of sessions, as stored.
const (
	statusIdle  = "idle"
	statusBusy  = "busy"
	statusRetry = "retry"
)

// Event returns the kind and the document of an event that clients of every server hear.
// Kind is "" for others: those of one machine, and streamed text.
func (e *Encoder) Event(ev lathe.Event) (kind string, data []byte, err error) {
	var d eventDoc
	switch ev := ev.(type) {
	case lathe.SessionCreated:
		kind, err = "session.created", e.sessionRow(&d, ev.Session)
	case lathe.SessionUpdated:
		kind, err = "session.updated", e.sessionRow(&d, ev.Session)
	case lathe.SessionDeleted:
		kind, err = "session.deleted", e.sessionRow(&d, ev.Session)
	case lathe.SessionStatus:
		kind, d.ID = "session.status", ev.SessionID
		d.Status, d.Retry = encodeStatus(ev.Status)
	case lathe.SessionFailed:
		kind, d.ID, d.Failure = "session.failed", ev.SessionID, encodeFailure(ev.Failure)
	case lathe.SessionDiff:
		kind, d.ID, d.Diffs = "session.diff", ev.SessionID, e.diffs(ev.Diff)
	case lathe.SessionCompacted:
		kind, d.ID = "session.compacted", ev.SessionID
	case lathe.SessionPruned:
		kind, d.ID, d.Count, d.Tokens = "session.pruned", ev.SessionID, ev.Results, ev.Tokens
	case lathe.SessionMode:
		kind, d.ID, d.Text = "session.mode", ev.SessionID, string(ev.Mode)
	case lathe.UndoOff:
		kind, d.ID, d.Text = "undo.off", ev.SessionID, ev.Reason
	case lathe.MessageUpdated:
		kind, err = "message.updated", e.messageRow(&d, ev.Message)
	case lathe.MessageRemoved:
		kind, d.ID, d.Of = "message.removed", ev.SessionID, ev.MessageID
	case lathe.PartUpdated:
		d.New = ev.New
		kind, err = "part.updated", e.partRow(&d, ev.Part)
	case lathe.PartRemoved:
		kind, d.ID, d.Of, d.PartID = "part.removed", ev.SessionID, ev.MessageID, ev.PartID
	case lathe.PermissionAsked:
		kind, d.Ask = "permission.asked", &ev.Ask
	case lathe.PermissionReplied:
		kind, d.ID, d.AskID, d.Reply = "permission.replied", ev.SessionID, ev.AskID, ev.Reply
	case lathe.QuestionAsked:
		kind, d.Question = "question.asked", &ev.Ask
	case lathe.QuestionReplied:
		kind, d.ID, d.AskID, d.Answers = "question.replied", ev.SessionID, ev.AskID, ev.Answers
	case lathe.QuestionRejected:
		kind, d.ID, d.AskID = "question.rejected", ev.SessionID, ev.AskID
	case lathe.TodoUpdated:
		kind, d.ID = "todo.updated", ev.SessionID
		for _, t := range ev.Todos {
			d.Todos = append(d.Todos, todoDoc(t))
		}
	case lathe.CommandExecuted:
		kind, d.ID, d.Of, d.Text, d.More = "command.executed", ev.SessionID, ev.MessageID, ev.Name, ev.Arguments
	case lathe.ProjectUpdated:
		kind, err = "project.updated", projectRow(&d, ev.Project)
	default:
		if kind = d.beside(ev); kind == "" {
			return "", nil, nil
		}
	}
	if err == nil {
		data, err = Marshal(d)
	}
	return kind, data, err
}

// beside is [Encoder.Event] for what happens beside the sessions of a directory.
func (d *eventDoc) beside(ev lathe.Event) (kind string) {
	switch ev := ev.(type) {
	case lathe.JobChanged:
		kind, d.ID, d.Text = "job.changed", ev.SessionID, ev.JobID
		if ev.Running {
			d.Count = 1
		}
	case lathe.Notice:
		kind, d.ID, d.Text, d.More = "notice", ev.SessionID, ev.Title, ev.Text
	case lathe.WorktreeReady:
		kind, d.Text, d.More = "worktree.ready", ev.Name, ev.Branch
	case lathe.WorktreeFailed:
		kind, d.Text = "worktree.failed", ev.Message
	case lathe.MCPToolsChanged:
		kind, d.Text = "mcp.tools", ev.Server
	case lathe.MCPBrowserFailed:
		kind, d.Text, d.More = "mcp.browser", ev.Server, ev.URL
	case lathe.ClientEvent:
		if ev.OfTerminal() && json.Valid(ev.Properties) {
			kind, d.Properties = ev.Type, ev.Properties
		}
	}
	return kind
}

func (e *Encoder) sessionRow(d *eventDoc, s lathe.Session) error {
	data, err := e.Session(&s)
	d.Session = &sessionRowDoc{s.ID, s.ParentID, s.ProjectID, s.Directory, s.Title, Millis(s.Created), Millis(s.Updated), Millis(s.Archived), data}
	return err
}

func (e *Encoder) messageRow(d *eventDoc, m lathe.Message) error {
	role, data, err := e.Info(m.Info)
	d.Message = &messageRowDoc{m.ID, m.SessionID, m.Seq, Millis(m.Created), role, data, m.Damage}
	return err
}

func (e *Encoder) partRow(d *eventDoc, p lathe.Part) error {
	kind, data, err := e.Part(p.Body)
	d.Part = &partRowDoc{p.ID, p.MessageID, p.SessionID, p.Seq, kind, data, p.Damage}
	return err
}

func projectRow(d *eventDoc, p lathe.Project) error {
	data, err := Project(&p)
	d.Project = &projectRowDoc{p.ID, p.Worktree, p.VCS, Millis(p.Created), Millis(p.Updated), data}
	return err
}

func encodeStatus(s lathe.Status) (string, *retryingDoc) {
	switch s := s.(type) {
	case lathe.Busy:
		return statusBusy, nil
	case lathe.Retrying:
		return statusRetry, &retryingDoc{s.Attempt, s.Message, Millis(s.Next)}
	}
	return statusIdle, nil
}

func (d *eventDoc) status() lathe.Status {
	switch {
	case d.Status == statusBusy:
		return lathe.Busy{}
	case d.Status == statusRetry && d.Retry != nil:
		return lathe.Retrying{Attempt: d.Retry.Attempt, Message: d.Retry.Message, Next: time.UnixMilli(d.Retry.Next).UTC()}
	}
	return lathe.Idle{}
}

// Event reads what [Encoder.Event] wrote; nil without an error for a kind that only a
// newer version knows.
func (dec Decoder) Event(kind string, data []byte) (lathe.Event, error) {
	d, err := parse[eventDoc](data)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "session.created", "session.updated", "session.deleted":
		return dec.sessionEvent(kind, d.Session)
	case "message.updated", "part.updated":
		return dec.contentEvent(&d)
	case "session.diff":
		diffs, err := dec.diffs(d.Diffs)
		return lathe.SessionDiff{SessionID: d.ID, Diff: diffs}, err
	case "project.updated":
		if d.Project == nil {
			return nil, nil
		}
		p := lathe.Project{ID: d.Project.ID, Worktree: d.Project.Worktree, VCS: d.Project.VCS, Created: At(d.Project.Created), Updated: At(d.Project.Updated)}
		err := ParseProject(d.Project.Data, &p)
		return lathe.ProjectUpdated{Project: p}, err
	}
	return d.small(kind), nil
}

func (dec Decoder) sessionEvent(kind string, r *sessionRowDoc) (lathe.Event, error) {
	if r == nil {
		return nil, nil
	}
	s := lathe.Session{ID: r.ID, ParentID: r.Parent, ProjectID: r.Project, Directory: r.Directory, Title: r.Title,
		Created: At(r.Created), Updated: At(r.Updated), Archived: At(r.Archived)}
	err := dec.Session(r.Data, &s)
	switch kind {
	case "session.created":
		return lathe.SessionCreated{Session: s}, err
	case "session.deleted":
		return lathe.SessionDeleted{Session: s}, err
	}
	return lathe.SessionUpdated{Session: s}, err
}

func (dec Decoder) contentEvent(d *eventDoc) (lathe.Event, error) {
	if r := d.Message; r != nil {
		info, err := dec.Info(r.Role, r.Data)
		if err != nil || info == nil {
			return nil, err
		}
		return lathe.MessageUpdated{Message: lathe.Message{ID: r.ID, SessionID: r.Session, Seq: r.Seq, Created: At(r.Created), Info: info, Damage: r.Damage}}, nil
	}
	r := d.Part
	if r == nil {
		return nil, nil
	}
	body, err := dec.Part(r.Kind, r.Data)
	if err != nil || body == nil {
		return nil, err
	}
	return lathe.PartUpdated{Part: lathe.Part{ID: r.ID, MessageID: r.Message, SessionID: r.Session, Seq: r.Seq, Body: body, Damage: r.Damage}, New: d.New}, nil
}

// small returns an event that holds no document of its own.
func (d *eventDoc) small(kind string) lathe.Event {
	switch kind {
	case "session.status":
		return lathe.SessionStatus{SessionID: d.ID, Status: d.status()}
	case "session.failed":
		return lathe.SessionFailed{SessionID: d.ID, Failure: decodeFailure(d.Failure)}
	case "session.compacted":
		return lathe.SessionCompacted{SessionID: d.ID}
	case "session.pruned":
		return lathe.SessionPruned{SessionID: d.ID, Results: d.Count, Tokens: d.Tokens}
	case "session.mode":
		return lathe.SessionMode{SessionID: d.ID, Mode: lathe.ApprovalMode(d.Text)}
	case "undo.off":
		return lathe.UndoOff{SessionID: d.ID, Reason: d.Text}
	case "message.removed":
		return lathe.MessageRemoved{SessionID: d.ID, MessageID: d.Of}
	case "part.removed":
		return lathe.PartRemoved{SessionID: d.ID, MessageID: d.Of, PartID: d.PartID}
	case "permission.asked":
		if d.Ask != nil {
			return lathe.PermissionAsked{Ask: *d.Ask}
		}
	case "permission.replied":
		return lathe.PermissionReplied{SessionID: d.ID, AskID: d.AskID, Reply: d.Reply}
	case "question.asked":
		if d.Question != nil {
			return lathe.QuestionAsked{Ask: *d.Question}
		}
	case "question.replied":
		return lathe.QuestionReplied{SessionID: d.ID, AskID: d.AskID, Answers: d.Answers}
	case "question.rejected":
		return lathe.QuestionRejected{SessionID: d.ID, AskID: d.AskID}
	case "todo.updated":
		var todos []lathe.Todo
		for _, t := range d.Todos {
			todos = append(todos, lathe.Todo(t))
		}
		return lathe.TodoUpdated{SessionID: d.ID, Todos: todos}
	case "command.executed":
		return lathe.CommandExecuted{Name: d.Text, SessionID: d.ID, Arguments: d.More, MessageID: d.Of}
	case "job.changed":
		return lathe.JobChanged{SessionID: d.ID, JobID: d.Text, Running: d.Count > 0}
	case "notice":
		return lathe.Notice{SessionID: d.ID, Title: d.Text, Text: d.More}
	case "worktree.ready":
		return lathe.WorktreeReady{Name: d.Text, Branch: d.More}
	case "worktree.failed":
		return lathe.WorktreeFailed{Message: d.Text}
	case "mcp.tools":
		return lathe.MCPToolsChanged{Server: d.Text}
	case "mcp.browser":
		return lathe.MCPBrowserFailed{Server: d.Text, URL: d.More}
	}
	if ev := (lathe.ClientEvent{Type: kind, Properties: d.Properties}); ev.OfTerminal() && len(d.Properties) > 0 {
		return ev
	}
	return nil
}
