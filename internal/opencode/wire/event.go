package wire

import "lathe"

type event struct {
	Type       string `json:"type"`
	Properties any    `json:"properties"`
}

type (
	sessionInfo struct {
		Info *session `json:"info"`
	}
	sessionRef struct {
		SessionID lathe.SessionID `json:"sessionID"`
	}
	sessionStatus struct {
		SessionID lathe.SessionID `json:"sessionID"`
		Status    any             `json:"status"`
	}
	sessionError struct {
		SessionID lathe.SessionID `json:"sessionID,omitempty"`
		Error     *failure        `json:"error,omitempty"`
	}
	sessionDiff struct {
		SessionID lathe.SessionID `json:"sessionID"`
		Diff      []fileDiff      `json:"diff"`
	}
	messageInfo struct {
		Info any `json:"info"`
	}
	messageRef struct {
		SessionID lathe.SessionID `json:"sessionID"`
		MessageID lathe.MessageID `json:"messageID"`
	}
	partRef struct {
		SessionID lathe.SessionID `json:"sessionID"`
		MessageID lathe.MessageID `json:"messageID"`
		PartID    lathe.PartID    `json:"partID"`
	}
	partUpdated struct {
		Part  any    `json:"part"`
		Delta string `json:"delta,omitempty"`
	}
	permissionReplied struct {
		SessionID lathe.SessionID `json:"sessionID"`
		RequestID lathe.AskID     `json:"requestID"`
		Reply     lathe.ReplyKind `json:"reply"`
	}
	questionReplied struct {
		SessionID lathe.SessionID `json:"sessionID"`
		RequestID lathe.AskID     `json:"requestID"`
		Answers   [][]string      `json:"answers"`
	}
	questionRejected struct {
		SessionID lathe.SessionID `json:"sessionID"`
		RequestID lathe.AskID     `json:"requestID"`
	}
	todoUpdated struct {
		SessionID lathe.SessionID `json:"sessionID"`
		Todos     any             `json:"todos"`
	}
	lspDiagnosed struct {
		ServerID string `json:"serverID"`
		Path     string `json:"path"`
	}
	fileEdited struct {
		File string `json:"file"`
	}
	fileWatched struct {
		File  string `json:"file"`
		Event string `json:"event"`
	}
	commandExecuted struct {
		Name      string          `json:"name"`
		SessionID lathe.SessionID `json:"sessionID"`
		Arguments string          `json:"arguments"`
		MessageID lathe.MessageID `json:"messageID"`
	}
	disposed struct {
		Directory string `json:"directory"`
	}
)

// EncodeEvent returns the {type, properties} of an event, and false for one that
// 1.1 cannot say: a [lathe.PartDelta] on its own, see [EncodePartUpdated].
func EncodeEvent(ev lathe.Event) ([]byte, bool) {
	kind, props := describe(ev)
	if kind == "" {
		return nil, false
	}
	return encodeEvent(kind, props)
}

// EncodeEvents returns all that 1.1 says about an event, in order: nothing for a
// [lathe.PartDelta], session.status and session.idle when a session becomes
// idle, one event otherwise.
func EncodeEvents(ev lathe.Event) [][]byte {
	first, ok := EncodeEvent(ev)
	if !ok {
		return nil
	}
	out := [][]byte{first}
	if st, ok := ev.(lathe.SessionStatus); ok {
		if _, idle := st.Status.(lathe.Idle); idle {
			if b, ok := encodeEvent("session.idle", sessionRef{st.SessionID}); ok {
				out = append(out, b)
			}
		}
	}
	return out
}

// EncodePartUpdated returns message.part.updated for a part of which delta is
// the newest text. The part holds all of its text, the delta included.
func EncodePartUpdated(p lathe.Part, delta string) ([]byte, bool) {
	return encodeEvent("message.part.updated", partUpdated{EncodePart(p), delta})
}

// EncodeConnected returns the first event of a stream.
func EncodeConnected() []byte { return []byte(`{"type":"server.connected","properties":{}}`) }

// EncodeHeartbeat returns the event that keeps an idle stream open.
func EncodeHeartbeat() []byte { return []byte(`{"type":"server.heartbeat","properties":{}}`) }

// EncodeGlobal wraps an encoded event for the stream of all directories. An
// empty directory is left out.
func EncodeGlobal(directory string, event []byte) ([]byte, error) {
	return Marshal(struct {
		Directory string  `json:"directory,omitempty"`
		Payload   rawJSON `json:"payload"`
	}{directory, event})
}

// rawJSON is JSON that was encoded here: it is copied, not checked again.
type rawJSON []byte

