package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/catalog"
	"lathe/internal/config"
	"lathe/internal/llm"
	"lathe/internal/llm/llmtest"
)

// registry makes one from an environment and the text of a configuration.
func registry(t testing.TB, env map[string]string, conf string, change ...func(*Options)) *Registry {
	t.Helper()
	home := t.TempDir()
	getenv := func(n string) string {
		switch n {
		case "HOME":
			return home
		case "LATHE_CONFIG_CONTENT":
			return conf
		}
		return env[n]
	}
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(t.Context(), config.Options{Dir: home, Worktree: home, Paths: paths, Getenv: getenv, ManagedDirs: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Config: c, Getenv: getenv, Local: []LocalServer{}, LocalWait: time.Minute}
	for _, f := range change {
		f(&o)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func builtinGuide(ref lathe.ModelRef) (llm.Model, bool) {
	return nil, ref.String() == "offline/guide" || ref.Provider == "script"
}

func lookup(t testing.TB, r *Registry, text string) *Model {
	t.Helper()
	ref, err := r.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Lookup(ref)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConnected(t *testing.T) {
	dir := t.TempDir()
	store := auth.Open(auth.Options{Path: filepath.Join(dir, "auth.json")})
	if err := store.Set(t.Context(), "groq", auth.API{Key: auth.NewSecret("gsk")}); err != nil {
		t.Fatal(err)
	}
	r := registry(t, map[string]string{"ANTHROPIC_API_KEY": "sk", "GEMINI_API_KEY": "g", "GITHUB_TOKEN": "ghp", "AZURE_RESOURCE_NAME": "x", "MISTRAL_API_KEY": "m", "CLOUDFLARE_API_TOKEN": "c"},
		`{"disabled_providers": ["mistral"], "provider": {"home": {"options": {"baseURL": "http://10.0.0.1/v1"}, "models": {"llama": {}}}}}`,
		func(o *Options) { o.Auth, o.Builtin = store, builtinGuide })
	list, err := r.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, p.ID+" "+p.Source)
	}
	want := []string{"anthropic env", "google env", "groq api", "home config", "offline builtin", "script builtin"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all, err := r.All()
	if err != nil || len(all) < 40 {
		t.Errorf("%d providers, %v", len(all), err)
	}
	m := lookup(t, r, "home/llama")
	if m.Protocol != ProtocolOpenAIChat || m.URL != "http://10.0.0.1/v1" || m.LLM == nil || !m.Caps.ToolCall || m.Caps.Reasoning {
		t.Errorf("%+v", m)
	}
	if models, err := r.Models("", false); err != nil || len(models) < 20 {
		t.Errorf("%d models, %v", len(models), err)
	}
}

func TestLookupErrors(t *testing.T) {
	r := registry(t, map[string]string{"ANTHROPIC_API_KEY": "sk", "CLOUDFLARE_API_TOKEN": "c", "DATABRICKS_TOKEN": "d"},
		`{"disabled_providers": ["groq"], "provider": {"anthropic": {"blacklist": ["claude-haiku-4-5"]}}}`)
	for _, tt := range []struct {
		ref       string
		code      lathe.Code
		msg, hint string
	}{
		{"openai/gpt-5.4", lathe.CodeAuth, `provider "openai" has no key`, "set OPENAI_API_KEY, or run: lathe auth login openai"},
		{"anthropic/claude-sonet-4-5", lathe.CodeNotFound, `model "anthropic/claude-sonet-4-5" is not in the catalogue`, `did you mean "anthropic/claude-sonnet-4-5"`},
		{"anthropic/claude-haiku-4-5", lathe.CodeNotFound, `model "anthropic/claude-haiku-4-5" cannot be used: it is on the provider's blacklist`, "list them with: lathe models anthropic"},
		{"antropic/claude-sonnet-4-5", lathe.CodeNotFound, `provider "antropic" is not in the catalogue or the configuration`, `did you mean "anthropic"?`},
		{"groq/x", lathe.CodeInvalid, `provider "groq" is switched off: it is listed in disabled_providers`, "change the configuration"},
		{"databricks/x", lathe.CodeNotFound, `model "databricks/x" is not in the catalogue`, ""},
	} {
		provider, model, _ := strings.Cut(tt.ref, "/")
		_, err := r.Lookup(lathe.ModelRef{Provider: provider, Model: model})
		e, ok := errors.AsType[*lathe.Error](err)
		if !ok || e.Code != tt.code || e.Msg != tt.msg || !strings.HasPrefix(e.Hint, tt.hint) {
			t.Errorf("%s: %#v", tt.ref, err)
		}
	}
	p, err := r.models(r.entries["cloudflare-ai-gateway"])
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p {
		t.Errorf("a gateway's key would go to %q with %s", m.URL, m.Ref)
	}
	dbx, err := r.models(r.entries["databricks"])
	if err != nil || len(dbx) == 0 {
		t.Fatal(err)
	}
	if _, err := r.Lookup(dbx[0].Ref); err == nil || !strings.Contains(err.Error(), "DATABRICKS_HOST") {
		t.Errorf("a missing variable of the address: %v", err)
	}
}

func TestParseRef(t *testing.T) {
	r := registry(t, map[string]string{"OPENROUTER_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "{}")
	openrouter, err := r.models(r.entries["openrouter"])
	if err != nil {
		t.Fatal(err)
	}
	nested := ""
	for _, m := range openrouter {
		if vendor, _, _ := strings.Cut(m.Ref.Model, "/"); r.entries[vendor] == nil && strings.Contains(m.Ref.Model, "/") {
			nested = m.Ref.Model
			break
		}
	}
	for _, tt := range []struct {
		in   string
		want lathe.ModelRef
		code lathe.Code
	}{
		{"anthropic/claude-sonnet-4-5#high", lathe.ModelRef{Provider: "anthropic", Model: "claude-sonnet-4-5", Variant: "high"}, ""},
		{"openrouter/a/b", lathe.ModelRef{Provider: "openrouter", Model: "a/b"}, ""},
		{nested, lathe.ModelRef{Provider: "openrouter", Model: nested}, ""},
		{"claude-sonnet-4-5", lathe.ModelRef{Provider: "anthropic", Model: "claude-sonnet-4-5"}, ""},
		{"script//tmp/a.txt", lathe.ModelRef{Provider: "script", Model: "/tmp/a.txt"}, ""},
		{"claude-sonnet-4-55", lathe.ModelRef{}, lathe.CodeNotFound},
		{"", lathe.ModelRef{}, lathe.CodeInvalid},
		{"/x", lathe.ModelRef{}, lathe.CodeInvalid},
	} {
		got, err := r.ParseRef(tt.in)
		if got != tt.want || tt.code == "" && err != nil || tt.code != "" && lathe.CodeOf(err) != tt.code {
			t.Errorf("ParseRef(%q) = %+v, %v", tt.in, got, err)
		}
	}
}

func TestDefault(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data": [{"id": "nomic-embed-text"}, {"id": "qwen3", "max_model_len": 40000}]}`)
	}))
	defer srv.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }))
	defer web.Close()
	local := func(o *Options) {
		o.Local = []LocalServer{{"vllm", "vLLM", web.URL + "/v1"}, {"ollama", "Ollama", srv.URL + "/v1"}}
		o.Builtin = builtinGuide
	}
	for _, tt := range []struct {
		name, conf string
		env        map[string]string
		change     func(*Options)
		want       string
		code       lathe.Code
	}{
		{"configured", `{"model": "anthropic/claude-sonnet-4-5"}`, map[string]string{"ANTHROPIC_API_KEY": "k"}, local, "anthropic/claude-sonnet-4-5", ""},
		{"configured without a key", `{"model": "anthropic/claude-sonnet-4-5"}`, nil, local, "anthropic/claude-sonnet-4-5", lathe.CodeAuth},
		{"key", `{}`, map[string]string{"OPENAI_API_KEY": "k"}, local, "openai/gpt-", ""},
		{"configured provider first", `{"provider": {"deepseek": {"options": {"apiKey": "k"}}}}`, map[string]string{"ANTHROPIC_API_KEY": "k"}, local, "deepseek/deepseek-", ""},
		{"local server", `{}`, nil, local, "ollama/qwen3", ""},
		{"guide", `{}`, nil, func(o *Options) { o.Builtin = builtinGuide }, "offline/guide", ""},
		{"nothing", `{}`, nil, func(*Options) {}, "", lathe.CodeAuth},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := registry(t, tt.env, tt.conf, tt.change)
			ref, why, err := r.Default(t.Context())
			if !strings.HasPrefix(ref.String(), tt.want) || tt.code == "" && (err != nil || why == "") || tt.code != "" && lathe.CodeOf(err) != tt.code {
				t.Fatalf("%s because %q, %v", ref, why, err)
			}
			if tt.code == "" {
				m, err := r.Lookup(ref)
				if err != nil {
					t.Fatal(err)
				}
				if ref.Provider == "ollama" && m.Limit.Context != 40000 {
					t.Errorf("limits %+v", m.Limit)
				}
			}
		})
	}
}

