package session_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/llm/llmtest"
	"lathe/internal/session"
)

// contract collects the requests that lathe sends, to be judged: by the strict test
// server always, and where LATHE_CONTRACTS names a directory by the providers' own
// published types, for which .ci/contracts calls this test.
type contract struct {
	t      *testing.T
	dir    string
	bodies map[string][]sentBody // by protocol
	seen   map[string]bool
}

// sentBody is one request. A strict one is sent to the protocol's own vendor;
// the others may have fields that only their vendors know.
type sentBody struct {
	name   string
	strict bool
	json   []byte
}

func newContract(t *testing.T) *contract {
	return &contract{t: t, dir: os.Getenv("LATHE_CONTRACTS"), bodies: map[string][]sentBody{}, seen: map[string]bool{}}
}

var modelMember = regexp.MustCompile(`^\{"model":"[^"]*",`)

// add takes a request in, once for all models that are sent the same.
func (c *contract) add(protocol, name string, strict bool, body []byte) {
	key := protocol + fmt.Sprint(strict) + string(modelMember.ReplaceAll(body, nil))
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	if !strict {
		body = withoutVendorFields(c.t, protocol, body)
	}
	c.bodies[protocol] = append(c.bodies[protocol], sentBody{name, strict, body})
}

// vendorFields are members of requests that the vendor of the protocol does not
// know, by protocol and place. They are what the published types cannot judge.
var vendorFields = map[string]map[string][]string{
	"openaichat": {
		"":        {"top_k", "thinking", "enable_thinking", "reasoning", "usage", "caching", "chat_template_args", "disableThinking"},
		"message": {"reasoning_content", "reasoning_details", "reasoning"},
		"part":    {"cache_control"},
		"call":    {"extra_content"},
	},
	"anthropic": {"": {"temperature", "top_p", "top_k"}},
}

// vendorLevels are reasoning levels of some vendors alone.
var vendorLevels = []any{"max", "default"}

func withoutVendorFields(t *testing.T, protocol string, body []byte) []byte {
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	drop := func(at string, v any) {
		if m, ok := v.(map[string]any); ok {
			for _, name := range vendorFields[protocol][at] {
				delete(m, name)
			}
		}
	}
	each := func(v any, name string, f func(any)) {
		m, _ := v.(map[string]any)
		list, _ := m[name].([]any)
		for _, e := range list {
			f(e)
		}
	}
	drop("", doc)
	if slices.Contains(vendorLevels, doc["reasoning_effort"]) {
		delete(doc, "reasoning_effort")
	}
	each(doc, "messages", func(m any) {
		drop("message", m)
		each(m, "content", func(p any) { drop("part", p) })
		each(m, "tool_calls", func(p any) { drop("call", p) })
	})
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// types are the published types of a request, by protocol.
var types = map[string]string{
	"anthropic": `import type Anthropic from "@anthropic-ai/sdk";
type Request = Anthropic.Messages.MessageCreateParamsStreaming;
// @ts-expect-error: the judge sees a member that is not in the contract
export const refused: Request = {"model":"m","stream":true,"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a","unknown":1}]}]};
`,
	// Reasoning goes back by its encrypted content alone: nothing is stored under an
	// identifier. OpenAI's own Codex sends it so.
	"openai": `import type OpenAI from "openai";
type Base = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem | Omit<OpenAI.Responses.ResponseReasoningItem, "id">;
type Request = Omit<Base, "input"> & { input?: string | Item[] };
// @ts-expect-error: the judge sees a member that is not in the contract
export const refused: Request = {"model":"m","stream":true,"input":[{"role":"user","content":[{"type":"input_text","text":"a","unknown":1}]}]};
// @ts-expect-error: at the top as well
export const refusedTop: Request = {"model":"m","stream":true,"input":"a","unknown":1};
`,
	"openaichat": `import type OpenAI from "openai";
type Request = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
// @ts-expect-error: the judge sees a member that is not in the contract
export const refused: Request = {"model":"m","stream":true,"messages":[{"role":"user","content":"a","unknown":1}]};
`,
}

// write leaves the requests for the judges: TypeScript constants, JSON documents for
// the protocol that has no such types, and answers of the test server.
func (c *contract) write() {
	if c.dir == "" {
		return
	}
	for protocol, list := range c.bodies {
		if protocol == "google" {
			for i, b := range list {
				c.file(filepath.Join("google", fmt.Sprintf("%04d.json", i)), b.json)
			}
			continue
		}
		var out bytes.Buffer
		out.WriteString(types[protocol])
		for i, b := range list {
			fmt.Fprintf(&out, "// %s\nexport const request%d: Request = %s;\n", b.name, i, b.json)
		}
		c.file(protocol+".ts", out.Bytes())
	}
	for protocol, steps := range streamed {
		for i, s := range steps {
			body, err := llmtest.Transcript(protocol, s)
			if err != nil {
				c.t.Fatal(err)
			}
			c.file(filepath.Join("streams", fmt.Sprintf("%s-%d.sse", protocol, i)), body)
		}
	}
	for protocol, list := range c.bodies {
		c.t.Logf("%s: %d requests", protocol, len(list))
	}
}

func (c *contract) file(name string, data []byte) {
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// answers are what the test server answers the published SDKs decode as well.
var answers = []llmtest.Step{
	{Blocks: []llmtest.Block{llmtest.Text("hello, 世界")}},
	{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "hm"}, llmtest.Text("so"), llmtest.Call{Name: "read", Args: `{"path":"a"}`}, llmtest.Call{Name: "list", Args: `{}`}}},
	{Blocks: []llmtest.Block{llmtest.Text("cut")}, Finish: "length"},
}

