package tool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const readSchema = `{"type":"object","properties":{
	"filePath":{"type":"string"},"offset":{"type":"integer","minimum":1},"all":{"type":"boolean"},
	"items":{"type":"array","items":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}},
	"kind":{"type":["string","null"]},"mode":{"enum":["a","b"]}},
	"required":["filePath"],"additionalProperties":false}`

func TestFix(t *testing.T) {
	s := NewSchema(json.RawMessage(readSchema))
	tests := []struct{ name, in, want, err string }{
		{"as it stands", ` {"filePath": "a"} `, ` {"filePath": "a"} `, ""},
		{"number as text", `{"filePath":"a","offset":"12"}`, `{"filePath":"a","offset":12}`, ""},
		{"boolean as text", `{"filePath":"a","all":" true "}`, `{"all":true,"filePath":"a"}`, ""},
		{"object as text", `"{\"filePath\":\"<a>\"}"`, `{"filePath":"<a>"}`, ""},
		{"array of one object", `[{"filePath":"a"}]`, `{"filePath":"a"}`, ""},
		{"null optional", `{"filePath":"a","offset":null}`, `{"filePath":"a"}`, ""},
		{"null that may be meant", `{"filePath":"a","kind":null}`, `{"filePath":"a","kind":null}`, ""},
		{"array as text, numbers inside", `{"filePath":"a","items":"[{\"n\":\"1.5\"}]"}`, `{"filePath":"a","items":[{"n":1.5}]}`, ""},
		{"text that looks like a number stays", `{"filePath":"12"}`, `{"filePath":"12"}`, ""},
		{"long integers keep their digits", `{"filePath":"a","offset":"9007199254740993"}`, `{"filePath":"a","offset":9007199254740993}`, ""},
		{"whole number with a fraction", `{"filePath":"a","offset":12.0}`, `{"filePath":"a","offset":12}`, ""},
		{"whole number as text with a fraction", `{"filePath":"a","offset":"1e3"}`, `{"filePath":"a","offset":1000}`, ""},
		{"real fraction", `{"filePath":"a","offset":1.5}`, "", "offset"},
		{"missing", `{}`, "", "filePath"},
		{"nothing at all", ``, "", "filePath"},
		{"null required", `{"filePath":null}`, "", "filePath"},
		{"wrong type", `{"filePath":["a"]}`, "", "filePath"},
		{"not a number", `{"filePath":"a","offset":"twelve"}`, "", "offset"},
		{"out of range", `{"filePath":"a","offset":0}`, "", "offset"},
		{"unknown property", `{"filePath":"a","path":"b"}`, "", "path"},
		{"not in the list", `{"filePath":"a","mode":"c"}`, "", "mode"},
		{"not an object", `[1,2]`, "", "not a JSON object"},
		{"not JSON", `{"filePath":`, "", "not JSON"},
		{"two values", `{"filePath":"a"} {}`, "", "something follows"},
		{"NaN", `{"filePath":"a","offset":"NaN"}`, "", "offset"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Fix(json.RawMessage(tt.in))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one about %q", err, tt.err)
				}
				if strings.Contains(err.Error(), "validating") {
					t.Errorf("the validator's words are left in: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("fixed input (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the validator meets first, all that is wrong is told, in one order.
func TestFixTellsEveryProblem(t *testing.T) {
	s := NewSchema(json.RawMessage(readSchema))
	for range 20 {
		_, err := s.Fix(json.RawMessage(`{"filePath":"a","offset":"x","mode":"c","other":1}`))
		if err == nil {
			t.Fatal("no error")
		}
		at := -1
		for _, name := range []string{"mode", "offset", "other"} {
			next := strings.Index(err.Error(), name)
			if next <= at {
				t.Fatalf("%s is missing or out of order: %v", name, err)
			}
			at = next
		}
	}
}

func TestFixForeignSchema(t *testing.T) {
	s := NewSchema(json.RawMessage(`{"$schema":"http://example.com/odd","type":"object","properties":{"a":{"$ref":"http://nowhere/x"}}}`))
	if s.Err() == nil {
		t.Fatal("the schema compiled")
	}
	if _, err := s.Fix(json.RawMessage(`{"a":1}`)); err != nil {
		t.Errorf("an object is refused: %v", err)
	}
	if _, err := s.Fix(json.RawMessage(`3`)); err == nil {
		t.Error("a number is accepted")
	}
}

// A reference that leads back to itself would be followed until the stack is full.
func TestFixReferences(t *testing.T) {
	tests := []struct {
		schema   string
		compiles bool
	}{
		{`{"$ref":"#"}`, false},
		{`{"$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, false},
		{`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, false},
		{`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, false},
		{`{"properties":{"x":{"$id":"y","$ref":"#"}}}`, false},
		{`{"$ref":"#/properties/x","properties":{"x":{"$ref":"#"}}}`, false},
		{`{"type":"object","$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"}}}},"properties":{"list":{"$ref":"#/$defs/node"}}}`, true},
		{`{"type":"object","definitions":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/n"},"b":{"$ref":"#/definitions/n"}}}`, true},
	}
	for _, tt := range tests {
		s := NewSchema(json.RawMessage(tt.schema))
		if got := s.Err() == nil; got != tt.compiles {
			t.Errorf("%s compiles: %v, %v", tt.schema, got, s.Err())
		}
		if _, err := s.Fix(json.RawMessage(`{"list":{"next":{"next":{}}}}`)); err != nil {
			t.Errorf("%s: %v", tt.schema, err)
		}
	}
}

func TestReasonIsBounded(t *testing.T) {
	in := `{"filePath":["` + strings.Repeat("é", 100_000) + `"]}`
	err := Check(json.RawMessage(readSchema), json.RawMessage(in))
	if err == nil || len(err.Error()) > maxReason+10 {
		t.Errorf("reason of %d bytes", len(err.Error()))
	}
}

func FuzzFix(f *testing.F) {
	for _, s := range []string{`{"filePath":"a","offset":"1"}`, `"{\"filePath\":\"\"}"`, `[{"items":"[{}]"}]`, `{"a":{"b":[[[]]]}}`, `{"filePath":"\ud800"}`} {
		f.Add(readSchema, s)
	}
	f.Add(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer"}}}}}`, `{"a":"{\"b\":\"3\"}"}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/a"}}}},"allOf":[{"$ref":"#/$defs/a"}]}`, `{"b":{"b":{}}}`)
	f.Fuzz(func(t *testing.T, schema, input string) {
		s := NewSchema(json.RawMessage(schema))
		out, err := s.Fix(json.RawMessage(input))
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("not JSON: %q", out)
		}
		again, err := s.Fix(out)
		if err != nil {
			t.Fatalf("a fixed input is refused: %v\n%s", err, out)
		}
		if string(again) != string(out) {
			t.Fatalf("fixing twice differs:\n%s\n%s", out, again)
		}
	})
}

func TestRegistry(t *testing.T) {
	r := NewRegistry(stub("invalid", "1"), stub("read", "1"), stub("bash", "1"), stub("read", "2"))
	var names []string
	for _, s := range r.Specs() {
		names = append(names, s.Name+s.Description)
	}
	if diff := cmp.Diff([]string{"read2", "bash1"}, names); diff != "" {
		t.Errorf("offered tools (-want +got):\n%s", diff)
	}
	tests := []struct{ name, raw, tool, input string }{
		{"read", `{"filePath":"a"}`, "read", `{"filePath":"a"}`},
		{"Read", ``, "read", `{}`},
		{" BASH ", `{}`, "bash", `{}`},
		{"nope", `{}`, "invalid", `{"tool":"nope","error":"there is no tool \"nope\"; the tools are: bash, read"}`},
		{"read", `{"filePath`, "invalid", `{"tool":"read","error":"the arguments are not JSON: unexpected EOF"}`},
	}
	for _, tt := range tests {
		name, tool, input := r.Resolve(tt.name, tt.raw)
		got := []string{name, tool.Spec().Name, string(input)}
		if diff := cmp.Diff([]string{tt.tool, tt.tool, tt.input}, got); diff != "" {
			t.Errorf("resolve %q (-want +got):\n%s", tt.name, diff)
		}
	}
	_, err := r.Check("read", json.RawMessage(`{}`))
	if _, ok := errors.AsType[*ArgumentError](err); !ok || !strings.HasPrefix(err.Error(), "The read tool was called with invalid arguments: ") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkFix(b *testing.B) {
	s := NewSchema(json.RawMessage(readSchema))
	in := json.RawMessage(`{"filePath":"/a/b/c.go","offset":12}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Fix(in); err != nil {
			b.Fatal(err)
		}
	}
}