func TestBestOfRealVendors(t *testing.T) {
	r := registry(t, map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}, "{}")
	for id, want := range map[string]string{"anthropic": "claude-sonnet-", "openai": "gpt-6", "google": "gemini-"} {
		models, err := r.models(r.entries[id])
		if err != nil {
			t.Fatal(err)
		}
		m := best(models)
		if m == nil || !strings.HasPrefix(m.Ref.Model, want) || aside(m) > 0 {
			t.Errorf("%s: %+v", id, m)
			continue
		}
		t.Logf("%s, small %s", m.Ref, r.Small(m.Ref))
	}
	if got := r.Small(lathe.ModelRef{Provider: "anthropic", Model: "claude-sonnet-4-5", Variant: "x"}); !strings.Contains(got.Model, "haiku") {
		t.Errorf("small: %s", got)
	}
	if got := r.Small(lathe.ModelRef{Provider: "offline", Model: "guide"}); got.Model != "guide" {
		t.Errorf("small: %s", got)
	}
}

func TestConfiguredModels(t *testing.T) {
	r := registry(t, map[string]string{"ANTHROPIC_API_KEY": "k", "K": "v"}, `{"provider": {"anthropic": {"options": {"timeout": 1000, "setCacheKey": true},
	  "models": {"mine": {"id": "claude-sonnet-4-5", "limit": {"context": 5, "output": 4}, "cost": {"input": 1}, "options": {"a": {"b": 1}}, "headers": {"h": "v"},
	    "variants": {"high": {"disabled": true}, "max": {"x": 1}, "new": {"y": 2}}}, "claude-haiku-4-5": {"name": "Small one"}}}}}`)
	m := lookup(t, r, "anthropic/mine")
	if m.APIID != "claude-sonnet-4-5" || m.Name != "mine" || m.Limit != (catalog.Limit{Context: 5, Output: 4}) || m.Price.Input != 1e6 || m.Headers["h"] != "v" || !m.Caps.Reasoning {
		t.Errorf("%+v", m)
	}
	var names []string
	for _, v := range m.Variants {
		names = append(names, v.Name)
	}
	if diff := cmp.Diff([]string{"max", "new"}, names); diff != "" {
		t.Error(diff)
	}
	if set, _ := m.Variant("max"); set["x"] != 1.0 || set["thinking"] == nil {
		t.Errorf("variant: %v", set)
	}
	if m := lookup(t, r, "claude-haiku-4-5"); m.Name != "Small one" || m.APIID != "claude-haiku-4-5" {
		t.Errorf("%+v", m)
	}
}

