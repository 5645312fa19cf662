package acp

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"lathe"
)

// teller tells the editor what is in a session's messages, each thing once.
type teller struct {
	t *conversation

	mu       sync.Mutex
	roles    map[lathe.MessageID]role
	told     map[lathe.PartID]*told
	cost     lathe.Money
	used     int64
	compacts bool // the editor was told that a compaction is running
}

type role int

const (
	unknown role = iota
	own          // sent by this editor, which already shows it
	user
	assistant
)

// told is what the editor already has of a part.
type told struct {
	kind  string // sessionUpdate of its text; empty for a call
	sent  int    // bytes of the text
	state string // status of a call
}

func newTeller(t *conversation) *teller {
	return &teller{t: t, roles: map[lathe.MessageID]role{}, told: map[lathe.PartID]*told{}}
}

// take handles one event of the session.
func (t *conversation) take(ev lathe.Event) {
	switch ev := ev.(type) {
	case lathe.MessageUpdated:
		t.tell.info(ev.Message)
	case lathe.PartUpdated:
		t.tell.part(ev.Part)
	case lathe.PartDelta:
		t.tell.delta(ev)
	case lathe.TodoUpdated:
		t.a.notify(t.id, plan(ev.Todos))
	case lathe.PermissionAsked:
		t.permission(ev.Ask)
	case lathe.QuestionAsked:
		t.question(ev.Ask)
	case lathe.PermissionReplied:
		t.settled(ev.AskID)
	case lathe.QuestionReplied:
		t.settled(ev.AskID)
	case lathe.QuestionRejected:
		t.settled(ev.AskID)
	case lathe.SessionUpdated:
		t.updated(ev.Session)
	case lathe.SessionCompacted:
		t.tell.compacted("completed")
	case lathe.UndoOff:
		t.notice("warning", ev.Reason)
	case lathe.Notice:
		t.notice("info", ev.Text)
	case lathe.SessionStatus:
		switch s := ev.Status.(type) {
		case lathe.Idle:
			t.idle()
		case lathe.Retrying:
			t.notice("warning", fmt.Sprintf("%s; trying again at %s (attempt %d)", s.Message, s.Next.Format(time.TimeOnly), s.Attempt+1))
		}
	}
}

// updated tells the editor what changed in the session itself.
func (t *conversation) updated(s lathe.Session) {
	t.tell.mu.Lock()
	t.tell.cost = s.Cost
	t.tell.mu.Unlock()
	t.mu.Lock()
	retitled := s.Title != t.title
	t.title = s.Title
	t.mu.Unlock()
	if retitled {
		t.a.notify(t.id, infoUpdate{"session_info_update", s.Title, s.Updated.UTC().Format(time.RFC3339)})
	}
	if !s.Compacting.IsZero() {
		t.tell.compacted("in_progress")
	}
}

// notice tells the person something that does not come from the model. An editor
// without notices shows it as reasoning.
func (t *conversation) notice(severity, text string) {
	if t.a.able().Session.Notices != nil {
		t.a.notify(t.id, noticeUpdate{"notice", severity, text})
		return
	}
	t.a.notify(t.id, chunkUpdate{Update: "agent_thought_chunk", Content: textBlock(text + "\n\n")})
}

// say writes something in lathe's own name, as an answer.
func (t *conversation) say(text string) {
	t.a.notify(t.id, chunkUpdate{Update: "agent_message_chunk", Content: textBlock(text)})
}

// compacted reports that a compaction runs or has ended.
func (l *teller) compacted(status string) {
	l.mu.Lock()
	repeated := status == "in_progress" && l.compacts
	l.compacts = status == "in_progress"
	l.mu.Unlock()
	if !repeated && l.t.a.able().Session.Compaction != nil {
		l.t.a.notify(l.t.id, compactionUpdate{"compaction_update", string(l.t.id), status})
	}
}

// message sends a whole message.
func (l *teller) message(m lathe.Message) {
	l.info(m)
	for _, p := range m.Parts {
		l.part(p)
	}
}

