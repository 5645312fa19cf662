package wire

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"lathe"
)

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func value(t testing.TB, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

type captures struct {
	Session, Message, Part []json.RawMessage
	Event                  []struct {
		Type       string
		Properties json.RawMessage
	}
}

func captured(t testing.TB) (c captures) {
	t.Helper()
	data, err := os.ReadFile("testdata/captured.json")
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What OpenCode 1.1.34 sent reads back as the same JSON.
func TestCaptured(t *testing.T) {
	c := captured(t)
	check := func(raw json.RawMessage, again func([]byte) (any, error)) {
		t.Helper()
		v, err := again(raw)
		if err != nil {
			t.Errorf("%v in %s", err, raw)
			return
		}
		if diff := cmp.Diff(value(t, raw), value(t, encode(t, v))); diff != "" {
			t.Errorf("%.200s (-captured +ours):\n%s", raw, diff)
		}
	}
	for _, raw := range c.Session {
		check(raw, func(b []byte) (any, error) { s, err := DecodeSession(b); return EncodeSession(s), err })
	}
	for _, raw := range c.Message {
		check(raw, func(b []byte) (any, error) { m, err := DecodeInfo(b); return EncodeInfo(m), err })
	}
	for _, raw := range c.Part {
		check(raw, func(b []byte) (any, error) { p, err := DecodePart(b); return EncodePart(p), err })
	}
}

func schemas(t *testing.T) func(name string) *jsonschema.Resolved {
	data, err := os.ReadFile("testdata/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) *jsonschema.Resolved {
		var root jsonschema.Schema
		if err := json.Unmarshal(data, &root); err != nil {
			t.Fatal(err)
		}
		if root.Defs[name] == nil {
			return nil
		}
		root.Ref = "#/$defs/" + name
		r, err := root.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// Everything that is encoded fits the schemas that OpenCode 1.1.34 serves.
func TestSchemas(t *testing.T) {
	schema := schemas(t)
	check := func(name string, v any) {
		t.Helper()
		r := schema(name)
		if r == nil {
			t.Errorf("no schema %s", name)
			return
		}
		data := encode(t, v)
		if err := r.Validate(value(t, data)); err != nil {
			t.Errorf("%s: %v in %s", name, err, data)
		}
	}
	parts, messages, sessions := samples()
	for _, p := range parts {
		check("Part", EncodePart(p))
	}
	for _, m := range messages {
		check("Message", EncodeInfo(m))
	}
	for _, s := range sessions {
		check("Session", EncodeSession(s))
	}
	for _, ev := range events() {
		for _, raw := range EncodeEvents(ev) {
			var head struct{ Type string }
			if err := json.Unmarshal(raw, &head); err != nil {
				t.Fatal(err)
			}
			if r := schema("Event_" + strings.ReplaceAll(head.Type, ".", "_")); r == nil {
				t.Logf("%s is not in the copied schemas", head.Type)
			} else if err := r.Validate(value(t, raw)); err != nil {
				t.Errorf("%s: %v in %s", head.Type, err, raw)
			}
		}
	}
}

func samples() ([]lathe.Part, []lathe.Message, []lathe.Session) {
	now := time.UnixMilli(1795182093288).UTC()
	ran := lathe.Span{Start: now, End: now.Add(time.Second)}
	part := func(b lathe.PartBody) lathe.Part {
		return lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: "ses_1", Body: b}
	}
	tool := func(st lathe.ToolState) lathe.Part {
		return part(&lathe.ToolCall{CallID: "call_1", Tool: "bash", State: st})
	}
	msg := func(in lathe.MessageInfo) lathe.Message {
		return lathe.Message{ID: "msg_1", SessionID: "ses_1", Created: now, Info: in}
	}
	parts := []lathe.Part{
		part(&lathe.Text{}), part(&lathe.Text{Text: "a", Synthetic: true, Time: ran}), part(&lathe.Reasoning{Text: "a"}),
		part(&lathe.File{MIME: "text/plain", URL: "file:///a"}),
		tool(&lathe.ToolPending{}), tool(&lathe.ToolRunning{Input: []byte(`{"command":"true"}`), Start: now}),
		tool(&lathe.ToolDone{Attachments: []lathe.File{{MIME: "image/png", URL: "data:,"}}, Time: ran}),
		tool(&lathe.ToolFailed{Input: []byte(`not json`), Error: "e", Interrupted: true, Time: ran}),
		part(&lathe.StepStart{}), part(&lathe.StepFinish{}), part(&lathe.SnapshotMark{}), part(&lathe.Patch{}),
		part(&lathe.AgentMention{Name: "plan"}),
		part(&lathe.Retry{Attempt: 2, Error: &lathe.OverflowFailure{Message: "m"}, Created: now}),
		part(&lathe.Retry{Attempt: 1, Error: &lathe.APIFailure{Message: "m"}, Created: now}),
		part(&lathe.CompactionMark{}), part(&lathe.Subtask{}),
	}
	messages := []lathe.Message{
		msg(&lathe.User{}), msg(&lathe.User{Summary: &lathe.UserSummary{}}), msg(&lathe.Assistant{}),
		msg(&lathe.Assistant{Completed: now, Error: &lathe.LimitFailure{Limit: "steps", Message: "m"}}),
		msg(&lathe.Assistant{Error: &lathe.OutputLengthFailure{}}), msg(&lathe.Assistant{Error: &lathe.AuthFailure{}}),
	}
	sessions := []lathe.Session{
		{ID: "ses_1"},
		{
			ID: "ses_1", ParentID: "ses_2", Created: now, Updated: now, Compacting: now, Archived: now,
			Rules:   []lathe.Rule{{Permission: "edit", Pattern: "*", Action: lathe.Deny}},
			Summary: &lathe.SessionSummary{Files: 1}, Share: &lathe.Share{URL: "u", Secret: "s"},
			Revert: &lathe.Revert{MessageID: "msg_1", PartID: "prt_1", Snapshot: "s", Diff: "d"},
		},
	}
	return parts, messages, sessions
}

// events has one of each kind.
func events() []lathe.Event {
	parts, messages, sessions := samples()
	return []lathe.Event{
		lathe.SessionCreated{Session: sessions[0]}, lathe.SessionUpdated{Session: sessions[1]},
		lathe.SessionDeleted{Session: sessions[0]}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}},
		lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}},
		lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Retrying{Attempt: 1, Next: time.UnixMilli(5)}},
		lathe.SessionFailed{}, lathe.SessionFailed{SessionID: "ses_1", Failure: &lathe.AbortedFailure{}},
		lathe.SessionDiff{SessionID: "ses_1"}, lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "f"}}},
		lathe.SessionCompacted{SessionID: "ses_1"}, lathe.MessageUpdated{Message: messages[0]},
		lathe.MessageUpdated{Message: messages[2]}, lathe.MessageRemoved{SessionID: "ses_1", MessageID: "msg_1"},
		lathe.PartUpdated{Part: parts[0]}, lathe.PartDelta{PartID: "prt_1", Delta: "x"},
		lathe.PartRemoved{SessionID: "ses_1", MessageID: "msg_1", PartID: "prt_1"},
		lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Tool: &lathe.ToolRef{}}},
		lathe.PermissionReplied{SessionID: "ses_1", AskID: "per_1", Reply: lathe.Once},
		lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{{}, {Custom: true, Multiple: true}}}},
		lathe.QuestionReplied{SessionID: "ses_1", AskID: "que_1", Answers: [][]string{nil, {"a"}}},
		lathe.QuestionRejected{SessionID: "ses_1", AskID: "que_1"},
		lathe.TodoUpdated{SessionID: "ses_1", Todos: []lathe.Todo{{ID: "1"}}}, lathe.FileEdited{File: "f"},
		lathe.FileWatched{File: "f", Op: "add"}, lathe.CommandExecuted{Name: "init", SessionID: "ses_1", MessageID: "msg_1"},
		lathe.ProjectUpdated{Project: lathe.Project{ID: "p", VCS: "git"}},
		lathe.ProjectUpdated{Project: lathe.Project{ID: "p", Name: "n", Icon: lathe.Icon{Color: "blue"}, Start: "make", Sandboxes: []string{"/s"}}},
		lathe.WorktreeReady{Name: "calm-saw", Branch: "opencode/calm-saw"}, lathe.WorktreeFailed{Message: "m"}, lathe.InstanceDisposed{Directory: "/d"},
	}
}

