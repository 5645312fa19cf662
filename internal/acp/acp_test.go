package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

const bare = `{}`

func TestPrompt(t *testing.T) {
	r := newRig(t, bare)
	r.script("reasoning I think.\ntext I look.\ntool read {\"filePath\":\"a.txt\"}\n---\ntext It says hello.\nusage in=120 out=8\n")
	id := r.open()
	if got := r.prompt(id, "what does it say?"); got != stopEndTurn {
		t.Errorf("the turn ended with %q", got)
	}
	if got := r.said("agent_message_chunk"); got != "I look.It says hello." {
		t.Errorf("it said %q", got)
	}
	if got := r.said("agent_thought_chunk"); got != "I think." {
		t.Errorf("it thought %q", got)
	}
	if got := r.said("user_message_chunk"); got != "" {
		t.Errorf("the editor is told its own prompt: %q", got)
	}
	var last map[string]any
	for _, u := range r.seen() {
		if u["toolCallId"] != nil {
			last = u
		}
	}
	delete(last, "toolCallId")
	want := map[string]any{
		"sessionUpdate": "tool_call_update", "title": "read a.txt", "kind": "read", "status": "completed", "rawInput": map[string]any{"filePath": "a.txt"},
		"locations": []any{map[string]any{"path": filepath.Join(r.dir, "a.txt")}},
		"content":   []any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": "```\n1: hello\n2: world\n\n(End of file - total 2 lines)\n```"}}},
	}
	if d := cmp.Diff(want, last); d != "" {
		t.Errorf("the call (-want +got):\n%s", d)
	}
}

// What was said is told again in its order when a session is loaded, without what was
// taken back, and nothing is told when it is resumed.
func TestLoad(t *testing.T) {
	r := newRig(t, bare)
	r.script("tool edit {\"filePath\":\"a.txt\",\"oldString\":\"world\",\"newString\":\"earth\"}\n---\ntext First.\n---\ntext Second.\n")
	id := r.open()
	r.prompt(id, "one")
	r.prompt(id, "two")
	r.call("session/close", `{"sessionId":"`+id+`"}`, nil)
	open := `{"sessionId":"` + id + `","cwd":` + quote(r.dir) + `,"mcpServers":[]}`

	r.forget()
	r.call("session/load", open, nil)
	if got := r.said("user_message_chunk") + "|" + r.said("agent_message_chunk"); got != "onetwo|First.Second." {
		t.Errorf("told was %q", got)
	}
	for _, u := range r.seen() {
		if u["kind"] != "edit" {
			continue
		}
		want := []any{map[string]any{"type": "diff", "path": filepath.Join(r.dir, "a.txt"), "oldText": "hello\nworld\n", "newText": "hello\nearth\n"}}
		if d := cmp.Diff(want, u["content"]); d != "" {
			t.Errorf("the edit (-want +got):\n%s", d)
		}
	}
	r.call("session/close", `{"sessionId":"`+id+`"}`, nil)

	if _, err := r.client.Revert(t.Context(), lathe.SessionID(id), api.Revert{Last: true}); err != nil {
		t.Fatal(err)
	}
	r.forget()
	r.call("session/load", open, nil)
	if got := r.said("user_message_chunk") + "|" + r.said("agent_message_chunk"); got != "one|First." {
		t.Errorf("after a revert, told was %q", got)
	}
	r.call("session/close", `{"sessionId":"`+id+`"}`, nil)

	r.forget()
	r.call("session/resume", open, nil)
	r.until(func(u, _ []map[string]any) bool { return len(u) > 0 })
	if d := cmp.Diff([]string{"available_commands_update"}, r.kinds()); d != "" {
		t.Errorf("after a resume (-want +got):\n%s", d)
	}
}

// A permission ask names the command and what would be allowed from then on; each
// answer does what it says.
func TestPermission(t *testing.T) {
	const command = "tool bash {\"command\":\"touch ../outside.txt\",\"description\":\"make a file\"}\n---\ntext Done.\n"
	for _, tt := range []struct {
		option string
		made   bool
	}{{"once", true}, {"session:0", true}, {"reject", false}, {"nonsense", false}, {"session:99", false}} {
		t.Run(tt.option, func(t *testing.T) {
			r := newRig(t, bare)
			r.script(command)
			r.answers(func(context.Context, string, map[string]any) (any, bool) {
				return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": tt.option}}, true
			})
			r.prompt(r.open(), "go")
			_, err := os.Stat(filepath.Join(r.dir, "../outside.txt"))
			if made := err == nil; made != tt.made {
				t.Errorf("the file was made: %v", made)
			}
			ask := r.requests()[0]
			raw, _ := json.Marshal(ask)
			for _, word := range []string{"touch ../outside.txt", "make a file", `"kind":"allow_once"`, `"kind":"allow_always"`, `"kind":"reject_once"`} {
				if !strings.Contains(string(raw), word) {
					t.Errorf("the ask does not have %q: %s", word, raw)
				}
			}
		})
	}
}