func TestPrepare(t *testing.T) {
	r := registry(t, map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k", "OPENROUTER_API_KEY": "k", "DEEPSEEK_API_KEY": "k", "ZHIPU_API_KEY": "k"}, "{}")
	p := Params{SessionID: "ses_1", Temperature: new(0.3), Options: map[string]any{"x": 1.0}}
	headers := map[string]string{"User-Agent": "lathe/" + lathe.Version, "x-session-affinity": "ses_1", "x-session-id": "ses_1"}
	for _, tt := range []struct {
		ref    string
		change func(*Params)
		want   llm.Request
	}{
		{"anthropic/claude-sonnet-4-5", func(p *Params) { p.Variant = "high" }, llm.Request{Model: "claude-sonnet-4-5", MaxTokens: 32000, Temperature: new(0.3), CacheMarks: true,
			Options: object{"x": 1.0, "thinking": object{"type": "enabled", "budgetTokens": 16000.0}}}},
		{"anthropic/claude-sonnet-4-5", func(p *Params) { p.Small = true; p.Options = nil }, llm.Request{Model: "claude-sonnet-4-5", MaxTokens: 32000, CacheMarks: true}},
		{"openai/gpt-5.4", func(*Params) {}, llm.Request{Model: "gpt-5.4", MaxTokens: 32000, CacheKey: "ses_1",
			Options: object{"x": 1.0, "store": false, "reasoningEffort": "medium", "reasoningSummary": "auto", "include": encrypted, "textVerbosity": "low"}}},
		{"openai/gpt-5.4", func(p *Params) { p.Small = true; p.Options = nil }, llm.Request{Model: "gpt-5.4", MaxTokens: 32000, Temperature: new(0.3), CacheKey: "ses_1",
			Options: object{"store": false, "reasoningEffort": "none", "reasoningSummary": "auto", "include": encrypted}}},
		{"google/gemini-2.5-pro", func(p *Params) { p.Temperature = nil; p.Options = nil }, llm.Request{Model: "gemini-2.5-pro", MaxTokens: 32000, Temperature: new(1.0), TopP: new(0.95), TopK: new(64),
			Options: object{"thinkingConfig": object{"includeThoughts": true}}}},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			p := p
			tt.change(&p)
			tt.want.Origin, tt.want.Headers = tt.ref, headers
			var got llm.Request
			lookup(t, r, tt.ref).Prepare(&got, p)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	m := &Model{Protocol: ProtocolAnthropic, Limit: catalog.Limit{Output: 32000}}
	if got := m.maxTokens(object{"thinking": object{"type": "enabled", "budgetTokens": 31999}}); got != 1 {
		t.Errorf("room beside the budget: %d", got)
	}
	if got := m.maxTokens(nil); got != 32000 {
		t.Errorf("output: %d", got)
	}
}

// Preparing a request never changes what the next one gets.
func TestPrepareSharesNothing(t *testing.T) {
	r := registry(t, map[string]string{"ZHIPU_API_KEY": "k"}, "{}")
	models, err := r.models(r.entries["zai"])
	if err != nil || len(models) == 0 {
		t.Fatal(err)
	}
	m := models[0]
	var a, b llm.Request
	m.Prepare(&a, Params{})
	for _, v := range a.Options {
		if o, ok := v.(object); ok {
			o["spoiled"] = true
		}
	}
	m.Prepare(&b, Params{})
	if strings.Contains(fmt.Sprint(b.Options), "spoiled") {
		t.Error("options are shared between requests")
	}
}

func TestCostIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := func(name string) (lathe.Price, *big.Rat) {
			s := fmt.Sprintf("%d.%06d", rapid.IntRange(0, 200).Draw(t, name), rapid.IntRange(0, 999_999).Draw(t, name+"µ"))
			p, err := lathe.ParsePrice(s)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := new(big.Rat).SetString(s)
			return p, r
		}
		in, inR := price("in")
		out, outR := price("out")
		over, overR := price("over")
		m := &Model{Price: catalog.Cost{Prices: lathe.Prices{Input: in, Output: out}, Over200K: &lathe.Prices{Input: over, Output: out}}}
		u := lathe.Tokens{Input: rapid.Int64Range(0, 400_000).Draw(t, "n"), Output: rapid.Int64Range(0, 100_000).Draw(t, "m"), Reasoning: rapid.Int64Range(0, 9999).Draw(t, "r")}
		rate := inR
		if u.Input > 200_000 {
			rate = overR
		}
		want := new(big.Rat).Mul(rate, big.NewRat(u.Input, 1_000_000))
		want.Add(want, new(big.Rat).Mul(outR, big.NewRat(u.Output+u.Reasoning, 1_000_000)))
		got := big.NewRat(int64(m.Cost(u)), 1_000_000_000_000)
		if got.Cmp(want) != 0 {
			t.Fatalf("cost %s, want %s", got.FloatString(15), want.FloatString(15))
		}
	})
}

