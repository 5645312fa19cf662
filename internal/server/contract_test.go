package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemas checks answers against what OpenCode 1.1.34 promises.
type schemas struct {
	base Contract
	raw  map[string]json.RawMessage

	mu   sync.Mutex
	done map[string]*jsonschema.Resolved
}

var readSchemas = sync.OnceValues(func() (*schemas, error) {
	s := newSchemas(nil)
	raw := bytes.ReplaceAll(contract, []byte("#/components/schemas/"), []byte("#/$defs/"))
	if err := json.Unmarshal(raw, &s.base); err != nil {
		return nil, err
	}
	return s, json.Unmarshal(s.base.Schemas, &s.raw)
})

func newSchemas(raw map[string]json.RawMessage) *schemas {
	return &schemas{raw: raw, done: map[string]*jsonschema.Resolved{}}
}

func contractSchemas(t testing.TB) *schemas {
	t.Helper()
	s, err := readSchemas()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// resolve returns a schema with the component schemas around it.
func (s *schemas) resolve(t testing.TB, key string, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.done[key]; r != nil {
		return r
	}
	var root jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"$defs":`+string(s.needed(t, raw))+`,"allOf":[`+string(raw)+`]}`), &root); err != nil {
		t.Fatal(err)
	}
	r, err := root.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.done[key] = r
	return r
}

var refs = regexp.MustCompile(`#/\$defs/([^"]+)`)

// needed returns the component schemas that one refers to. All of them take long
// to resolve.
func (s *schemas) needed(t testing.TB, raw json.RawMessage) []byte {
	out := map[string]json.RawMessage{}
	for todo := []json.RawMessage{raw}; len(todo) > 0; todo = todo[1:] {
		for _, m := range refs.FindAllSubmatch(todo[0], -1) {
			if name := string(m[1]); out[name] == nil {
				out[name] = s.raw[name]
				todo = append(todo, out[name])
			}
		}
	}
	defs, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return defs
}

// answer checks an answer to an operation ("GET /path/{id}").
func (s *schemas) answer(t testing.TB, op string, status string, body []byte) {
	t.Helper()
	if strings.HasSuffix(op, "/shell") && status == "200" { // likewise: it answers as a prompt does
		op = strings.TrimSuffix(op, "shell") + "message"
	}
	var o struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	if err := json.Unmarshal(s.base.Operations[op], &o); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	r, ok := o.Responses[status]
	schema := r.Content["application/json"].Schema
	switch {
	case !ok && status == "400":
		schema = json.RawMessage(`{"$ref":"#/$defs/BadRequestError"}`)
	case !ok && status >= "400": // its statuses differ, the shape does not
		schema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"data":{"type":"object","required":["message"]}},"required":["name","data"]}`)
	case !ok:
		t.Errorf("%s: status %s is not in the contract: %s", op, status, body)
		return
	case schema == nil:
		return
	}
	if op == "GET /provider" && status == "200" { // 1.1.34 answers otherwise than its document says
		schema = json.RawMessage(`{"properties":{"all":{"type":"array","items":{"$ref":"#/$defs/Provider"}}},"required":["all","default","connected"]}`)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%s: %v in %s", op, err, body)
		return
	}
	if m, ok := v.(map[string]any); ok && op == "GET /provider" && status == "200" {
		m["all"] = m["all"].([]any)[:8] // the rest is as large as it is alike
	}
	if err := s.resolve(t, op+" "+status, schema).Validate(v); err != nil {
		t.Errorf("%s %s: %v in %.600s", op, status, err, body)
	}
}

// event checks an event by its name.
func (s *schemas) event(t testing.TB, raw []byte) {
	t.Helper()
	var head struct{ Type string }
	if err := json.Unmarshal(raw, &head); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	for _, newer := range []string{"ContextOverflowError", "ContentFilterError", "StructuredOutputError"} { // of 1.18
		raw = bytes.ReplaceAll(raw, []byte(`"name":"`+newer+`"`), []byte(`"name":"UnknownError"`))
	}
	name := "Event." + head.Type
	if s.raw[name] == nil {
		if head.Type != "message.part.delta" && head.Type != "server.heartbeat" {
			t.Errorf("unknown event %s", raw)
		}
		return
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if err := s.resolve(t, name, json.RawMessage(`{"$ref":"#/$defs/`+name+`"}`)).Validate(v); err != nil {
		t.Errorf("%v in %s", err, raw)
	}
}

// Every answer, good or bad, has the shape that OpenCode 1.1.34 promises, and
// every route of the contract is there.
func TestContract(t *testing.T) {
	s := contractSchemas(t)
	r := newRig(t)
	model := r.script("turn.txt", "tool bash {\"command\":\"echo hi > made.txt\",\"description\":\"x\"}\n---\ntext All done.\n---\ntext More.\n---\ntext Again.\n")
	sess := r.session()
	sid := strings.TrimPrefix(sess, "/session/")
	covered := map[string]map[string]bool{}
	check := func(op, path, body string, status string) result {
		t.Helper()
		method, _, _ := strings.Cut(op, " ")
		res := r.do(method, path, body)
		if strconv.Itoa(res.status) != status {
			t.Errorf("%s %s: status %d, want %s: %.400s", method, path, res.status, status, res.body)
			return res
		}
		if covered[op] == nil {
			covered[op] = map[string]bool{}
		}
		covered[op][status[:1]] = true
		if s.base.Operations[op] != nil {
			s.answer(t, op, status, res.body)
		}
		return res
	}
	for _, op := range []string{
		"/global/health", "/project", "/project/current", "/path", "/vcs", "/config", "/config/providers", "/provider", "/provider/auth",
		"/agent", "/command", "/skill", "/lsp", "/formatter", "/experimental/tool/ids", "/experimental/resource", "/experimental/worktree",
		"/mcp", "/session", "/session/status", "/permission", "/question", "/file/status", "/pty",
	} {
		check("GET "+op, op, "", "200")
	}
	check("GET /experimental/tool", "/experimental/tool?provider=script&model=x", "", "200")
	check("GET /experimental/tool", "/experimental/tool", "", "400")
	check("GET /find", "/find?pattern=wor", "", "200")
	check("GET /find/file", "/find/file?query=b", "", "200")
	check("GET /find/symbol", "/find/symbol?query=b", "", "200")
	check("GET /file", "/file?path=", "", "200")
	check("GET /file/content", "/file/content?path=a.txt", "", "200")
	check("GET /file/content", "/file/content?path=none.txt", "", "200")
	check("POST /session", "/session", `{"title":"named","permission":[{"permission":"bash","pattern":"*","action":"allow"}]}`, "200")
	check("POST /session", "/session", `{"title":5}`, "400")
	check("POST /session", "/session", `{"title":`, "400")
	check("POST /session", "/session", `{"parentID":"`+sid+`"}`, "200")
	const op = "/session/{sessionID}"
	check("GET "+op, sess, "", "200")
	check("GET "+op, "/session/ses_none", "", "404")
	check("GET "+op, "/session/badid", "", "400")
	check("PATCH "+op, sess, `{"title":"renamed"}`, "200")
	check("PATCH "+op, "/session/ses_none", `{"title":"renamed"}`, "404")
	check("GET "+op+"/children", sess+"/children", "", "200")
	check("GET "+op+"/todo", sess+"/todo", "", "200")
	check("POST "+op+"/message", sess+"/message", promptBody(model, "go"), "200")
	check("POST "+op+"/message", sess+"/message", `{}`, "400")
	check("POST "+op+"/message", sess+"/message", `{"parts":[{"type":"nope"}]}`, "400")
	check("POST "+op+"/message", "/session/ses_none/message", promptBody(model, "go"), "404")
	check("POST "+op+"/message", sess+"/message", promptBodyOf("nobody", model, "go"), "404")
	check("POST "+op+"/prompt_async", sess+"/prompt_async", promptBody(model, "go on"), "204")
	check("POST "+op+"/abort", sess+"/abort", "", "200")
	list := check("GET "+op+"/message", sess+"/message", "", "200")
	var msgs []struct {
		Info  struct{ ID string }
		Parts []json.RawMessage
	}
	if err := json.Unmarshal(list.body, &msgs); err != nil || len(msgs) < 3 {
		t.Fatalf("messages: %v %s", err, list.body)
	}
	mid := msgs[len(msgs)-1].Info.ID
	check("GET "+op+"/message/{messageID}", sess+"/message/"+msgs[0].Info.ID, "", "200")
	check("GET "+op+"/message/{messageID}", sess+"/message/msg_none", "", "404")
	check("GET "+op+"/message", "/session/ses_none/message", "", "404")
	check("GET "+op+"/diff", sess+"/diff", "", "200")
	var part struct{ ID string }
	if err := json.Unmarshal(msgs[0].Parts[0], &part); err != nil {
		t.Fatal(err)
	}
	check("PATCH "+op+"/message/{messageID}/part/{partID}", sess+"/message/"+msgs[0].Info.ID+"/part/"+part.ID, string(msgs[0].Parts[0]), "200")
	check("PATCH "+op+"/message/{messageID}/part/{partID}", sess+"/message/"+msgs[0].Info.ID+"/part/prt_other", string(msgs[0].Parts[0]), "400")
	check("DELETE "+op+"/message/{messageID}/part/{partID}", sess+"/message/"+msgs[0].Info.ID+"/part/"+part.ID, "", "200")
	check("DELETE "+op+"/message/{messageID}", sess+"/message/"+mid, "", "200")
	check("POST "+op+"/shell", sess+"/shell", `{"agent":"build"}`, "400")
	check("POST "+op+"/command", sess+"/command", `{"command":"x"}`, "400")
	check("POST "+op+"/unrevert", sess+"/unrevert", "", "200")
	check("POST "+op+"/revert", sess+"/revert", `{}`, "400")
	check("POST "+op+"/summarize", sess+"/summarize", `{}`, "400")
	check("POST "+op+"/init", sess+"/init", `{}`, "400")
	check("POST "+op+"/fork", sess+"/fork", "", "200")
	check("POST "+op+"/fork", sess+"/fork", `{"messageID":"x"}`, "400")
	check("POST "+op+"/shell", sess+"/shell", `{"agent":"build","command":"echo hi"}`, "200")
	user := lastUser(t, r, sess)
	check("GET "+op+"/diff", sess+"/diff?messageID="+user, "", "200")
	check("POST "+op+"/revert", sess+"/revert", `{"messageID":"`+user+`"}`, "200")
	check("POST "+op+"/unrevert", sess+"/unrevert", "", "200")
	check("POST "+op+"/share", sess+"/share", "", "400")
	check("DELETE "+op+"/share", sess+"/share", "", "200")
	check("POST "+op+"/permissions/{permissionID}", sess+"/permissions/per_none", `{"response":"once"}`, "404")
	check("POST /permission/{requestID}/reply", "/permission/per_none/reply", `{"reply":"once"}`, "404")
	check("POST /permission/{requestID}/reply", "/permission/per_none/reply", `{"reply":"maybe"}`, "400")
	check("POST /question/{requestID}/reply", "/question/que_none/reply", `{"answers":[["x"]]}`, "404")
	check("POST /question/{requestID}/reject", "/question/que_none/reject", "", "404")
	check("POST /mcp", "/mcp", `{"name":"gone","config":{"type":"local","command":["no-such-server"]}}`, "200")
	check("POST /mcp", "/mcp", `{"name":"gone","config":{"type":"other"}}`, "400")
	check("GET /mcp", "/mcp", "", "200")
	check("POST /mcp/{name}/connect", "/mcp/gone/connect", "", "200")
	check("POST /mcp/{name}/connect", "/mcp/none/connect", "", "404")
	check("POST /mcp/{name}/disconnect", "/mcp/gone/disconnect", "", "200")
	check("POST /mcp/{name}/disconnect", "/mcp/none/disconnect", "", "404")
	check("POST /mcp/{name}/auth", "/mcp/gone/auth", "", "400")
	check("POST /mcp/{name}/auth/authenticate", "/mcp/gone/auth/authenticate", "", "400")
	check("POST /mcp/{name}/auth/callback", "/mcp/gone/auth/callback", `{}`, "400")
	check("POST /mcp/{name}/auth/callback", "/mcp/none/auth/callback", `{"code":"x"}`, "404")
	check("DELETE /mcp/{name}/auth", "/mcp/gone/auth", "", "200")
	check("DELETE /mcp/{name}/auth", "/mcp/none/auth", "", "404")
	check("PUT /auth/{providerID}", "/auth/acme", `{"type":"api","key":"TOPSECRET"}`, "200")
	check("PUT /auth/{providerID}", "/auth/acme", `{"type":"api"}`, "400")
	check("POST /log", "/log", `{"service":"t","level":"info","message":"m"}`, "200")
	check("POST /log", "/log", `{"service":"t","level":"loud","message":"m"}`, "400")
	pty := check("POST /pty", "/pty", `{"command":"cat","title":"mine"}`, "200")
	var term struct{ ID string }
	if err := json.Unmarshal(pty.body, &term); err != nil {
		t.Fatal(err)
	}
	check("GET /pty/{ptyID}", "/pty/"+term.ID, "", "200")
	check("PUT /pty/{ptyID}", "/pty/"+term.ID, `{"title":"other","size":{"rows":30,"cols":90}}`, "200")
	check("DELETE /pty/{ptyID}", "/pty/"+term.ID, "", "200")
	check("GET /pty/{ptyID}", "/pty/"+term.ID, "", "404")
	for _, path := range []string{"open-help", "open-sessions", "open-themes", "open-models", "submit-prompt", "clear-prompt"} {
		check("POST /tui/"+path, "/tui/"+path, "", "200")
	}
	check("POST /tui/append-prompt", "/tui/append-prompt", `{"text":"x"}`, "200")
	check("POST /tui/execute-command", "/tui/execute-command", `{"command":"session_new"}`, "200")
	check("POST /tui/show-toast", "/tui/show-toast", `{"message":"m","variant":"info"}`, "200")
	check("POST /tui/publish", "/tui/publish", `{"type":"tui.prompt.append","properties":{"text":"x"}}`, "200")
	check("POST /tui/select-session", "/tui/select-session", `{"sessionID":"`+sid+`"}`, "200")
	check("POST /tui/select-session", "/tui/select-session", `{"sessionID":"ses_none"}`, "404")
	check("POST /tui/control/response", "/tui/control/response", `{"x":1}`, "200")
	check("POST /instance/dispose", "/instance/dispose", "", "200")
	check("POST /global/dispose", "/global/dispose", "", "200")
	check("PATCH /config", "/config", `{"username":"me"}`, "200")
	check("DELETE "+op, sess, "", "200")
	check("DELETE "+op, sess, "", "404")

	current := r.ok("GET", "/project/current", "").(map[string]any)["id"].(string)
	check("PATCH /project/{projectID}", "/project/"+current, `{}`, "200")
	check("PATCH /project/{projectID}", "/project/"+current, `{"name":"n","icon":{"color":"blue"},"commands":{"start":"true"}}`, "200")
	check("PATCH /project/{projectID}", "/project/"+current, `{"icon":{"url":"x"}}`, "400")
	check("PATCH /project/{projectID}", "/project/none", `{}`, "404")
	const linked = "/experimental/worktree"
	var made struct{ Directory string }
	if err := json.Unmarshal(check("POST "+linked, linked, `{"name":"contract"}`, "200").body, &made); err != nil {
		t.Fatal(err)
	}
	check("POST "+linked, linked, `{"name":"..."}`, "400")
	check("POST "+linked+"/reset", linked+"/reset", body(map[string]any{"directory": made.Directory}), "200")
	check("POST "+linked+"/reset", linked+"/reset", `{"directory":"x"}`, "400")
	check("GET "+linked, linked, "", "200")
	check("GET /project", "/project", "", "200")
	check("DELETE "+linked, linked, body(map[string]any{"directory": made.Directory}), "200")
	check("DELETE "+linked, linked, body(map[string]any{"directory": made.Directory}), "400")
	r.contractOfAsks(check)
	for name := range s.base.Operations { // a directory that there is not is refused everywhere
		method, path, _ := strings.Cut(name, " ")
		for _, f := range [][2]string{{"{sessionID}", "ses_none"}, {"{messageID}", "msg_none"}, {"{partID}", "prt_none"}, {"{ptyID}", "pty_none"}, {"{requestID}", "per_none"},
			{"{permissionID}", "per_none"}, {"{providerID}", "none"}, {"{projectID}", "none"}, {"{name}", "none"}} {
			path = strings.ReplaceAll(path, f[0], f[1])
		}
		if covered[name]["4"] || covered[name]["5"] || cannotFail[name] {
			continue
		}
		res := r.do(method, path+"?directory=nowhere", "")
		check(name, path+"?directory=nowhere", "", strconv.Itoa(res.status))
	}
	routes := map[string]bool{}
	for _, rt := range r.srv.routes() {
		routes[rt.method+" "+rt.path] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.base.Operations)) {
		switch {
		case !routes[name]:
			t.Errorf("%s is in the contract and not here", name)
		case !covered[name]["2"] && !cannotSucceed[name]:
			t.Errorf("%s: no success was checked", name)
		case covered[name]["2"] && cannotSucceed[name]:
			t.Errorf("%s is listed as unsupported and is not", name)
		case !covered[name]["4"] && !covered[name]["5"] && !cannotFail[name]:
			t.Errorf("%s: no error was checked", name)
		}
	}
}

// cannotSucceed are operations of the contract that lathe has no engine for.
var cannotSucceed = map[string]bool{
	"POST /provider/{providerID}/oauth/authorize": true, "POST /provider/{providerID}/oauth/callback": true,
	"POST /mcp/{name}/auth": true, "POST /mcp/{name}/auth/callback": true, "POST /mcp/{name}/auth/authenticate": true, // without a server to log in to
	"POST /session/{sessionID}/share": true, // without a service
	// Streams, checked event by event, and terminals have tests of their own; the
	// last waits for what a screen is asked, which is nothing.
	"GET /event": true, "GET /global/event": true, "GET /pty/{ptyID}/connect": true, "GET /tui/control/next": true,
}

// cannotFail are operations that take nothing that could be wrong.
var cannotFail = map[string]bool{
	"GET /global/health": true, "GET /global/event": true, "POST /global/dispose": true, "GET /tui/control/next": true,
	"POST /tui/control/response": true,
}

// lastUser returns the newest user message of a session.
func lastUser(t *testing.T, r *rig, sess string) string {
	t.Helper()
	id := ""
	for _, m := range r.ok("GET", sess+"/message", "").([]any) {
		if info := m.(map[string]any)["info"].(map[string]any); info["role"] == "user" {
			id = info["id"].(string)
		}
	}
	return id
}

func promptBodyOf(agent, model, text string) string {
	return strings.Replace(promptBody(model, text), "{", `{"agent":"`+agent+`",`, 1)
}

func TestDoc(t *testing.T) {
	r := newRig(t)
	var doc struct {
		OpenAPI string
		Info    struct{ Title string }
		Paths   map[string]map[string]struct {
			OperationID string
			Responses   map[string]struct{ Description string }
		}
	}
	res := r.do("GET", "/doc", "")
	if err := json.Unmarshal(res.body, &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			if op.OperationID == "" || seen[op.OperationID] {
				t.Errorf("%s %s: operation id %q", method, path, op.OperationID)
			}
			seen[op.OperationID] = true
			for status, a := range op.Responses {
				if a.Description == "" {
					t.Errorf("%s %s: answer %s has no description", method, path, status)
				}
			}
		}
	}
	if len(seen) != len(r.srv.routes()) {
		t.Errorf("%d operations for %d routes", len(seen), len(r.srv.routes()))
	}
}
