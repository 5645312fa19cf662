package jsonc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseKeepsOrderAndPlaces(t *testing.T) {
	v, err := Parse("c.json", []byte("\ufeff{\n  // why\n  \"b\": 1, /* x */ \"a\": [true, null,],\n  \"b\": \"last\",\n} // end"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.Members {
		got = append(got, fmt.Sprintf("%s=%s at %s", m.Key, m.Value.Append(nil), m.Value.Pos()))
	}
	want := []string{`b="last" at c.json:4:8`, `a=[true,null] at c.json:3:24`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "f:1:1: the text ends before the value is complete"},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", "f:3:3: invalid character '\"' after object value (expecting ',' or '}')\n      \"b\": 2\n      ^"},
		{"{\"a\": tru}", "f:1:7: not a JSON value\n    {\"a\": tru}\n          ^"},
		{"{\"a\": [1, 2", "f:1:12: the text ends before the value is complete\n    {\"a\": [1, 2\n               ^"},
		{"{\"apiKey\": sk-abc}", "f:1:12: not a JSON value"},
		{strings.Repeat("[", 200), "f:1:129: nested more than 128 deep"},
	} {
		_, err := Parse("f", []byte(tt.in))
		var se *SyntaxError
		if !errors.As(err, &se) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Parse(%.40q): %v\nwant %s", tt.in, err, tt.want)
		}
	}
}

func TestExpand(t *testing.T) {
	src := NewSource("f", []byte(`{"a": "x{env:A}y", // {env:A}
 "n": {env:N}, "s": {env:A}, "z": nope{env:}`+"\n}"))
	out, err := src.Expand([]string{"env"}, func(_, arg string, _ Pos) (string, error) {
		return map[string]string{"A": "q\"\n", "N": "42"}[arg], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a": "xq\"\ny", // {env:A}` + "\n" + ` "n": 42, "s": "q\"\n", "z": nope""` + "\n}"
	if diff := cmp.Diff(want, string(out.text)); diff != "" {
		t.Error(diff)
	}
	_, err = out.Parse()
	if want := "f:2:35: not a JSON value"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEdit(t *testing.T) {
	const text = "{\n  // the model\n  \"model\": \"a/b\", // mine\n  \"agent\": {\n    \"build\": {\"steps\": 3} // few\n  }\n}\n"
	for _, tt := range []struct {
		name, in, path, value, want string
	}{
		{"replace", text, "model", `"c/d"`, strings.Replace(text, "a/b", "c/d", 1)},
		{"append", text, "share", `"auto"`, strings.Replace(text, "  }\n}\n", "  },\n  \"share\": \"auto\"\n}\n", 1)},
		{"append beside a comment", text, "agent.plan", `{"steps": 1}`,
			strings.Replace(text, "3} // few\n", "3}, // few\n    \"plan\": {\n      \"steps\": 1\n    }\n", 1)},
		{"make objects", "", "a.b", `[1,2]`, "{\n  \"a\": {\n    \"b\": [1, 2]\n  }\n}\n"},
		{"one line", `{"a": 1}`, "b", `2`, `{"a": 1, "b": 2}`},
		{"trailing comma", "{\n\t\"a\": 1,\n}", "b", `2`, "{\n\t\"a\": 1,\n\t\"b\": 2,\n}"},
		{"delete", text, "model", "", "{\n  \"agent\": {\n    \"build\": {\"steps\": 3} // few\n  }\n}\n"},
		{"delete deep", text, "agent.build.steps", "", strings.Replace(text, "{\"steps\": 3}", "{}", 1)},
		{"delete nothing", text, "agent.no.way", "", text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := strings.Split(tt.path, ".")
			got, err := Set([]byte(tt.in), path, json.RawMessage(tt.value))
			if tt.value == "" {
				got, err = Delete([]byte(tt.in), path)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Set([]byte(`{"a": 1}`), []string{"a", "b"}, json.RawMessage("1")); err == nil {
		t.Error("set below a number worked")
	}
}

// A value that was set is read back, and the other keys are as before.
func TestSetReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-z/~ "]{1,6}`)
		text := []byte("{}")
		want := map[string]any{}
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			k := key.Draw(t, "key")
			var err error
			if rapid.Bool().Draw(t, "delete") {
				text, err = Delete(text, []string{k})
				delete(want, k)
			} else {
				s := rapid.String().Draw(t, "value")
				raw, _ := json.Marshal(s)
				text, err = Set(text, []string{k}, raw)
				want[k] = s
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		v, err := Parse("t", text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if diff := cmp.Diff(want, v.Any()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{}", "{\"a\":[1,2,{\"b\":null}],}", "// x", "{\"a\":{env:B}}", "\"\\ud800\"", "[[[[", "{\"a\" /*x*/ : /*y*/ 1 /*z*/}", "1e999", "{\"k\":\"{file:~/x}\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := NewSource("f", text).Expand([]string{"env", "file"}, func(_, arg string, _ Pos) (string, error) { return arg + "\"", nil })
		if err != nil {
			t.Fatal(err)
		}
		v, err := src.Parse()
		if err != nil {
			_ = err.Error()
			return
		}
		out := v.Append(nil)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", text, out)
		}
		again, err := Parse("g", out)
		if err != nil || string(again.Append(nil)) != string(out) {
			t.Fatalf("%q read again: %v", out, err)
		}
		_ = v.Any()
		if v.Kind == Object {
			set, err := Set(text, []string{"k", "x"}, json.RawMessage(`{"y":[1]}`))
			if err != nil {
				return
			}
			if w, err := Parse("h", set); err != nil || w.Path("k", "x", "y") == nil {
				t.Fatalf("set in %q gave %q: %v", text, set, err)
			}
		}
	})
}