func TestNormalize(t *testing.T) {
	text := func(s string) llm.Content { return llm.Text{Text: s} }
	png := llm.Media{MIME: "image/png", Name: "a.png", Data: []byte{1}}
	in := []llm.Message{
		{Role: llm.RoleUser, Content: []llm.Content{text("hi\xff"), png, llm.Media{MIME: "image/png"}, text(" ")}},
		{Role: llm.RoleAssistant, Content: []llm.Content{text("")}},
		{Role: llm.RoleAssistant, Content: []llm.Content{llm.ToolUse{ID: "call:1/x|long-name", Name: "t"}}},
		{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "call:1/x|long-name", Output: "o", Media: []llm.Media{png}}}},
		{Role: llm.RoleUser, Content: []llm.Content{text("go on")}},
	}
	const no = `ERROR: Cannot read "a.png" (this model does not support image input). Inform the user.`
	empty := text("ERROR: Image file is empty or corrupted. Please provide a valid image.")
	claude := &Model{Ref: lathe.ModelRef{Provider: "anthropic", Model: "claude-x"}, Caps: Caps{Input: catalog.Text | catalog.Image}}
	mistral := &Model{Ref: lathe.ModelRef{Provider: "mistral", Model: "devstral"}, Caps: Caps{Input: catalog.Text}}
	for _, tt := range []struct {
		m    *Model
		want []llm.Message
	}{
		{claude, []llm.Message{
			{Role: llm.RoleUser, Content: []llm.Content{text("hi\uFFFD"), png, empty}},
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.ToolUse{ID: "call_1_x_long-name", Name: "t"}}},
			{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "call_1_x_long-name", Output: "o", Media: []llm.Media{png}}}},
			{Role: llm.RoleUser, Content: []llm.Content{text("go on")}},
		}},
		{mistral, []llm.Message{
			{Role: llm.RoleUser, Content: []llm.Content{text("hi\uFFFD"), text(no), empty}},
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.ToolUse{ID: "call1xlon", Name: "t"}}},
			{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "call1xlon", Output: "o\n" + no, Media: []llm.Media{}}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{text("Done.")}},
			{Role: llm.RoleUser, Content: []llm.Content{text("go on")}},
		}},
	} {
		if diff := cmp.Diff(tt.want, tt.m.Normalize(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.m.Ref, diff)
		}
	}
	if in[0].Content[0] != text("hi\xff") || len(in) != 5 {
		t.Error("the argument was changed")
	}
	if mistralID("a-b") != "ab0000000" {
		t.Error(mistralID("a-b"))
	}
}

