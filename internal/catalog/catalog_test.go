package catalog

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

const sample = `{
 "acme": {"id":"acme","name":"Acme","env":["ACME_KEY"],"npm":"@ai-sdk/openai-compatible","api":"https://acme.example/v1","models":{
  "big": {"id":"big","name":"Big","family":"b","release_date":"2026-01-02","attachment":true,"reasoning":true,"temperature":true,"tool_call":true,
   "interleaved":{"field":"reasoning_content"},
   "cost":{"input":0.075,"output":1.5e-1,"cache_read":0.0075,"context_over_200k":{"input":0.15,"output":0.3},
     "tiers":[{"input":1,"output":2,"tier":{"type":"context","size":500000}}]},
   "limit":{"context":1000000,"input":900000,"output":64000},"modalities":{"input":["text","image","smell"],"output":["text"]},
   "status":"beta","options":{"a":1},"headers":{"x":"y"},"provider":{"npm":"@ai-sdk/anthropic","api":"https://acme.example/a"},
   "reasoning_options":[{"type":"effort","values":["low","high"]},{"type":"budget_tokens","min":1024},7],
   "experimental":{"modes":{"fast":{"cost":{"input":9,"output":9},"provider":{"body":{"service_tier":"priority"},"headers":{"beta":"1"}}}}}},
  "bad": {"name": 7}, "two words": {"name":"x"}}},
 "empty": {"models":{}}, "worse": 4}`

func sampleProviders() []Provider {
	over := lathe.Prices{Input: 150000, Output: 300000}
	big := Model{
		ID: "big", Name: "Big", Family: "b", Released: "2026-01-02", Status: "beta",
		NPM: "@ai-sdk/anthropic", API: "https://acme.example/a",
		Attachment: true, Reasoning: true, Temperature: true, ToolCall: true, Interleaved: "reasoning_content",
		Input: Text | Image, Output: Text, Limit: Limit{1000000, 900000, 64000},
		Cost: Cost{Prices: lathe.Prices{Input: 75000, Output: 150000, CacheRead: 7500}, Over200K: &over,
			Tiers: []Tier{{500000, lathe.Prices{Input: 1e6, Output: 2e6}}}},
		Options: map[string]any{"a": 1.0}, Headers: map[string]string{"x": "y"},
		ReasoningOptions: []ReasoningOption{{Type: "effort", Values: []string{"low", "high"}}, {Type: "budget_tokens", Min: 1024}},
	}
	fast := big
	fast.ID, fast.APIID, fast.Name = "big-fast", "big", "Big Fast"
	fast.Cost = Cost{Prices: lathe.Prices{Input: 9e6, Output: 9e6}}
	fast.Options = map[string]any{"a": 1.0, "serviceTier": "priority"}
	fast.Headers = map[string]string{"x": "y", "beta": "1"}
	return []Provider{{ID: "acme", Name: "Acme", Env: []string{"ACME_KEY"}, NPM: "@ai-sdk/openai-compatible",
		API: "https://acme.example/v1", Models: []Model{big, fast}}}
}

