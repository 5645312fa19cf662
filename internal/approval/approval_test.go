package approval

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// wired returns an ask as it comes over the wire: lists have lost their type.
func wired(t *testing.T, a lathe.Ask) lathe.Ask {
	t.Helper()
	raw, err := json.Marshal(a.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	a.Metadata = nil
	if err := json.Unmarshal(raw, &a.Metadata); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFacts(t *testing.T) {
	type meta = map[string]any
	for name, tt := range map[string]struct {
		ask  lathe.Ask
		want []Fact
	}{
		"a command": {lathe.Ask{Permission: "bash", Patterns: []string{"ls"}, Metadata: meta{"command": "ls", "description": "Look"}},
			[]Fact{{Purpose, "", "Look"}, {Command, "", "ls"}}},
		"a command of several": {lathe.Ask{Permission: "bash", Patterns: []string{"a", "b"}, Metadata: meta{"command": "a; b", "reasons": []string{"it is dynamic"}, "also": []any{
			meta{"permission": "external_directory", "patterns": []string{"/tmp/*"}, "always": []string{"/tmp/*"}}, meta{"permission": "edit", "patterns": []string{"x", "y"}}}}},
			[]Fact{{Command, "", "a; b"}, {Careful, "since", "it is dynamic"}, {Step, "1", "a"}, {Step, "2", "b"},
				{Also, "also for", "using anything in /tmp, outside the project"}, {Also, "also for", "changes of x"}, {Also, "also for", "changes of y"}}},
		"a command that is known only when it runs": {lathe.Ask{Permission: "bash", Patterns: []string{"cat y", "<dynamic: $X a>", "$X a"}, Metadata: meta{"command": "X=$(cat y); $X a", "also": []any{
			meta{"permission": "read", "patterns": []string{"<dynamic: $f*>"}}}}},
			[]Fact{{Command, "", "X=$(cat y); $X a"}, {Step, "1", "cat y"}, {Step, "2", "$X a"}, {Also, "also for", "reading whatever $f* names"}}},
		"a file that is known only when it runs": {lathe.Ask{Permission: "edit", Patterns: []string{"a", "<dynamic: $f>"}, Metadata: meta{"command": "tee a $f"}},
			[]Fact{{Command, "", "tee a $f"}, {Subject, "", "a, whatever $f names"}}},
		"a command outside": {lathe.Ask{Permission: "external_directory", Patterns: []string{"/tmp/*", "/*"}, Metadata: meta{"command": "ls /tmp"}},
			[]Fact{{Command, "", "ls /tmp"}, {Subject, "outside the project", "/tmp, /"}}},
		"a file outside": {lathe.Ask{Permission: "external_directory", Patterns: []string{"/tmp/*"}, Metadata: meta{"tool": "write", "filepath": "/tmp/x", "content": "one\ntwo"}},
			[]Fact{{Subject, "tool", "write"}, {Subject, "outside the project", "/tmp/x"}, {Content, "writes", "one\ntwo"}}},
		"a tool of a server": {lathe.Ask{Permission: "docs_find", Patterns: []string{"*"}, Metadata: meta{"server": "docs", "tool": "find", "hints": "only reads, it says", "arguments": `{"q":"x"}`, "reason": "it changed"}},
			[]Fact{{Subject, "tool", "find"}, {Subject, "MCP server", "docs"}, {Subject, "which claims of it", "only reads, it says"}, {Subject, "", "*"},
				{Careful, "careful", "it changed"}, {Content, "with", `{"q":"x"}`}}},
		"a change": {lathe.Ask{Permission: "edit", Patterns: []string{"a.go"}, Metadata: meta{"diff": "+x", "reason": "it configures lathe"}},
			[]Fact{{Subject, "", "a.go"}, {Careful, "careful", "it configures lathe"}, {Diff, "", "+x"}}},
	} {
		for _, a := range []lathe.Ask{tt.ask, wired(t, tt.ask)} {
			if diff := cmp.Diff(tt.want, Facts(a)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestOffers holds what can be allowed from then on, and that everything never is.
func TestOffers(t *testing.T) {
	type offer struct {
		Words []string
		Reply lathe.Reply
	}
	always := func(patterns ...string) lathe.Reply {
		return lathe.Reply{Kind: lathe.Always, Project: true, Patterns: patterns}
	}
	for name, tt := range map[string]struct {
		ask  lathe.Ask
		want []offer
	}{
		"commands": {lathe.Ask{Permission: "bash", Patterns: []string{"go test ./..."}, Always: []string{"go test *", "ls"}},
			[]offer{{[]string{`commands that begin with "go test"`, `the command "ls"`}, always("go test *", "ls")}}},
		"a file": {lathe.Ask{Permission: "edit", Patterns: []string{"src/a*.go", "src/b.go"}, Always: []string{"*"}},
			[]offer{{[]string{"changes of src/a*.go", "changes of src/b.go"}, always("src/a[*].go", "src/b.go")}, {[]string{"changes of anything in src"}, always("src/*")}}},
		"a file at the top": {lathe.Ask{Permission: "edit", Patterns: []string{"go.mod"}, Always: []string{"*"}}, []offer{{[]string{"changes of go.mod"}, always("go.mod")}}},
		"more than a command": {wired(t, lathe.Ask{Permission: "bash", Patterns: []string{"rm x"}, Always: []string{"rm *"}, Metadata: map[string]any{"also": []any{
			map[string]any{"permission": "edit", "patterns": []string{"x"}, "always": []string{"*"}}}}}),
			[]offer{{[]string{`commands that begin with "rm"`, "changes of x"}, always("rm *")}}},
		"a tool":              {lathe.Ask{Permission: "notes_add", Patterns: []string{"*"}, Always: []string{"*"}}, []offer{{[]string{"every use of notes_add"}, always("*")}}},
		"the root":            {lathe.Ask{Permission: "external_directory", Patterns: []string{"/*"}, Always: []string{"/*"}}, nil},
		"nothing to remember": {lathe.Ask{Permission: "bash", Patterns: []string{"<dynamic: $x>"}}, nil},
		"what is protected":   {lathe.Ask{Permission: "edit", Patterns: []string{"a/b"}, Always: []string{"*"}, Metadata: map[string]any{"protected": true}}, nil},
	} {
		var got []offer
		for _, o := range Offers(tt.ask) {
			got = append(got, offer{o.Words(), o.Reply(true)})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	o := Offers(lathe.Ask{Permission: "bash", Patterns: []string{"it's"}, Always: []string{"it's *"}})[0]
	if got, want := o.Revoke(), `lathe permissions revoke 'bash:it'\''s *'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := o.Granted(false), `allowed until lathe ends: commands that begin with "it's"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	shared := Offers(lathe.Ask{Permission: "edit", Patterns: []string{"a/b"}, Always: []string{"*"}, Metadata: map[string]any{"shared": true}})
	for _, o := range shared {
		if got, want := []string{o.Where(false), o.Where(true)}, []string{"for 24 hours, at all servers", "in this project, for good"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(shared) != 2 {
		t.Errorf("%d offers", len(shared))
	}
}

func TestCheck(t *testing.T) {
	if Check(nil) == "" || Check([]string{"a", "**"}) == "" || Check([]string{"a *", "src/*"}) != "" {
		t.Error("patterns are not checked")
	}
}

// FuzzWords holds that what is said of a pattern names what it is about.
func FuzzWords(f *testing.F) {
	f.Add("bash", "git *")
	f.Add("edit", "[*]/*")
	f.Fuzz(func(t *testing.T, permission, pattern string) {
		if got := Words(permission, pattern); got == "" || strings.Contains(got, "%!") && !strings.Contains(permission+pattern, "%!") {
			t.Errorf("%q %q: %q", permission, pattern, got)
		}
	})
}