// A picture that the model cannot take was not read successfully.
func TestNormalizeSaysOneThingOfAPicture(t *testing.T) {
	m := &Model{Ref: lathe.ModelRef{Provider: "x", Model: "text-only"}, Caps: Caps{Input: catalog.Text}}
	result := llm.ToolResult{ID: "1", Output: "Image read successfully", Media: []llm.Media{{MIME: "image/png", Name: "a.png", Data: []byte{1}}}}
	got := m.Normalize([]llm.Message{{Role: llm.RoleAssistant, Content: []llm.Content{llm.ToolUse{ID: "1", Name: "read"}}}, {Role: llm.RoleTool, Content: []llm.Content{result}}})
	want := llm.ToolResult{ID: "1", Output: `ERROR: Cannot read "a.png" (this model does not support image input). Inform the user.`, Media: []llm.Media{}}
	if diff := cmp.Diff(llm.Content(want), got[1].Content[0]); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// A longer conversation keeps the normalised beginning, so caches stay warm.
func TestNormalizeIsAPrefix(t *testing.T) {
	models := []*Model{{Ref: lathe.ModelRef{Provider: "mistral", Model: "m"}}, {Ref: lathe.ModelRef{Provider: "anthropic", Model: "claude"}},
		{Ref: lathe.ModelRef{Provider: "d", Model: "deepseek-r"}, Protocol: ProtocolOpenAIChat, Caps: Caps{Interleaved: "reasoning_content"}}}
	content := rapid.Custom(func(t *rapid.T) llm.Content {
		s := rapid.SampledFrom([]string{"", "a", " ", "x\xff"}).Draw(t, "s")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return llm.Text{Text: s}
		case 1:
			return llm.Media{MIME: "image/png", Name: s}
		case 2:
			return llm.ToolUse{ID: s, Name: "t"}
		}
		return llm.ToolResult{ID: s, Output: s}
	})
	rapid.Check(t, func(t *rapid.T) {
		var all []llm.Message
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			all = append(all, llm.Message{Role: rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool}).Draw(t, "role"),
				Content: rapid.SliceOfN(content, 0, 3).Draw(t, "content")})
		}
		for _, m := range models {
			short, long := m.Normalize(all[:len(all)-1]), m.Normalize(all)
			if diff := cmp.Diff(short, long[:len(short)]); diff != "" {
				t.Fatalf("%s: %s", m.Ref, diff)
			}
		}
	})
}

