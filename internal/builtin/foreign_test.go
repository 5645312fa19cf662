package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tool"
)

// Calls as models learned them from other agents are understood: what comes out is
// what the tool's schema asks for.
func TestForeignCalls(t *testing.T) {
	r := newRig(t)
	tests := []struct{ name, in, want string }{
		{"read", `{"file_path":"a.go"}`, `{"filePath":"a.go"}`},
		{"read", `{"path":"a.go","start_line":10,"end_line":20}`, `{"filePath":"a.go","limit":11,"offset":10}`},
		{"read", `"a.go"`, `{"filePath":"a.go"}`},
		{"Read", `{"filePath":"a.go","pages":"1","explanation":"look"}`, `{"filePath":"a.go"}`},
		{"write", `{"file_path":"a","contents":"x"}`, `{"content":"x","filePath":"a"}`},
		{"edit", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":"true"}`, `{"filePath":"a","newString":"y","oldString":"x","replaceAll":true}`},
		{"edit", `{"path":"a","old_str":"x","new_str":"y"}`, `{"filePath":"a","newString":"y","oldString":"x"}`},
		{"edit", `{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, `{"filePath":"a","newString":"y","oldString":"x"}`},
		{"edit", `{"filePath":"a","path":"b","oldString":"x","newString":"y"}`, `{"filePath":"a","newString":"y","oldString":"x"}`},
		{"multiedit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y","why":"z"}]}`, `{"edits":[{"newString":"y","oldString":"x"}],"filePath":"a"}`},
		{"bash", `{"cmd":"ls","cwd":"sub"}`, `{"command":"ls","workdir":"sub"}`},
		{"bash", `{"input":"ls -l"}`, `{"command":"ls -l"}`},
		{"bash", `ls -l`, `{"command":"ls -l"}`},
		{"bash", `{"command":["bash","-lc","ls | wc"],"timeout_ms":"500"}`, `{"command":"ls | wc","timeout":500}`},
		{"bash", `{"command":["grep","it's","a b"],"timeout_sec":2}`, `{"command":"grep 'it'\\''s' 'a b'","timeout":2000}`},
		{"bash", `{"command":"ls","run_in_background":false,"shell":"bash"}`, `{"command":"ls"}`},
		{"grep", `{"query":"x","-i":true,"glob":"*.go","head_limit":5}`, `{"include":"*.go","pattern":"(?i)x"}`},
		{"glob", `{"glob_pattern":"**/*.go","directory":"src"}`, `{"path":"src","pattern":"**/*.go"}`},
		{"list", `{"directory":"src"}`, `{"path":"src"}`},
		{"todowrite", `{"todos":["one",{"text":"two","status":"done"},{"content":"three","state":"in-progress","id":3}]}`,
			`{"todos":[{"content":"one","priority":"medium","status":"pending"},{"content":"two","priority":"medium","status":"completed"},{"content":"three","id":"3","priority":"medium","status":"in_progress"}]}`},
		{"read", `{"filePath": "a.go"}`, `{"filePath": "a.go"}`}, // as it stands
	}
	for _, tt := range tests {
		name, _, input := r.tools.Resolve(tt.name, tt.in)
		got, err := r.tools.Check(name, input)
		if err != nil {
			t.Errorf("%s %s: %v", tt.name, tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.name, tt.in, diff)
		}
		if again, err := r.tools.Check(name, got); err != nil || string(again) != string(got) {
			t.Errorf("%s: checked again: %s, %v", tt.name, again, err)
		}
	}
	env := r.env
	env.Patch = true
	patch := "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
	tools := tool.NewRegistry(New(env)...)
	for _, in := range []string{patch, `{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`, `{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"]}`} {
		for _, name := range []string{"apply_patch", "patch"} {
			got, _, input := tools.Resolve(name, in)
			if input, err := tools.Check(got, input); got != "apply_patch" || err != nil || !strings.Contains(string(input), `{"patchText":"*** Begin`) {
				t.Errorf("%s: %s %s, %v", in, got, input, err)
			}
		}
	}
	got, _, input := tools.Resolve("bash", `{"command":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF"}`)
	want, _ := json.Marshal(map[string]string{"patchText": patch})
	if got != "apply_patch" || string(input) != string(want) {
		t.Errorf("apply_patch through bash: %s %s", got, input)
	}
}

// What would change the meaning is not ignored, and what is missing is named first.
func TestForeignCallsRefused(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct{ name, in, want string }{
		{"bash", `{"command":"serve","stdin":"x"}`, "stdin cannot be carried out: commands get no input; put it into the command (a here-document)"},
		{"write", `{"filePath":"a","content":"x","append":true}`, "append cannot be carried out: write replaces the whole file"},
		{"edit", `{"file":"a","text":"x"}`, "oldString, newString is missing: edit needs filePath, oldString, newString; you gave filePath"},
		{"edit", `{}`, "filePath, oldString, newString is missing: edit needs filePath, oldString, newString; you gave nothing"},
		{"read", `{"file_path":"a","offset":"x","limit":"y"}`, "offset"},
	} {
		name, _, input := r.tools.Resolve(tt.name, tt.in)
		if _, err := r.tools.Check(name, input); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: got %v", tt.name, tt.in, err)
		}
	}
}

// A subagent is found whatever the case of its name.
func TestSubagentNames(t *testing.T) {
	e := sessionTools{Abilities: Abilities{Subagents: func() []Subagent { return []Subagent{{Name: "explore"}, {Name: "General-Purpose"}} }}}
	for name, want := range map[string]string{"explore": "explore", "Explore": "explore", "general_purpose": "General-Purpose", "none": ""} {
		got, err := e.subagent(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzForeignCalls(f *testing.F) {
	tools := tool.NewRegistry(New(Env{})...)
	f.Add("edit", `{"edits":[{"old_str":1}],"path":null}`)
	f.Add("todowrite", `{"todos":[1,"a",{"status":3}]}`)
	f.Add("bash", `{"command":["a",1]}`)
	f.Fuzz(func(t *testing.T, name, input string) {
		name, tl, raw := tools.Resolve(name, input)
		if tl == nil {
			return
		}
		out, err := tools.Check(name, raw)
		if err != nil {
			return
		}
		again, err := tools.Check(name, out)
		if err != nil || string(again) != string(out) {
			t.Errorf("%s %s: %s, then %s, %v", name, input, out, again, err)
		}
	})
}
