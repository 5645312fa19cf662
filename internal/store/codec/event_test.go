package codec

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// An event that servers tell each other comes out as it went in.
func TestEvents(t *testing.T) {
	when := time.UnixMilli(1795182093288).UTC()
	ses := lathe.Session{ID: "ses_1", ParentID: "ses_0", ProjectID: "p", Directory: "/d", Title: "日本", Created: when, Updated: when, Archived: when,
		Model: lathe.ModelRef{Provider: "p", Model: "m"}, Cost: 3}
	part := lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: "ses_1", Seq: 4, Body: &lathe.Text{Text: "a", Time: lathe.Span{Start: when}}}
	tool := &lathe.ToolRef{MessageID: "msg_1", CallID: "c"}
	for _, want := range []lathe.Event{
		lathe.SessionCreated{Session: ses}, lathe.SessionUpdated{Session: ses}, lathe.SessionDeleted{Session: ses},
		lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}},
		lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Retrying{Attempt: 2, Message: "m", Next: when}},
		lathe.SessionFailed{SessionID: "ses_1", Failure: &lathe.LimitFailure{Limit: "steps", Message: "m"}},
		lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "f", Before: "a", After: "b", Additions: 1}}},
		lathe.SessionCompacted{SessionID: "ses_1"}, lathe.SessionPruned{SessionID: "ses_1", Results: 2, Tokens: 3},
		lathe.SessionMode{SessionID: "ses_1", Mode: "auto"}, lathe.UndoOff{SessionID: "ses_1", Reason: "r"},
		lathe.MessageUpdated{Message: lathe.Message{ID: "msg_1", SessionID: "ses_1", Seq: 3, Created: when, Info: &lathe.Assistant{Agent: "build", Completed: when}}},
		lathe.MessageRemoved{SessionID: "ses_1", MessageID: "msg_1"},
		lathe.PartUpdated{Part: part, New: true}, lathe.PartUpdated{Part: part},
		lathe.PartRemoved{SessionID: "ses_1", MessageID: "msg_1", PartID: "prt_1"},
		lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"ls"}, Always: []string{"ls *"}, Metadata: map[string]any{"n": 1.5}, Tool: tool}},
		lathe.PermissionReplied{SessionID: "ses_1", AskID: "per_1", Reply: lathe.Once},
		lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{{}}, Tool: tool}},
		lathe.QuestionReplied{SessionID: "ses_1", AskID: "que_1", Answers: [][]string{{"a"}, {}}},
		lathe.QuestionRejected{SessionID: "ses_1", AskID: "que_1"},
		lathe.TodoUpdated{SessionID: "ses_1", Todos: []lathe.Todo{{ID: "1", Content: "c", Status: "pending"}}},
		lathe.CommandExecuted{Name: "n", SessionID: "ses_1", Arguments: "a", MessageID: "msg_1"},
		lathe.JobChanged{SessionID: "ses_1", JobID: "job_1", Running: true}, lathe.JobChanged{SessionID: "ses_1", JobID: "job_1"},
		lathe.Notice{SessionID: "ses_1", Title: "t", Text: "x"}, lathe.WorktreeReady{Name: "n", Branch: "b"}, lathe.WorktreeFailed{Message: "m"},
		lathe.MCPToolsChanged{Server: "s"}, lathe.MCPBrowserFailed{Server: "s", URL: "u"},
		lathe.ClientEvent{Type: "pty.created", Properties: []byte(`{"info":{"id":"pty_1"}}`)},
		lathe.ProjectUpdated{Project: lathe.Project{ID: "p", Worktree: "/w", VCS: "git", Created: when, Updated: when, Name: "n"}},
	} {
		var e Encoder
		kind, data, err := e.Event(want)
		if err != nil || kind == "" {
			t.Fatalf("%T: %q, %v", want, kind, err)
		}
		got, err := Decoder{}.Event(kind, data)
		if err != nil {
			t.Errorf("%T: %v", want, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	for _, ev := range []lathe.Event{lathe.PartDelta{}, lathe.FileEdited{}, lathe.ClientEvent{Type: "tui.toast.show", Properties: []byte("{}")}, lathe.InstanceDisposed{}} {
		if kind, _, err := new(Encoder).Event(ev); kind != "" || err != nil {
			t.Errorf("%T is told to other machines as %q, %v", ev, kind, err)
		}
	}
	if ev, err := (Decoder{}).Event("of a newer version", []byte(`{}`)); ev != nil || err != nil {
		t.Errorf("a kind that is not known: %v, %v", ev, err)
	}
}

func FuzzEvent(f *testing.F) {
	for _, kind := range []string{"session.created", "part.updated", "message.updated", "session.status", "project.updated", "permission.asked"} {
		f.Add(kind, []byte(`{"session":{"Data":{}},"part":{"Kind":"text","Data":{}},"status":"retry"}`))
	}
	f.Fuzz(func(_ *testing.T, kind string, data []byte) {
		_, _ = Decoder{Load: func(Ref) (string, error) { return "", nil }}.Event(kind, data)
	})
}