func TestEvents(t *testing.T) {
	for _, ev := range events() {
		_, isDelta := ev.(lathe.PartDelta)
		if b, ok := EncodeEvent(ev); ok == isDelta {
			t.Errorf("%T: %v, %s", ev, ok, b)
		}
	}
	idle := EncodeEvents(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	var got []string
	for _, b := range idle {
		got = append(got, string(b))
	}
	want := []string{
		`{"type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"idle"}}}`,
		`{"type":"session.idle","properties":{"sessionID":"ses_1"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b, ok := EncodePartUpdated(lathe.Part{ID: "prt_1", Body: &lathe.Text{Text: "<ab"}}, "b")
	if want := `{"type":"message.part.updated","properties":{"part":{"id":"prt_1","sessionID":"","messageID":"","type":"text","text":"<ab"},"delta":"b"}}`; !ok || string(b) != want {
		t.Errorf("part with delta: %s", b)
	}
	b, err := EncodeGlobal("/d", []byte(`{"type":"x","properties":{}}`))
	if want := `{"directory":"/d","payload":{"type":"x","properties":{}}}`; err != nil || string(b) != want {
		t.Errorf("global: %s, %v", b, err)
	}
	if !json.Valid(EncodeConnected()) || !json.Valid(EncodeHeartbeat()) {
		t.Error("fixed events are not JSON")
	}
	bad := lathe.PartUpdated{Part: lathe.Part{Body: &lathe.ToolCall{State: &lathe.ToolDone{Metadata: map[string]any{"f": func() {}}}}}}
	if _, ok := EncodeEvent(bad); ok {
		t.Error("metadata without JSON was encoded")
	}
}

// Captured events of each kind that carries no larger object: rebuilt from what
// they say, they come out the same.
func TestCapturedEvents(t *testing.T) {
	for _, c := range captured(t).Event {
		ev := rebuild(t, c.Type, c.Properties)
		if ev == nil {
			continue
		}
		got, ok := EncodeEvent(ev)
		if !ok {
			t.Errorf("%s was not encoded", c.Type)
			continue
		}
		var out struct{ Properties json.RawMessage }
		if err := json.Unmarshal(got, &out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value(t, c.Properties), value(t, out.Properties)); diff != "" {
			t.Errorf("%s (-captured +ours):\n%s", c.Type, diff)
		}
	}
}

func rebuild(t *testing.T, kind string, props json.RawMessage) lathe.Event {
	var p struct {
		SessionID lathe.SessionID
		RequestID lathe.AskID
		ID        lathe.AskID
		MessageID lathe.MessageID
		PartID    lathe.PartID
		Reply     lathe.ReplyKind
		Answers   [][]string
		Diff      json.RawMessage
		Error     json.RawMessage
		Todos     json.RawMessage
		Status    struct {
			Type, Message string
			Attempt       int
			Next          int64
		}
		File, Event      string
		Name, Arguments  string
		Permission       string
		Patterns, Always []string
		Metadata         map[string]any
		Tool             *lathe.ToolRef
	}
	if err := json.Unmarshal(props, &p); err != nil {
		t.Logf("%s: %v", kind, err)
		return nil
	}
	must := func(err error) {
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	switch kind {
	case "session.status":
		st := map[string]lathe.Status{"idle": lathe.Idle{}, "busy": lathe.Busy{}, "retry": lathe.Retrying{
			Attempt: p.Status.Attempt, Message: p.Status.Message, Next: time.UnixMilli(p.Status.Next),
		}}[p.Status.Type]
		return lathe.SessionStatus{SessionID: p.SessionID, Status: st}
	case "session.error":
		f, err := DecodeFailure(p.Error)
		must(err)
		return lathe.SessionFailed{SessionID: p.SessionID, Failure: f}
	case "session.diff":
		d, err := DecodeDiffs(p.Diff)
		must(err)
		return lathe.SessionDiff{SessionID: p.SessionID, Diff: d}
	case "session.compacted":
		return lathe.SessionCompacted{SessionID: p.SessionID}
	case "message.removed":
		return lathe.MessageRemoved{SessionID: p.SessionID, MessageID: p.MessageID}
	case "message.part.removed":
		return lathe.PartRemoved{SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.PartID}
	case "permission.asked":
		return lathe.PermissionAsked{Ask: lathe.Ask{
			ID: p.ID, SessionID: p.SessionID, Permission: p.Permission, Patterns: p.Patterns, Always: p.Always,
			Metadata: p.Metadata, Tool: p.Tool,
		}}
	case "permission.replied":
		return lathe.PermissionReplied{SessionID: p.SessionID, AskID: p.RequestID, Reply: p.Reply}
	case "question.replied":
		return lathe.QuestionReplied{SessionID: p.SessionID, AskID: p.RequestID, Answers: p.Answers}
	case "question.rejected":
		return lathe.QuestionRejected{SessionID: p.SessionID, AskID: p.RequestID}
	case "todo.updated":
		todos, err := DecodeTodos(p.Todos)
		must(err)
		return lathe.TodoUpdated{SessionID: p.SessionID, Todos: todos}
	case "file.edited":
		return lathe.FileEdited{File: p.File}
	case "file.watcher.updated":
		return lathe.FileWatched{File: p.File, Op: p.Event}
	case "command.executed":
		return lathe.CommandExecuted{Name: p.Name, SessionID: p.SessionID, Arguments: p.Arguments, MessageID: p.MessageID}
	}
	return nil
}

func TestInput(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, `{"a":1}`: `{"a":1}`, `null`: `{"raw":"null"}`, `[1]`: `{"raw":"[1]"}`, `{"a":`: `{"raw":"{\"a\":"}`,
	} {
		if got := string(input(json.RawMessage(in))); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := `{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","state":` + strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat(`}`, 301)
	for _, in := range []string{
		``, `null`, `[]`, `{}`, `{"type":"text"}`, deep,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"hologram"}`,
		`{"id":"../x","sessionID":"ses_1","messageID":"msg_1","type":"text","text":""}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":1}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","time":{"start":1e300}}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"file","mime":"a/b"}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool"}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","state":{"status":"melted"}}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"step-finish","cost":1e300}`,
	} {
		if p, err := DecodePart([]byte(in)); err == nil {
			t.Errorf("%.100s was read as %+v", in, p)
		}
	}
	for _, in := range []string{`{}`, `{"role":"user","id":"x"}`, `{"role":"user","id":"msg_1","sessionID":"s"}`, `{"role":"system"}`} {
		if _, err := DecodeInfo([]byte(in)); err == nil {
			t.Errorf("%s was read as a message", in)
		}
	}
	if r, err := DecodeReply([]byte(`{"response":"always"}`)); err != nil || r.Kind != lathe.Always {
		t.Errorf("old reply: %+v, %v", r, err)
	}
	for _, in := range []string{`{}`, `{"reply":"maybe"}`, `1`} {
		if _, err := DecodeReply([]byte(in)); err == nil {
			t.Errorf("%s was read as a reply", in)
		}
	}
}

// Generators of what the wire can say.

func when(t *rapid.T) time.Time { return number(rapid.Int64Range(0, 4e12).Draw(t, "ms")).time() }

func spanOf(t *rapid.T) lathe.Span { return lathe.Span{Start: when(t), End: when(t)} }

func text(t *rapid.T) string { return rapid.String().Draw(t, "text") }

func inputOf(t *rapid.T) json.RawMessage {
	return rapid.SampledFrom([]json.RawMessage{
		json.RawMessage(`{}`), json.RawMessage(`{"b":1.50,"a":["<&>",null,{"deep":[]}]}`),
	}).Draw(t, "input")
}

func metadataOf(t *rapid.T) map[string]any {
	if rapid.Bool().Draw(t, "no metadata") {
		return nil
	}
	return map[string]any{"output": text(t), "n": 1.5, "list": []any{true, nil}}
}

func fileOf(t *rapid.T) lathe.File {
	f := lathe.File{MIME: "text/plain", Filename: text(t), URL: "data:," + text(t)}
	span := lathe.SourceText{Value: text(t), Start: 1, End: 7}
	switch rapid.IntRange(0, 3).Draw(t, "source") {
	case 1:
		f.Source = &lathe.FileSource{Kind: "file", Path: text(t), Text: span}
	case 2:
		f.Source = &lathe.FileSource{
			Kind: "symbol", Path: "/a", Text: span, Name: text(t), SymbolKind: rapid.IntRange(0, 26).Draw(t, "kind"),
			Range: json.RawMessage(`{"start":{"line":1,"character":0},"end":{"line":1,"character":4}}`),
		}
	case 3:
		f.Source = &lathe.FileSource{Kind: "resource", Client: text(t), URI: text(t), Text: span}
	}
	return f
}

func failureOf(t *rapid.T) lathe.Failure {
	msg := text(t)
	return []lathe.Failure{
		nil, &lathe.AuthFailure{Provider: text(t), Message: msg},
		&lathe.APIFailure{Message: msg, Status: 429, Retryable: rapid.Bool().Draw(t, "retry"), Headers: map[string]string{"a": msg}, Body: msg, Metadata: map[string]string{"url": "x"}},
		&lathe.APIFailure{Message: msg}, &lathe.AbortedFailure{Message: msg}, &lathe.OverflowFailure{Message: msg, Body: "b"},
		&lathe.OutputLengthFailure{}, &lathe.FilterFailure{Message: msg}, &lathe.StructuredFailure{Message: msg, Retries: 2},
		&lathe.UnknownFailure{Message: msg},
	}[rapid.IntRange(0, 9).Draw(t, "failure")]
}

func stateOf(t *rapid.T) lathe.ToolState {
	switch rapid.IntRange(0, 3).Draw(t, "state") {
	case 0:
		return &lathe.ToolPending{Raw: text(t)}
	case 1:
		return &lathe.ToolRunning{Input: inputOf(t), Title: text(t), Metadata: metadataOf(t), Start: when(t)}
	case 2:
		st := &lathe.ToolDone{
			Input: inputOf(t), Output: text(t), Title: text(t), Metadata: metadataOf(t), Time: spanOf(t), Compacted: when(t),
		}
		for range rapid.IntRange(0, 2).Draw(t, "attachments") {
			st.Attachments = append(st.Attachments, fileOf(t))
		}
		return st
	}
	return &lathe.ToolFailed{
		Input: inputOf(t), Error: text(t), Metadata: metadataOf(t), Time: spanOf(t),
		Interrupted: rapid.Bool().Draw(t, "interrupted"),
	}
}

func money(t *rapid.T) lathe.Money { return lathe.Money(rapid.Int64Range(0, 2e15).Draw(t, "cost")) }

func tokensOf(t *rapid.T) lathe.Tokens {
	n := rapid.Int64Range(0, 1<<50)
	return lathe.Tokens{
		Input: n.Draw(t, "in"), Output: n.Draw(t, "out"), Reasoning: n.Draw(t, "thought"),
		CacheRead: n.Draw(t, "read"), CacheWrite: n.Draw(t, "write"),
	}
}

func bodies(t *rapid.T) []lathe.PartBody {
	meta := lathe.Meta{"openai": json.RawMessage(`{"itemId":"x"}`)}
	file := fileOf(t)
	return []lathe.PartBody{
		&lathe.Text{Text: text(t), Synthetic: true, Ignored: rapid.Bool().Draw(t, "ignored"), Time: spanOf(t), Meta: meta},
		&lathe.Text{Text: text(t)},
		&lathe.Reasoning{Text: text(t), Time: spanOf(t), Meta: meta},
		&file,
		&lathe.ToolCall{CallID: text(t), Tool: text(t), State: stateOf(t), Meta: meta},
		&lathe.StepStart{Snapshot: text(t)},
		&lathe.StepFinish{Reason: lathe.FinishStop, Snapshot: text(t), Cost: money(t), Tokens: tokensOf(t)},
		&lathe.SnapshotMark{Snapshot: text(t)},
		&lathe.Patch{Hash: text(t), Files: []string{"/a", text(t)}},
		&lathe.AgentMention{Name: text(t), Source: &lathe.SourceText{Value: text(t), End: 5}},
		&lathe.AgentMention{Name: text(t)},
		&lathe.Retry{Attempt: 2, Error: &lathe.APIFailure{Message: text(t), Retryable: true}, Created: when(t)},
		&lathe.CompactionMark{Auto: rapid.Bool().Draw(t, "auto"), Overflow: true, TailStart: "msg_1"},
		&lathe.Subtask{Prompt: text(t), Description: text(t), Agent: "a", Model: lathe.ModelRef{Provider: "p", Model: text(t)}, Command: text(t)},
	}
}

func TestRoundTrip(t *testing.T) {
	same := cmpopts.EquateEmpty()
	rapid.Check(t, func(t *rapid.T) {
		diffs := []lathe.FileDiff{{File: text(t), Before: text(t), After: text(t), Patch: text(t), Additions: 1, Deletions: 2, Status: "added"}}
		messages := []lathe.Message{
			{ID: "msg_1", SessionID: "ses_1", Created: when(t), Info: &lathe.User{
				Agent: text(t), Model: lathe.ModelRef{Provider: text(t), Model: text(t), Variant: text(t)}, System: text(t),
				Tools: map[string]bool{"bash": false}, Summary: &lathe.UserSummary{Title: text(t), Body: text(t), Diffs: diffs},
			}},
			{ID: "msg_2", SessionID: "ses_1", Created: when(t), Info: &lathe.Assistant{
				ParentID: "msg_1", Agent: "a" + text(t), Model: lathe.ModelRef{Provider: text(t), Model: text(t), Variant: text(t)},
				Cwd: text(t), Root: text(t), Completed: when(t), Finish: lathe.FinishLength,
				Summary: rapid.Bool().Draw(t, "summary"), Cost: money(t), Tokens: tokensOf(t), Error: failureOf(t),
			}},
		}
		for i, b := range bodies(t) {
			m := &messages[i%2]
			m.Parts = append(m.Parts, lathe.Part{ID: "prt_1", SessionID: "ses_1", MessageID: m.ID, Body: b})
		}
		for _, m := range messages {
			data, err := Marshal(EncodeMessage(m))
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeMessage(data)
			if err != nil {
				t.Fatalf("%v in %s", err, data)
			}
			if diff := cmp.Diff(m, got, same); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
		ses := lathe.Session{
			ID: "ses_1", Slug: text(t), ProjectID: text(t), Directory: text(t), ParentID: "ses_2", Title: text(t),
			Version: text(t), Created: when(t), Updated: when(t), Compacting: when(t), Archived: when(t),
			Rules:   []lathe.Rule{{Permission: text(t), Pattern: text(t), Action: lathe.Deny}},
			Summary: &lathe.SessionSummary{Additions: 1, Deletions: 2, Files: 3}, Share: &lathe.Share{URL: text(t)},
			Revert: &lathe.Revert{MessageID: "msg_1", PartID: "prt_1", Snapshot: text(t), Diff: text(t)},
			Agent:  text(t), Model: lathe.ModelRef{Provider: "p", Model: text(t), Variant: text(t)}, Cost: money(t), Tokens: tokensOf(t),
		}
		data, err := Marshal(EncodeSession(ses))
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSession(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ses, got, same); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzDecodePart(f *testing.F) {
	for _, raw := range captured(f).Part {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodePart(data)
		if err != nil {
			return
		}
		again, err := Marshal(EncodePart(p))
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		q, err := DecodePart(again)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v in %s", err, again)
		}
		third, err := Marshal(EncodePart(q))
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(third) {
			t.Fatalf("not stable:\n%s\n%s", again, third)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	for _, raw := range captured(f).Message {
		f.Add([]byte(`{"info":` + string(raw) + `,"parts":[]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeMessage(data)
		if err != nil {
			return
		}
		again, err := Marshal(EncodeMessage(m))
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := DecodeMessage(again); err != nil {
			t.Fatalf("what was written cannot be read: %v in %s", err, again)
		}
	})
}

func BenchmarkEncodeDelta(b *testing.B) {
	p := lathe.Part{ID: "prt_1", SessionID: "ses_1", MessageID: "msg_1", Body: &lathe.Text{
		Text: strings.Repeat("word ", 2000), Time: lathe.Span{Start: time.UnixMilli(1)},
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := EncodePartUpdated(p, "word "); !ok {
			b.Fatal("not encoded")
		}
	}
}