// info handles a message's own fields.
func (l *teller) info(m lathe.Message) {
	switch info := m.Info.(type) {
	case *lathe.User:
		r := user
		if l.t.saw(m.ID) {
			r = own
		}
		l.mu.Lock()
		if l.roles[m.ID] == unknown {
			l.roles[m.ID] = r
		}
		l.mu.Unlock()
		l.t.led(info.Agent)
	case *lathe.Assistant:
		l.mu.Lock()
		l.roles[m.ID] = assistant
		used := info.Tokens.Total()
		tell := !info.Completed.IsZero() && used > 0 && used != l.used
		if tell {
			l.used = used
		}
		spent := l.cost
		l.mu.Unlock()
		if size := l.t.window(info.Model); tell && size > 0 {
			l.t.a.notify(l.t.id, usageUpdate{"usage_update", used, size, &cost{spent.USD(), "USD"}})
		}
	}
}

// part sends what is new in a part.
func (l *teller) part(p lathe.Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := l.roles[p.MessageID]
	if who == own {
		return
	}
	switch b := p.Body.(type) {
	case *lathe.Text:
		switch {
		case who == user && (b.Synthetic || b.Ignored):
		case who == user:
			l.text(p, "user_message_chunk", b.Text)
		default:
			l.text(p, "agent_message_chunk", b.Text)
		}
	case *lathe.Reasoning:
		l.text(p, "agent_thought_chunk", b.Text)
	case *lathe.File:
		if who == user && l.told[p.ID] == nil {
			l.told[p.ID] = &told{}
			l.file(p, b)
		}
	case *lathe.ToolCall:
		l.call(p, b)
	}
}

// text sends the part of a text that the editor does not have yet. The caller holds mu.
func (l *teller) text(p lathe.Part, kind, text string) {
	has := l.told[p.ID]
	if has == nil {
		has = &told{kind: kind}
		l.told[p.ID] = has
	}
	if len(text) <= has.sent {
		return
	}
	l.chunk(p.MessageID, kind, text[has.sent:])
	has.sent = len(text)
}

// delta sends text as it streams.
func (l *teller) delta(d lathe.PartDelta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := l.told[d.PartID]
	if has == nil || has.kind == "" {
		return // its part was not seen: the whole text comes when it is complete
	}
	if d.End > 0 {
		d = d.Beyond(has.sent)
	}
	if d.Delta == "" {
		return
	}
	l.chunk(d.MessageID, has.kind, d.Delta)
	has.sent += len(d.Delta)
}

func (l *teller) chunk(m lathe.MessageID, kind, text string) {
	l.t.a.notify(l.t.id, chunkUpdate{Update: kind, Content: textBlock(text), MessageID: string(m)})
}

// file sends an attachment of a prompt. The caller holds mu.
func (l *teller) file(p lathe.Part, f *lathe.File) {
	b := contentBlock{Type: "resource_link", URI: f.URL, Name: f.Filename, MIMEType: f.MIME}
	if data, ok := inlineImage(f); ok {
		b = contentBlock{Type: "image", Data: data, MIMEType: f.MIME}
	} else if text, ok := inlineText(f); ok {
		b = contentBlock{Type: "resource", Resource: &resource{URI: "file:///" + f.Filename, MIMEType: f.MIME, Text: &text}}
	} else if strings.HasPrefix(f.URL, "data:") { // content, not an address
		b = textBlock("[" + f.Filename + "]")
	}
	l.t.a.notify(l.t.id, chunkUpdate{Update: "user_message_chunk", Content: b, MessageID: string(p.MessageID)})
}

// plan converts a task list to the protocol's format, without cancelled tasks.
func plan(todos []lathe.Todo) planUpdate {
	out := planUpdate{Update: "plan", Entries: []planEntry{}}
	for _, t := range todos {
		e := planEntry{Content: t.Content, Priority: t.Priority, Status: t.Status}
		switch t.Priority {
		case "high", "medium", "low":
		default:
			e.Priority = "medium"
		}
		switch t.Status {
		case "cancelled":
			continue
		case "pending", "in_progress", "completed":
		default:
			e.Status = "pending"
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}