var streamed = map[string][]llmtest.Step{"anthropic": answers, "openai": answers, "openaichat": answers, "google": answers}

// Requests of whole sessions: attachments, parallel calls, failures, images in
// results, reasoning at every level, a compaction, another process. The test server
// refuses what the providers refuse.
func TestRequestsKeepTheContract(t *testing.T) {
	c := newContract(t)
	for _, m := range []struct {
		model    string
		protocol string
		strict   bool
	}{
		{"anthropic/claude-sonnet-4-5", "anthropic", true},
		{"anthropic/claude-opus-4-8", "anthropic", true},
		{"openai/gpt-5.4", "openai", true},
		{"google/gemini-2.5-pro", "google", true},
		{"google/gemini-3.1-pro-preview", "google", true},
		{"zai/glm-4.7", "openaichat", false},
		{"openrouter/anthropic/claude-sonnet-4.5", "openaichat", false},
	} {
		t.Run(m.model, func(t *testing.T) {
			for _, r := range converseWith(t, m.model) {
				if r.Protocol != m.protocol || r.Rejected != "" {
					t.Errorf("%s %s is refused: %s\n%.2000s", r.Protocol, r.Path, r.Rejected, r.Body)
				}
				c.add(r.Protocol, m.model, m.strict, r.Body)
			}
		})
	}
	t.Run("foreign schemas", c.foreignSchemas)
	t.Run("every model", c.everyModel)
	c.write()
}

// converseWith holds a conversation with a model of the catalogue, whose provider
// is the test server, and returns what it was asked.
func converseWith(t *testing.T, model string) []llmtest.Request {
	t.Helper()
	provider, name, _ := strings.Cut(model, "/")
	call := func(name, args string) llmtest.Block { return llmtest.Call{Name: name, Args: args} }
	srv := llmtest.New(t, llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "look first"}, llmtest.Text("I look."), call("read", `{"filePath":"main.go"}`), call("glob", `{"pattern":"*.png"}`),
			call("nosuch", `{}`), call("read", `{"filePath":`), call("read", `{"filePath":"gone.go"}`)}},
		{Blocks: []llmtest.Block{call("read", `{"filePath":"a.png"}`), call("todowrite", `{"todos":[{"content":"x","status":"pending","priority":"high","id":"1"}]}`)}},
		{Status: 529, Message: "overloaded", Header: map[string]string{"retry-after": "0"}},
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "enough"}, llmtest.Text("done")}},
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "again"}, llmtest.Text(strings.Repeat("The user showed a picture and a document, and wanted main.go looked at. ", 4))}, Times: 1000},
	})
	p := newPlay(t, map[string]string{"repo/a.png": onePixel}, nil)
	p.env["LATHE_CONFIG_CONTENT"] = fmt.Sprintf(`{"permission":"allow","provider":{%q:{"options":{"baseURL":%q,"apiKey":"k"}}}}`, provider, srv.URL+"/v1")
	p.open()
	id := p.session()
	p.say(id, model, "", &lathe.Text{Text: "look at these"},
		&lathe.File{MIME: "image/png", Filename: "a.png", URL: dataURL("image/png", onePixel)},
		&lathe.File{MIME: "application/pdf", Filename: "b.pdf", URL: dataURL("application/pdf", "%PDF-1.4\n")},
		&lathe.File{MIME: "text/plain", Filename: "c.txt", URL: dataURL("text/plain", "words")})
	inst, err := p.svc.Instance(t.Context(), p.dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := inst.Models.Lookup(lathe.ModelRef{Provider: provider, Model: name})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range m.Variants {
		p.say(id, model, v.Name, &lathe.Text{Text: "and at level " + v.Name + "\x00?"})
	}
	if err := p.svc.Summarize(t.Context(), id, lathe.ModelRef{Provider: provider, Model: name}, false); err != nil {
		t.Fatal(err)
	}
	p.say(id, model, "", &lathe.Text{Text: "and after that?"})
	if err := p.svc.Close(); err != nil {
		t.Fatal(err)
	}
	p.serve()
	p.say(id, model, "", &lathe.Text{Text: "and in another process?"})
	return srv.Requests()
}

// say prompts a model and wants an answer.
func (p *play) say(id lathe.SessionID, model, variant string, parts ...lathe.PartBody) {
	p.t.Helper()
	provider, name, _ := strings.Cut(model, "/")
	_, run, err := p.svc.Prompt(p.t.Context(), id, session.Prompt{Model: lathe.ModelRef{Provider: provider, Model: name, Variant: variant}, Parts: parts})
	if err != nil {
		p.t.Fatal(err)
	}
	if out := p.wait(run); out.Failure != nil {
		p.t.Fatalf("%s %s: %v", model, variant, out.Failure)
	}
}

func dataURL(mime, data string) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))
}

// onePixel is a picture of one pixel.
var onePixel = func() string {
	raw, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return string(raw)
}()