func TestParse(t *testing.T) {
	got, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleProviders(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "[]", "{}", `{"x":{"models":{}}}`, "<html>"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("Parse(%q) worked", bad)
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	want := sampleProviders()
	want[0].Models[0].HasVariants = true
	want[0].Models[0].Variants = []Variant{{"high", map[string]any{"e": "h\tx"}}, {"low", map[string]any{"n": 1.0}}}
	packed, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Decode(packed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Provider("acme")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want[0], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Info{{"acme", "Acme", []string{"ACME_KEY"}, "@ai-sdk/openai-compatible", "https://acme.example/v1", 2}}, c.Providers()); diff != "" {
		t.Error(diff)
	}
	if p, err := c.Provider("nope"); p != nil || err != nil {
		t.Errorf("unknown provider: %v %v", p, err)
	}
	packed[len(packed)-1] ^= 1
	if _, err := Decode(packed); err == nil {
		t.Error("a damaged copy decodes")
	}
}

func TestEmbedded(t *testing.T) {
	c := Embedded()
	if len(embedded) > 120<<10 {
		t.Errorf("the embedded catalogue has %d bytes", len(embedded))
	}
	models := 0
	for _, info := range c.Providers() {
		p, err := c.Provider(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Models) != info.Count || info.Count == 0 {
			t.Errorf("%s: %d models, index says %d", info.ID, len(p.Models), info.Count)
		}
		models += len(p.Models)
		for _, m := range p.Models {
			if m.ID == "" || m.Name == "" || m.Input == 0 && m.Output == 0 {
				t.Errorf("%s: incomplete model %+v", info.ID, m)
			}
		}
	}
	if models < 2000 {
		t.Errorf("%d models", models)
	}
	p, err := c.Provider("anthropic")
	if err != nil {
		t.Fatal(err)
	}
	want := &Model{
		ID: "claude-haiku-4-5", Name: "Claude Haiku 4.5 (latest)", Family: "claude-haiku", Released: "2025-10-15",
		Attachment: true, Reasoning: true, Temperature: true, ToolCall: true,
		Input: Text | Image | PDF, Output: Text, Limit: Limit{Context: 200000, Output: 64000},
		Cost: Cost{Prices: lathe.Prices{Input: 1e6, Output: 5e6, CacheRead: 100000, CacheWrite: 1250000}},
		Variants: []Variant{
			{"high", map[string]any{"thinking": map[string]any{"type": "enabled", "budgetTokens": 16000.0}}},
			{"max", map[string]any{"thinking": map[string]any{"type": "enabled", "budgetTokens": 31999.0}}},
		},
		HasVariants: true,
	}
	if diff := cmp.Diff(want, p.Model("claude-haiku-4-5")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCostFor(t *testing.T) {
	c := sampleProviders()[0].Models[0].Cost
	for _, tt := range []struct {
		prompt int64
		want   lathe.Price
	}{{0, 75000}, {200_000, 75000}, {200_001, 150000}, {500_000, 150000}, {500_001, 1e6}} {
		if got := c.For(tt.prompt).Input; got != tt.want {
			t.Errorf("For(%d) = %d, want %d", tt.prompt, got, tt.want)
		}
	}
}

func TestRefresh(t *testing.T) {
	body, calls := sample, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if r.URL.Path != "/api.json" || !strings.HasPrefix(r.UserAgent(), "lathe/") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	now := time.Unix(1_800_000_000, 0)
	o := Options{CacheDir: filepath.Join(t.TempDir(), "c"), URL: srv.URL + "/", Client: srv.Client(), Now: func() time.Time { return now }}

	refresh := func(force bool) (bool, error) { return Refresh(t.Context(), o, force) }
	if ok, err := refresh(false); !ok || err != nil {
		t.Fatalf("first refresh: %v, %v", ok, err)
	}
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Providers()[0].ID; got != "acme" {
		t.Errorf("the fetched copy does not win: %s", got)
	}
	if ok, _ := refresh(false); ok || calls != 1 {
		t.Errorf("a fresh copy was fetched again (%d calls)", calls)
	}
	now = now.Add(6 * time.Minute)
	body = "<html>"
	if ok, err := refresh(false); ok || err == nil {
		t.Errorf("a broken document was taken: %v", err)
	}
	if c, _ := Open(o); c.Providers()[0].ID != "acme" {
		t.Error("a failed refresh lost the old copy")
	}
	o.NoFetch = true
	if ok, err := refresh(true); ok || err != nil || calls != 2 {
		t.Errorf("fetched although switched off: %v %v %d", ok, err, calls)
	}
	if err := os.WriteFile(o.cacheFile(), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(o); err != nil || c != Embedded() {
		t.Errorf("a broken cache is not passed over: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.CacheDir, ".models-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOpenPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Provider("acme")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&sampleProviders()[0], got); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Path: path}); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	packed, err := Encode(sampleProviders())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add([]byte("lathe-catalog-1 0 00000000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, body, _ := strings.Cut(string(data), "\n")
		// past the checksum, which would stop nearly every input
		for _, n := range []int{len(body), strings.LastIndexByte(body, '\n') + 1} {
			c, err := decodeIndex(body[:n], []byte(body[n:]))
			if err != nil {
				continue
			}
			for _, info := range c.Providers() {
				_, _ = c.Provider(info.ID)
			}
		}
		_, _ = Decode(data)
	})
}

func FuzzModelLine(f *testing.F) {
	raw, err := encodeModels(&sampleProviders()[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Fuzz(func(t *testing.T, line string) {
		if m, err := decodeModel(strings.TrimSuffix(line, "\n"), variantSets{{raw: "[]"}}); err == nil {
			_ = m.Cost.For(300_000)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Parse(data)
		if err != nil {
			return
		}
		packed, err := Encode(list)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Decode(packed)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			got, err := c.Provider(p.ID)
			if err != nil || got == nil || len(got.Models) != len(p.Models) {
				t.Fatalf("%s: %v", p.ID, err)
			}
		}
	})
}

func BenchmarkDecodeIndex(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(embedded); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProvider(b *testing.B) {
	for _, id := range []string{"anthropic", "openrouter"} {
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := Decode(embedded)
				if err != nil {
					b.Fatal(err)
				}
				if p, err := c.Provider(id); err != nil || len(p.Models) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAsJSON is what the same start costs with the catalogue embedded as JSON and
// decoded one provider at a time: [BenchmarkProvider] has the stored form. The sizes are
// of the JSON, plain and compressed as the stored form is.
func BenchmarkAsJSON(b *testing.B) {
	plain, packed := embeddedJSON(b)
	for name, open := range map[string]func() []byte{
		"plain":      func() []byte { return plain },
		"compressed": func() []byte { return unpack(b, packed) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var all map[string]json.RawMessage
				var p Provider
				if err := json.Unmarshal(open(), &all); err != nil {
					b.Fatal(err)
				}
				if err := json.Unmarshal(all["anthropic"], &p); err != nil || len(p.Models) == 0 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(plain)), "plain-bytes")
			b.ReportMetric(float64(len(packed)), "packed-bytes")
		})
	}
}

func embeddedJSON(b *testing.B) (plain, packed []byte) {
	all := map[string]*Provider{}
	for _, info := range Embedded().Providers() {
		p, err := Embedded().Provider(info.ID)
		if err != nil {
			b.Fatal(err)
		}
		all[info.ID] = p
	}
	plain, err := json.Marshal(all)
	if err != nil {
		b.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestCompression)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return plain, buf.Bytes()
}

func unpack(b *testing.B, packed []byte) []byte {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		b.Fatal(err)
	}
	return plain
}