func TestSchema(t *testing.T) {
	const in = `{"type":"object","$schema":"x","title":"T","properties":{"n":{"type":"integer","enum":[1,2]},"l":{"type":"array"},"o":{"type":["string","null"],"minLength":1},
	 "u":{"type":["string","number"]},"r":{"$ref":"#/d","description":"d"},"t":{"type":"array","items":[{"type":"string"},{"type":"number"}]},"c":{"const":"k"},"a":true,
	 "s":{"type":"string","properties":{},"required":[]}},"required":["n","gone"],"additionalProperties":false}`
	for _, tt := range []struct{ provider, npm, want string }{
		{"anthropic", npmAnthropic, in},
		{"google", npmGoogle, `{"type":"OBJECT","properties":{"n":{"type":"STRING","enum":["1","2"]},"l":{"type":"ARRAY","items":{"type":"STRING"}},"o":{"type":"STRING","minLength":1,"nullable":true},` +
			`"u":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]},"r":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"}],"description":"d"},"t":{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}},` +
			`"c":{"type":"STRING","enum":["k"]},"a":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"}]},"s":{"type":"STRING"}},"required":["n"]}`},
		{"router", npmOpenRouter, `{"type":"object","$schema":"x","title":"T","properties":{"n":{"type":"string","enum":["1","2"]},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"string","minLength":1,"nullable":true},` +
			`"u":{"anyOf":[{"type":"string"},{"type":"number"}]},"r":{"$ref":"#/d","description":"d"},"t":{"type":"array","items":[{"type":"string"},{"type":"number"}]},"c":{"const":"k"},"a":true,"s":{"type":"string"}},"required":["n"],"additionalProperties":false}`},
		{"moonshotai", npmCompatible, `{"type":"object","$schema":"x","title":"T","properties":{"n":{"type":"integer","enum":[1,2]},"l":{"type":"array"},"o":{"type":["string","null"],"minLength":1},` +
			`"u":{"type":["string","number"]},"r":{"$ref":"#/d"},"t":{"type":"array","items":{"type":"string"}},"c":{"const":"k"},"a":true,"s":{"type":"string","properties":{},"required":[]}},"required":["n","gone"],"additionalProperties":false}`},
		{"openai", npmOpenAI, `{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]},"l":{"type":"array","items":{"type":"string"}},"o":{"type":["string","null"]},` +
			`"u":{"type":["string","number"]},"r":{"$ref":"#/d","description":"d"},"t":{"type":"array","items":[{"type":"string"},{"type":"number"}]},"c":{"enum":["k"],"type":"string"},"a":{"type":"string"},"s":{"type":"string","properties":{},"required":[]}},"required":["n","gone"],"additionalProperties":false}`},
	} {
		m := &Model{Ref: lathe.ModelRef{Provider: tt.provider, Model: "gemini"}, NPM: tt.npm, Protocol: protocols()[tt.npm]}
		if tt.provider != "router" {
			m.Ref.Model = "m"
		}
		got := m.Schema(json.RawMessage(in))
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.provider, diff)
		}
		if again := m.Schema(got); tt.provider != "anthropic" && string(again) != string(got) {
			t.Errorf("%s: cleaning twice gives %s", tt.provider, again)
		}
	}
	if got := (&Model{}).Schema(json.RawMessage("nope")); string(got) != `{"type":"object","properties":{}}` {
		t.Errorf("%s", got)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":["array","null"],"items":{"anyOf":[{"enum":[1,null]}]},"properties":{"a":3},"required":7}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, m := range []*Model{{Protocol: ProtocolGoogle}, {NPM: npmVertex}, {Protocol: ProtocolAnthropic}, {NPM: npmOpenAI, Protocol: ProtocolOpenAI}, {Ref: lathe.ModelRef{Provider: "moonshotai"}}} {
			got := m.Schema(raw)
			if !json.Valid(got) {
				t.Fatalf("%q gives %q", raw, got)
			}
			if string(m.Schema(raw)) != string(got) {
				t.Fatalf("%q gives different bytes", raw)
			}
			if err := llmtest.CheckSchema(string(m.Protocol), got); err != nil {
				t.Fatalf("%q gives %s: %v", raw, got, err)
			}
		}
	})
}

