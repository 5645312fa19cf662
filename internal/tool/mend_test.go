package tool

import (
	"context"
	"encoding/json"
	"testing"
)

func TestMended(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a":1}`, `{"a":1}`},
		{`{"a":1,}`, `{"a":1}`},
		{"{\"a\":[1, 2,\n],\n}", "{\"a\":[1, 2\n]\n}"},
		{"{\"a\":\"x\ny\tz,}\"}", `{"a":"x\ny\tz,}"}`},
		{"{\"a\":\"ä\r\nö\x01\"}", `{"a":"ä\r\nö\u0001"}`},
		{`{"a":"\s+\d \\ \" \n"}`, `{"a":"\\s+\\d \\ \" \n"}`},
		{"```json\n{\"a\":1}\n```", `{"a":1}`},
		{"```\n{\"a\":\"```\"}\n```", "{\"a\":\"```\"}"},
		{`{"a":"x`, `{"a":"x`}, // cut off: never completed
		{`{"a":"x",`, `{"a":"x",`},
		{`{'a':'x'}`, `{'a':'x'}`},
		{`ls -l`, `ls -l`},
	} {
		if got := mended(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestCalled holds that a call is understood under the names that models bring along.
func TestCalled(t *testing.T) {
	r := NewRegistry(named("bash"), named("read"), named("edit"), named("write"), named("srv_run.all"))
	for _, tt := range []struct{ name, raw, want string }{
		{"functions.bash", `{}`, "bash"}, {"default_api:Read", `{}`, "read"}, {"container.exec", `{}`, "bash"}, {"srv_run.all", `{}`, "srv_run.all"},
		{"str_replace_based_edit_tool", `{"command":"view"}`, "read"}, {"str_replace_editor", `{"command":"create"}`, "write"},
		{"str_replace_based_edit_tool", `{"command":"str_replace"}`, "edit"}, {"str_replace_based_edit_tool", `{`, "edit"},
		{"functions.nothing", `{}`, ""}, {"nothing", `{}`, ""}, {".", `{}`, ""},
	} {
		if got, ok := r.called(tt.name, tt.raw); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s %s: %q, %v, want %q", tt.name, tt.raw, got, ok, tt.want)
		}
	}
}

type named string

func (n named) Spec() Spec {
	return Spec{Name: string(n), Schema: json.RawMessage(`{"type":"object"}`)}
}

func (named) Run(context.Context, *Call) (Result, error) { return Result{}, nil }

// FuzzMended holds that what is mended is JSON, and that JSON stays as it is.
func FuzzMended(f *testing.F) {
	for _, s := range []string{`{"a":1,}`, "{\"a\":\"\n\\s\"}", "```json\n{}\n```", `{"a":"\`, `{"\u12":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := mended(raw)
		if got != raw && (!json.Valid([]byte(got)) || json.Valid([]byte(raw))) {
			t.Errorf("%q became %q", raw, got)
		}
	})
}