// MarshalJSON returns the bytes.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// encodeEvent fails for metadata that has no JSON only, which is a tool's fault.
func encodeEvent(kind string, props any) ([]byte, bool) {
	b, err := Marshal(event{kind, props})
	return b, err == nil
}

// describe names an event and its properties; an empty name means neither.
type toast struct {
	Title   string `json:"title"`
	Message string `json:"message"`
	Variant string `json:"variant"`
}

func describe(ev lathe.Event) (string, any) {
	switch ev := ev.(type) {
	case lathe.SessionCreated:
		return "session.created", sessionInfo{encodeSession(&ev.Session)}
	case lathe.SessionUpdated:
		return "session.updated", sessionInfo{encodeSession(&ev.Session)}
	case lathe.SessionDeleted:
		return "session.deleted", sessionInfo{encodeSession(&ev.Session)}
	case lathe.SessionStatus:
		return "session.status", sessionStatus{ev.SessionID, EncodeStatus(ev.Status)}
	case lathe.SessionFailed:
		return "session.error", sessionError{ev.SessionID, encodeFailure(ev.Failure)}
	case lathe.SessionDiff:
		return "session.diff", sessionDiff{ev.SessionID, encodeDiffs(ev.Diff)}
	case lathe.SessionCompacted:
		return "session.compacted", sessionRef{ev.SessionID}
	case lathe.MessageUpdated:
		return "message.updated", messageInfo{EncodeInfo(ev.Message)}
	case lathe.MessageRemoved:
		return "message.removed", messageRef{ev.SessionID, ev.MessageID}
	case lathe.PartUpdated:
		return "message.part.updated", partUpdated{Part: EncodePart(ev.Part)}
	case lathe.PartRemoved:
		return "message.part.removed", partRef{ev.SessionID, ev.MessageID, ev.PartID}
	}
	return describeRest(ev)
}

func describeRest(ev lathe.Event) (string, any) {
	switch ev := ev.(type) {
	case lathe.PermissionAsked:
		return "permission.asked", EncodeAsk(ev.Ask)
	case lathe.PermissionReplied:
		return "permission.replied", permissionReplied{ev.SessionID, ev.AskID, ev.Reply}
	case lathe.QuestionAsked:
		return "question.asked", EncodeQuestions(ev.Ask)
	case lathe.QuestionReplied:
		return "question.replied", questionReplied{ev.SessionID, ev.AskID, answers(ev.Answers)}
	case lathe.QuestionRejected:
		return "question.rejected", questionRejected{ev.SessionID, ev.AskID}
	case lathe.TodoUpdated:
		return "todo.updated", todoUpdated{ev.SessionID, EncodeTodos(ev.Todos)}
	case lathe.MCPToolsChanged:
		return "mcp.tools.changed", mcpServer{ev.Server}
	case lathe.MCPBrowserFailed:
		return "mcp.browser.open.failed", mcpBrowser{ev.Server, ev.URL}
	case lathe.FileEdited:
		return "file.edited", fileEdited{ev.File}
	case lathe.FileWatched:
		return "file.watcher.updated", fileWatched{ev.File, ev.Op}
	case lathe.CommandExecuted:
		return "command.executed", commandExecuted{ev.Name, ev.SessionID, ev.Arguments, ev.MessageID}
	case lathe.ProjectUpdated:
		return "project.updated", EncodeProject(ev.Project)
	case lathe.WorktreeReady:
		return "worktree.ready", worktreeReady{ev.Name, ev.Branch}
	case lathe.WorktreeFailed:
		return "worktree.failed", worktreeFailed{ev.Message}
	case lathe.InstanceDisposed:
		return "server.instance.disposed", disposed{ev.Directory}
	case lathe.UndoOff:
		return "tui.toast.show", toast{"Undo is off here", "What is changed cannot be taken back: " + ev.Reason, "warning"}
	case lathe.Notice:
		return "tui.toast.show", toast{ev.Title, ev.Text, "info"}
	case lathe.LSPUpdated:
		return "lsp.updated", struct{}{}
	case lathe.LSPDiagnosed:
		return "lsp.client.diagnostics", lspDiagnosed{ev.Server, ev.Path}
	case lathe.ClientEvent:
		return ev.Type, rawJSON(ev.Properties)
	}
	return "", nil
}

type mcpServer struct {
	Server string `json:"server"`
}

type mcpBrowser struct {
	Name string `json:"mcpName"`
	URL  string `json:"url"`
}

func answers(in [][]string) [][]string {
	out := make([][]string, 0, len(in))
	for _, a := range in {
		out = append(out, list(a))
	}
	return out
}