func TestVariantsWithoutACatalogue(t *testing.T) {
	names := func(vs []catalog.Variant) (s string) {
		for _, v := range vs {
			s += v.Name + " "
		}
		return strings.TrimSpace(s)
	}
	for _, tt := range []struct {
		m    Model
		c    *catalog.Model
		want string
	}{
		{Model{APIID: "claude-opus-4-7", Protocol: ProtocolAnthropic}, nil, "low medium high xhigh max"},
		{Model{APIID: "claude-3-7-sonnet", Protocol: ProtocolAnthropic, Limit: catalog.Limit{Output: 8192}}, nil, "high max"},
		{Model{APIID: "gpt-5", NPM: npmOpenAI, Protocol: ProtocolOpenAI, Released: "2025-08-07"}, nil, "minimal low medium high"},
		{Model{APIID: "gpt-5.2", NPM: npmOpenAI, Protocol: ProtocolOpenAI, Released: "2025-12-11"}, nil, "none low medium high xhigh"},
		{Model{APIID: "qwen3", NPM: npmCompatible, Protocol: ProtocolOpenAIChat}, nil, ""},
		{Model{APIID: "gemini-2.5-pro", NPM: npmGoogle, Protocol: ProtocolGoogle}, nil, "high max"},
		{Model{APIID: "x", NPM: npmCompatible, Protocol: ProtocolOpenAIChat}, &catalog.Model{ReasoningOptions: []catalog.ReasoningOption{{Type: "effort", Values: []string{"", "high"}}}}, "none high"},
		{Model{APIID: "x", NPM: npmCompatible, Protocol: ProtocolOpenAIChat}, &catalog.Model{ReasoningOptions: []catalog.ReasoningOption{{Type: "toggle"}}}, "none high"},
		{Model{APIID: "x", Protocol: ProtocolOpenAIChat}, &catalog.Model{HasVariants: true}, ""},
	} {
		tt.m.Caps.Reasoning = true
		if got := names(variants(&tt.m, tt.c)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.m.APIID, got, tt.want)
		}
	}
}