// Somebody else may answer first; then the editor need not.
func TestPermissionAnsweredElsewhere(t *testing.T) {
	r := newRig(t, bare)
	r.script("tool bash {\"command\":\"touch ../outside.txt\"}\n---\ntext Done.\n")
	id := r.open()
	done := make(chan string)
	go func() { done <- r.prompt(id, "go") }()
	r.until(func(_, asked []map[string]any) bool { return len(asked) == 1 })
	asks, err := r.client.Asks(t.Context())
	if err != nil || len(asks) != 1 {
		t.Fatalf("%d asks, %v", len(asks), err)
	}
	if err := r.client.Reply(t.Context(), asks[0].ID, lathe.Reply{Kind: lathe.Once}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != stopEndTurn {
		t.Errorf("the turn ended with %q", got)
	}
	r.until(func(_, asked []map[string]any) bool { return asked[len(asked)-1]["method"] == "$/cancel_request" })
}

func TestCancel(t *testing.T) {
	r := newRig(t, bare)
	r.script("tool bash {\"command\":\"echo begun; sleep 60\"}\n")
	id := r.open()
	done := make(chan string)
	go func() { done <- r.prompt(id, "go") }()
	r.until(func(u, _ []map[string]any) bool {
		raw, _ := json.Marshal(u)
		return strings.Contains(string(raw), "begun\\n```")
	})
	if err := r.editor.Notify(t.Context(), "session/cancel", map[string]string{"sessionId": id}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != stopCancelled {
		t.Errorf("the turn ended with %q", got)
	}
}

// An editor that goes away stops its turns, unless a server runs them.
func TestEditorGone(t *testing.T) {
	for _, leave := range []bool{false, true} {
		r := newRig(t, bare, func(o *Options) { o.Leave = leave })
		r.script("tool bash {\"command\":\"echo begun; sleep 60\"}\n---\ntext Done.\n")
		id := lathe.SessionID(r.open())
		go func() {
			_ = r.try("session/prompt", `{"sessionId":"`+string(id)+`","prompt":[{"type":"text","text":"go"}]}`, nil)
		}()
		r.until(func(u, _ []map[string]any) bool {
			raw, _ := json.Marshal(u)
			return strings.Contains(string(raw), "begun\\n```")
		})
		r.close()
		status, err := r.client.Status(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, busy := status.(lathe.Busy); busy != leave {
			t.Errorf("leave %v: the session is %T", leave, status)
		}
	}
}

const questions = `tool question {"questions":[{"question":"Which?","header":"Which","options":[{"label":"one","description":"the first"},{"label":"two","description":"the second"}]}]}
---
text Thanks.
`

func TestQuestionAsForm(t *testing.T) {
	r := newRig(t, `{"elicitation":{"form":{}}}`)
	r.script(questions)
	r.answers(func(_ context.Context, method string, _ map[string]any) (any, bool) {
		return map[string]any{"action": "accept", "content": map[string]any{"q1": "two"}}, method == "elicitation/create"
	})
	id := r.open()
	r.prompt(id, "go")
	raw, _ := json.Marshal(r.seen())
	if !strings.Contains(string(raw), "two") || !strings.Contains(string(raw), "Thanks.") {
		t.Errorf("the answer did not reach the model: %s", raw)
	}
	field := r.requests()[0]["requestedSchema"].(map[string]any)["properties"].(map[string]any)["q1"]
	want := map[string]any{"type": "string", "title": "Which", "description": "Which?", "oneOf": []any{
		map[string]any{"const": "one", "title": "one: the first"}, map[string]any{"const": "two", "title": "two: the second"},
	}}
	if d := cmp.Diff(want, field); d != "" {
		t.Errorf("the field (-want +got):\n%s", d)
	}
}

func TestQuestionAsChoice(t *testing.T) {
	r := newRig(t, bare)
	r.script(questions)
	r.answers(func(context.Context, string, map[string]any) (any, bool) {
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "1"}}, true
	})
	r.prompt(r.open(), "go")
	raw, _ := json.Marshal(r.seen())
	if !strings.Contains(string(raw), "two") || !strings.Contains(string(raw), "Thanks.") {
		t.Errorf("the answer did not reach the model: %s", raw)
	}
}

func TestChoices(t *testing.T) {
	r := newRig(t, bare)
	id := r.open()
	var out configResponse
	r.call("session/set_config_option", `{"sessionId":"`+id+`","configId":"mode","value":"plan"}`, &out)
	if out.Options[0].Current != "plan" {
		t.Errorf("the agent is %q", out.Options[0].Current)
	}
	r.prompt(id, "hello")
	messages, err := r.client.Messages(t.Context(), lathe.SessionID(id), 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := messages[0].Info.(*lathe.User).Agent; got != "plan" {
		t.Errorf("the prompt went to %q", got)
	}
	for _, params := range []string{
		`{"sessionId":"` + id + `","configId":"mode","value":"nobody"}`, `{"sessionId":"` + id + `","configId":"model","value":"x/y"}`,
		`{"sessionId":"` + id + `","configId":"effort","value":"huge"}`, `{"sessionId":"` + id + `","configId":"colour","value":"red"}`,
		`{"sessionId":"` + id + `","configId":"mode","value":true}`, `{"sessionId":"ses_none","configId":"mode","value":"plan"}`,
	} {
		r.refused("session/set_config_option", params)
	}
}

// refused makes a request that cannot be meant so.
func (r *rig) refused(method, params string) {
	r.t.Helper()
	err := r.try(method, params, nil)
	if e, ok := errors.AsType[*jsonrpc2.Error](err); !ok || e.Code != jsonrpc2.CodeInvalidParams {
		r.t.Errorf("%s %s: %v", method, params, err)
	}
}

func TestRefusedRequests(t *testing.T) {
	r := newRig(t, bare)
	id := r.open()
	for _, c := range [][2]string{
		{"session/new", `{"cwd":"relative","mcpServers":[]}`}, {"session/new", `{"cwd":7}`},
		{"session/load", `{"sessionId":"ses_none","cwd":` + quote(r.dir) + `}`},
		{"session/prompt", `{"sessionId":"ses_none","prompt":[]}`}, {"session/prompt", `{"sessionId":"` + id + `","prompt":[]}`},
		{"session/prompt", `{"sessionId":"` + id + `","prompt":[{"type":"audio","data":"","mimeType":"audio/wav"}]}`},
		{"session/prompt", `{"sessionId":"` + id + `","prompt":[{"type":"image","data":"%%%","mimeType":"image/png"}]}`},
		{"session/prompt", `{"sessionId":"` + id + `","prompt":[{"type":"resource"}]}`},
		{"session/list", `{"cursor":"-1"}`}, {"session/list", `{"cwd":"."}`}, {"session/set_mode", `{"sessionId":"` + id + `","modeId":"x"}`},
	} {
		r.refused(c[0], c[1])
	}
	err := r.try("session/unheard_of", `{}`, nil)
	if e, ok := errors.AsType[*jsonrpc2.Error](err); !ok || e.Code != jsonrpc2.CodeMethodNotFound {
		t.Errorf("an unknown method: %v", err)
	}
}

func TestCommands(t *testing.T) {
	r := newRig(t, bare)
	r.script("tool write {\"filePath\":\"new.txt\",\"content\":\"x\"}\n---\ntext Made.\n")
	id := r.open()
	r.prompt(id, "make it")
	r.prompt(id, "/undo")
	if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err == nil {
		t.Error("the file is still there after /undo")
	}
	r.prompt(id, "/redo")
	if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err != nil {
		t.Error("the file is not back after /redo")
	}
	if got := r.said("agent_message_chunk"); got != "Made.Taken back: 1 file changed.Brought back: 1 file changed." {
		t.Errorf("it said %q", got)
	}
}

func TestListForkDelete(t *testing.T) {
	r := newRig(t, bare)
	id := r.open()
	r.prompt(id, "hello")
	var fork sessionResponse
	r.call("session/fork", `{"sessionId":"`+id+`","cwd":`+quote(r.dir)+`}`, &fork)
	list := func() []string {
		var out listResponse
		r.call("session/list", `{"cwd":`+quote(r.dir)+`}`, &out)
		var ids []string
		for _, s := range out.Sessions {
			ids = append(ids, s.SessionID)
		}
		return ids
	}
	if d := cmp.Diff([]string{fork.SessionID, id}, list()); d != "" {
		t.Errorf("the sessions (-want +got):\n%s", d)
	}
	r.call("session/delete", `{"sessionId":"`+fork.SessionID+`"}`, nil)
	if d := cmp.Diff([]string{id}, list()); d != "" {
		t.Errorf("the sessions after one was deleted (-want +got):\n%s", d)
	}
}

// Tool servers that the editor passes are offered to the model; one that does not work is
// told of.
func TestToolServers(t *testing.T) {
	r := newRig(t, `{"session":{"notices":{}}}`)
	var s sessionResponse
	r.call("session/new", `{"cwd":`+quote(r.dir)+`,"mcpServers":[{"name":"gone","command":"/no/such/program","args":["x"],"env":[{"name":"A","value":"1"}]}]}`, &s)
	r.prompt(s.SessionID, "hello")
	list, err := r.client.Servers(t.Context(), false)
	if err != nil || len(list) != 1 || list[0].Name != "gone" {
		t.Errorf("the servers are %+v, %v", list, err)
	}
	want := map[string]any{"type": "remote", "url": "http://h", "headers": map[string]string{"K": "v"}}
	got := mcpServer{Type: "http", Name: "n", URL: "http://h", Headers: []nameValue{{"K", "v"}}}.settings()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a remote server (-want +got):\n%s", d)
	}
}

// What is not saved in the editor is what tools read and change, subagents' too.
func TestUnsavedText(t *testing.T) {
	for _, who := range []string{"agent", "subagent"} {
		t.Run(who, func(t *testing.T) {
			r := newRig(t, `{"fs":{"readTextFile":true,"writeTextFile":true}}`)
			work := "tool read {\"filePath\":\"a.txt\"}\n---\ntool edit {\"filePath\":\"a.txt\",\"oldString\":\"unsaved\",\"newString\":\"edited\"}\n---\ntext Done.\n"
			if who == "subagent" {
				work = "tool task {\"description\":\"edit\",\"prompt\":\"edit it\",\"subagent_type\":\"general\"}\n---\n" + work + "---\ntext All done.\n"
			}
			r.script(work)
			path := filepath.Join(r.dir, "a.txt")
			var mu sync.Mutex
			shown := "hello\nunsaved world\n"
			r.answers(func(_ context.Context, method string, p map[string]any) (any, bool) {
				mu.Lock()
				defer mu.Unlock()
				if p["path"] != path {
					t.Errorf("%s of %v", method, p["path"])
				}
				if method == "fs/write_text_file" {
					shown = p["content"].(string)
					return map[string]any{}, true
				}
				return map[string]any{"content": shown}, method == "fs/read_text_file"
			})
			r.prompt(r.open(), "go")
			want := "hello\nedited world\n"
			if shown != want {
				t.Errorf("the editor shows %q", shown)
			}
			if disk, err := os.ReadFile(path); string(disk) != want || err != nil {
				t.Errorf("the disk has %q, %v", disk, err)
			}
		})
	}
}

// What is no message is left out, and a message that is too long ends the connection.
func TestStream(t *testing.T) {
	var log bytes.Buffer
	s := newStream(strings.NewReader("\nnot json\n{\"a\":1}\r\n{\"a\":2}"), io.Discard, slog.New(slog.NewTextHandler(&log, nil)))
	for want := 1; want <= 2; want++ {
		var v struct{ A int }
		if err := s.ReadObject(&v); err != nil || v.A != want {
			t.Errorf("%d, %v", v.A, err)
		}
	}
	if err := s.ReadObject(&struct{}{}); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if strings.Contains(log.String(), "not json") {
		t.Errorf("the log has what was sent: %s", &log)
	}
	s = newStream(io.MultiReader(strings.NewReader(`{"a":"`), endless{}), io.Discard, slog.New(slog.DiscardHandler))
	if err := s.ReadObject(&struct{}{}); !errors.Is(err, errLongLine) {
		t.Errorf("a line without end: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Whatever an editor sends, the agent answers or goes on.
func FuzzMessages(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":null}}`,
		`{"jsonrpc":"2.0","id":null,"method":"session/list"}`, `{"jsonrpc":"2.0","method":"session/cancel","params":[]}`,
		`{"jsonrpc":"2.0","id":"x","result":{}}`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a","prompt":[{"type":"text"}]}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		in, out := io.Pipe()
		done := make(chan error)
		go func() {
			done <- Serve(t.Context(), Options{In: in, Out: io.Discard, Open: func() (*client.Client, error) { return nil, errors.New("no engine") }})
		}()
		_, _ = io.WriteString(out, line+"\n")
		out.Close()
		<-done
	})
}
