package llmtest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	. "lathe/internal/llm/llmtest"
)

// post sends a body and returns status and answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	client := adapter.NewClient()
	defer client.CloseIdleConnections()
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

// What a real provider refuses, the server refuses.
func TestRefusals(t *testing.T) {
	const user = `{"role":"user","content":"hi"}`
	anthropic := func(rest string) string { return `{"model":"m","stream":true,"max_tokens":9000,` + rest + `}` }
	chat := func(messages string) string { return `{"model":"m","stream":true,"messages":[` + messages + `]}` }
	tests := []struct{ name, path, body, want string }{
		{"no limit", "/v1/messages", `{"model":"m","messages":[` + user + `]}`, "max_tokens"},
		{"no messages", "/messages", anthropic(`"messages":[]`), "at least one"},
		{"not JSON", "/messages", `{`, "not a request"},
		{"assistant first", "/messages", anthropic(`"messages":[{"role":"assistant","content":"x"}]`), "first message"},
		{"two answers", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":"x"},{"role":"assistant","content":"y"}]`), "in a row"},
		{"blank text", "/messages", anthropic(`"messages":[{"role":"user","content":" "}]`), "non-whitespace"},
		{"empty content", "/messages", anthropic(`"messages":[{"role":"user","content":[]}]`), "empty"},
		{"unknown role", "/messages", anthropic(`"messages":[{"role":"system","content":"x"}]`), "unknown role"},
		{"trailing space", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":"x "}]`), "whitespace"},
		{"call without result", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]},` + user + `]`), "no result"},
		{"call at the end", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]}]`), "no result"},
		{"result without call", "/messages", anthropic(`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]`), "unexpected tool result"},
		{"bad id", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a.b","content":"x"}]}]`), "does not match"},
		{"unsigned thinking", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"y"}]}]`), "signature"},
		{"foreign thinking", "/messages", anthropic(`"messages":[` + user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"zz"},{"type":"text","text":"y"}]}]`), "Invalid `signature`"},
		{"budget", "/messages", anthropic(`"thinking":{"type":"enabled","budget_tokens":9000},"messages":[` + user + `]`), "greater than"},
		{"schema", "/messages", anthropic(`"tools":[{"name":"n","input_schema":{"type":"string"}}],"messages":[` + user + `]`), "type object"},
		{"tool name", "/chat/completions", `{"model":"m","tools":[{"type":"function","function":{"name":"a b","parameters":{"type":"object"}}}],"messages":[` + user + `]}`, "does not match"},
		{"two tools of a name", "/chat/completions", `{"model":"m","tools":[{"function":{"name":"a","parameters":{"type":"object"}}},{"function":{"name":"a","parameters":{"type":"object"}}}],"messages":[` + user + `]}`, "unique"},
		{"same ids", "/v1/chat/completions", chat(user + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`), "unique"},
		{"arguments", "/v1/chat/completions", chat(user + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`), "not an object"},
		{"item id", "/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"},{"id":"rs_1","type":"reasoning","summary":[]}]}`, "not persisted"},
		{"output without call", "/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, "unexpected tool result"},
		{"signature", "/v1beta/models/gemini-3:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"n","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"n","response":{"output":"x"}}}]}]}`, "thought_signature"},
		{"model first", "/models/m:streamGenerateContent", `{"contents":[{"role":"model","parts":[{"text":"x"}]}]}`, "first message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := New(t, Script{{Blocks: []Block{Text("never")}}}, Scripted())
			status, body := post(t, srv.URL+tt.path, tt.body)
			var e struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(body), &e); status != 400 || err != nil || !strings.Contains(e.Error.Message, tt.want) {
				t.Errorf("status %d, body %s; want 400 and %q", status, body, tt.want)
			}
			if r := srv.Requests(); len(r) != 1 || r[0].Rejected == "" || srv.Left() != 1 {
				t.Errorf("recorded %+v, %d steps left", r, srv.Left())
			}
		})
	}
}

const chatBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi there"}]}`

func TestSideRequests(t *testing.T) {
	withTools := `{"model":"m","stream":true,"tools":[{"function":{"name":"a","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"hi there"}]}`
	srv := New(t, Script{{Blocks: []Block{Text("main")}, Times: 2}, {Blocks: []Block{Text("title")}, Side: true}, {Blocks: []Block{Text("other")}, When: "other"}})
	for i, tt := range []struct{ body, want string }{
		{chatBody, "title"}, {chatBody, "short"}, {withTools, "main"}, {strings.Replace(withTools, "hi there", "other", 1), "main"},
		{strings.Replace(withTools, "hi there", "other", 1), "other"}, {withTools, "no step left"},
	} {
		if _, got := post(t, srv.URL+"/v1/chat/completions", tt.body); !strings.Contains(got, tt.want) {
			t.Errorf("request %d: %s, want %q", i, got, tt.want)
		}
	}
}

func TestDropStallGate(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	gate := make(chan struct{})
	srv := New(t, Script{{Blocks: []Block{Text("a b")}, Drop: true, DropAt: 37}, {Drop: true}, {Raw: "raw", Header: map[string]string{"X-A": "b"}}, {Gate: gate}, {Stall: true}}, Scripted())
	client := adapter.NewClient()
	defer client.CloseIdleConnections()
	ask := func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/chat/completions", strings.NewReader(chatBody))
		if err != nil {
			t.Fatal(err)
		}
		return client.Do(r)
	}
	for _, want := range []int{37, 0} {
		resp, err := ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if len(got) != want || err == nil {
			t.Errorf("%d bytes and error %v, want %d and an error", len(got), err, want)
		}
	}
	if resp, err := ask(ctx); err != nil || resp.Header.Get("X-A") != "b" {
		t.Errorf("raw answer: %v, %v", resp, err)
	} else if got, _ := io.ReadAll(resp.Body); string(got) != "raw" {
		t.Errorf("raw answer %q", got)
	}
	for range 2 { // both hold until the client leaves
		ctx, leave := context.WithCancel(ctx)
		resp, err := ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		_, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err := srv.Wait(ctx, 5); err != nil || srv.Left() != 0 {
		t.Errorf("wait: %v, %d steps left", err, srv.Left())
	}
}

func TestParse(t *testing.T) {
	got, err := Parse([]byte("# comment\nreasoning hm\nreasoning ok\ntext it says\ntext hello\ntool read {\"path\": \"a b\"}\ntool list\nusage in=1 out=2 cached=3 written=4 reasoning=5\nfinish length\r\n---\nstatus 429 retry-after=0 x-a=b slow down\ncode limit\n---\nwhen go\nside\ntimes 3\nwhole\ntext \nerror broken now\n---\nraw a\nraw b\ndrop 37\nstall\nusage none\n"))
	want := Script{
		{Blocks: []Block{Reasoning{Text: "hm\nok"}, Text("it says\nhello"), Call{Name: "read", Args: `{"path": "a b"}`}, Call{Name: "list"}}, Usage: &llm.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Reported: true}, Finish: llm.FinishLength},
		{Status: 429, Header: map[string]string{"retry-after": "0", "x-a": "b"}, Message: "slow down", Code: "limit"},
		{When: "go", Side: true, Times: 3, Whole: true, Blocks: []Block{Text("")}, Broken: "broken now"},
		{Raw: "a\nb\n", Drop: true, DropAt: 37, Stall: true, Usage: &llm.Usage{}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, script (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"say x", "tool", "usage in=x", "usage foo=1", "status", "status 1000", "drop x", "drop -1", "times"} {
		if _, err := Parse([]byte(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("text a\ntext b\n---\ntool x {}\nraw\nreasoning\nreasoning"))
	f.Fuzz(func(t *testing.T, in []byte) { _, _ = Parse(in) })
}