func TestLocalServerIsProbedOnceAtATime(t *testing.T) {
	calls := make(chan struct{}, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- struct{}{}
		fmt.Fprint(w, `{"data": [{"id": "m"}]}`)
	}))
	defer srv.Close()
	now := time.Unix(1_800_000_000, 0)
	r := registry(t, nil, "{}", func(o *Options) {
		o.Local, o.Now = []LocalServer{{"ollama", "Ollama", srv.URL + "/v1"}}, func() time.Time { return now }
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if ref, _, err := r.Default(t.Context()); err != nil || ref.String() != "ollama/m" {
				t.Errorf("%s %v", ref, err)
			}
			_, _ = r.List()
		})
	}
	wg.Wait()
	if len(calls) != 1 {
		t.Errorf("%d probes", len(calls))
	}
}

func TestKeysDoNotShow(t *testing.T) {
	r := registry(t, map[string]string{"ANTHROPIC_API_KEY": "sk-hidden"}, `{"provider": {"acme": {"options": {"apiKey": "sk-hidden", "baseURL": "http://x"}, "models": {"m": {}}}}}`)
	list, err := r.All()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if all := string(raw) + fmt.Sprintf("%+v %v", r.entries["acme"].key, list); strings.Contains(all, "sk-hidden") {
		t.Error("a key shows")
	}
}

func BenchmarkNewAndLookup(b *testing.B) {
	conf := &config.Config{Model: "anthropic/claude-sonnet-4-5"}
	getenv := func(n string) string {
		if n == "ANTHROPIC_API_KEY" {
			return "k"
		}
		return ""
	}
	b.ReportAllocs()
	for b.Loop() {
		packed := catalog.Embedded()
		r, err := New(Options{Config: conf, Catalog: packed, Getenv: getenv, Local: []LocalServer{}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Lookup(lathe.ModelRef{Provider: "anthropic", Model: "claude-sonnet-4-5"}); err != nil {
			b.Fatal(err)
		}
	}
}

// A fetched catalogue cannot send a known vendor's key elsewhere; the person's
// configuration can.
func TestCatalogueCannotRedirectAKey(t *testing.T) {
	text := catalog.Text
	evil := catalog.New([]catalog.Provider{{ID: "anthropic", Name: "A", Env: []string{"ANTHROPIC_API_KEY"}, NPM: npmAnthropic, API: "https://evil.example",
		Models: []catalog.Model{{ID: "m", Name: "M", API: "https://evil.example", Input: text, Output: text}}}})
	env := map[string]string{"ANTHROPIC_API_KEY": "k"}
	for conf, want := range map[string]string{
		`{}`: "",
		`{"provider": {"anthropic": {"options": {"baseURL": "https://proxy.example"}}}}`: "https://proxy.example",
	} {
		r := registry(t, env, conf, func(o *Options) { o.Catalog = evil })
		if m := lookup(t, r, "anthropic/m"); m.URL != want {
			t.Errorf("%s: %q, want %q", conf, m.URL, want)
		}
	}
}
