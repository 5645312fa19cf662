package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func fullEnv(e *Env) {
	e.Jobs = &Jobs{}
	e.Ask = func(context.Context, *tool.Call, []lathe.Question) ([][]string, error) {
		return [][]string{{"Yes"}}, nil
	}
	e.Call = func(_ context.Context, _ *tool.Call, name string, _ json.RawMessage) (tool.Result, error) {
		return tool.Result{Output: name}, nil
	}
	e.SwitchAgent = func(context.Context, *tool.Call, string) error { return nil }
	e.Skills = func(context.Context) ([]Skill, error) { return nil, nil }
	e.Search = &SearchService{}
}

// The model's view of the tools; a change of one byte costs every session its cache.
func TestSpecs(t *testing.T) {
	var b strings.Builder
	show := func(change ...func(*Env)) {
		r := newRig(t, change...)
		for _, tl := range r.tools.Tools() {
			s := tl.Spec()
			fmt.Fprintf(&b, "# %s permission=%q readonly=%v path=%q\n%s\n%s\n\n", s.Name, s.Permission, s.ReadOnly, s.PathArg, s.Description, s.Schema)
			if err := tool.NewSchema(s.Schema).Err(); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	show(fullEnv)
	b.WriteString("## with Patch\n\n")
	show(func(e *Env) { e.Patch = true })
	golden := filepath.Join("testdata", "specs.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("specs (-want +got), rewrite with -update:\n%s", diff)
	}
}

func TestGlob(t *testing.T) {
	r := newRig(t)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a.go", "sub/b.go", ".hidden/c.go", "ignored/d.go", "e.txt"} {
		if err := os.Chtimes(r.put(name, "x"), old, old); err != nil {
			t.Fatal(err)
		}
		old = old.Add(time.Minute)
	}
	r.put(".gitignore", "ignored/\n")
	res := r.ok("glob", m{"pattern": "**/*.go"})
	want := tool.Result{Title: ".", Output: strings.Join([]string{r.path(".hidden/c.go"), r.path("sub/b.go"), r.path("a.go")}, "\n"),
		Metadata: m{"count": 3, "truncated": false}}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if out := r.ok("glob", m{"pattern": r.path("sub") + "/*.go"}).Output; out != r.path("sub/b.go") {
		t.Errorf("absolute pattern: %s", out)
	}
	if out := r.ok("glob", m{"pattern": "*.rs", "path": "sub"}).Output; out != "No files found" {
		t.Errorf("nothing: %s", out)
	}
	r.fails("glob", m{"pattern": "*", "path": "a.go"}, "is not a directory")
	r.fails("glob", m{"pattern": "[", "path": "sub"}, "malformed glob")
	r.fails("glob", m{"pattern": ""}, "pattern is required")
	for i := range 120 {
		r.put(fmt.Sprintf("many/%03d.x", i), "")
	}
	res = r.ok("glob", m{"pattern": "*.x"})
	if res.Metadata["count"] != 100 || res.Metadata["truncated"] != true || !strings.Contains(res.Output, "\n\n(Only the newest 100 of 120 files") {
		t.Errorf("metadata %v, output ends %q", res.Metadata, res.Output[len(res.Output)-90:])
	}
	r.asked()
	r.ok("glob", m{"pattern": "*", "path": ".."})
	parent := filepath.Dir(r.dir)
	if diff := cmp.Diff([]string{"glob *", fmt.Sprintf("external_directory %s/* [%q]", parent, parent+"/*")}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
}

func TestGrep(t *testing.T) {
	r := newRig(t)
	now := time.Now()
	a, b := r.put("a.go", "x\nfoo(1)\n\nfoo(2)\n"), r.put("b.txt", "foo "+strings.Repeat("y", 3000)+"\n")
	for i, path := range []string{b, a} {
		at := now.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	r.put(".env", "foo=secret\n")
	r.put("bin", "foo\x00\n")
	res := r.ok("grep", m{"pattern": `foo\(`})
	want := "Found 2 matches\n" + a + ":\n  Line 2: foo(1)\n  Line 4: foo(2)\n\n(1 file was not searched: reading such files, as .env, is denied or asked about. Use read if you must.)"
	if diff := cmp.Diff(want, res.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	res = r.ok("grep", m{"pattern": `foo`})
	if strings.Contains(res.Output, "foo=secret") || !strings.Contains(res.Output, "(1 file was not searched: ") ||
		!strings.Contains(res.Output, "\n\n"+b+":\n  Line 1: foo ") || !strings.Contains(res.Output, "y...") || res.Metadata["matches"] != 3 {
		t.Errorf("metadata %v, output\n%s", res.Metadata, res.Output[len(res.Output)-200:])
	}
	r.asked()
	if out := r.ok("grep", m{"pattern": "foo", "path": ".env"}).Output; !strings.Contains(out, "Line 1: foo=secret") {
		t.Errorf("named file:\n%s", out)
	}
	if diff := cmp.Diff([]string{"grep foo", "read .env"}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	if out := r.ok("grep", m{"pattern": "foo", "include": "*.rs"}).Output; out != "No line matches" {
		t.Errorf("nothing: %s", out)
	}
	r.fails("grep", m{"pattern": "("}, "grep \"(\"")
	r.fails("grep", m{"pattern": ""}, "pattern is required")
	r.put("many", strings.Repeat("foo\n", 150))
	res = r.ok("grep", m{"pattern": "^foo$"})
	if !strings.HasPrefix(res.Output, "Found 100 matches (more matches available)\n") || res.Metadata["truncated"] != true {
		t.Errorf("metadata %v, output %.80q", res.Metadata, res.Output)
	}
}

func TestList(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"b.go", "a/x.go", "node_modules/y.js", "c/skip.log"} {
		r.put(name, "")
	}
	res := r.ok("list", m{"ignore": []string{"*.log"}})
	want := r.dir + "/\n  a/\n    x.go\n  b.go\n"
	if diff := cmp.Diff(want, res.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"list " + r.dir}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
}

func TestSearchesLeaveOutOwnData(t *testing.T) {
	r := newRig(t)
	if err := os.MkdirAll(r.env.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.env.DataDir, "auth.json"), []byte("sk-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"..", "~/"} {
		if out := r.ok("grep", m{"pattern": "sk-", "path": path}).Output; strings.Contains(out, "secret") {
			t.Errorf("grep in %s:\n%s", path, out)
		}
		if out := r.ok("glob", m{"pattern": "*.json", "path": path}).Output; strings.Contains(out, "auth") {
			t.Errorf("glob in %s:\n%s", path, out)
		}
	}
	r.fails("grep", m{"pattern": "sk-", "path": r.env.DataDir}, "belongs to lathe itself")
	r.fails("bash", m{"command": "cat '" + filepath.Join(r.env.DataDir, "auth.json") + "'"}, "belongs to lathe itself")
	r.fails("bash", m{"command": "echo x > '" + filepath.Join(r.env.DataDir, "db") + "'"}, "belongs to lathe itself")
	r.fails("bash", m{"command": "rm -rf '" + r.env.Home + "'"}, "belongs to lathe itself")
}

func TestTodos(t *testing.T) {
	r := newRig(t)
	res := r.ok("todowrite", m{"todos": []m{
		{"content": "a <b>", "status": "completed", "priority": "high"},
		{"content": "c", "status": "pending", "priority": "low", "id": "x"},
	}})
	want := `[
  {
    "content": "a <b>",
    "status": "completed",
    "priority": "high",
    "id": "1"
  },
  {
    "content": "c",
    "status": "pending",
    "priority": "low",
    "id": "x"
  }
]`
	if res.Output != "1 open." || res.Title != "1 todos" {
		t.Errorf("title %q, output %q", res.Title, res.Output)
	}
	todos := []lathe.Todo{{ID: "1", Content: "a <b>", Status: "completed", Priority: "high"}, {ID: "x", Content: "c", Status: "pending", Priority: "low"}}
	if diff := cmp.Diff(todos, r.todos["ses_1"]); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, r.ok("todoread", m{}).Output); diff != "" {
		t.Errorf("todoread (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"todowrite *", "todoread *"}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	// A list given as JSON text is a slip that is mended.
	r.ok("todowrite", m{"todos": `[{"content":"a","status":"pending","priority":"low"}]`})
}

func TestInvalid(t *testing.T) {
	r := newRig(t)
	name, tl, input := r.tools.Resolve("nope", "{}")
	call := r.call(nil)
	call.Input = input
	res, err := tl.Run(t.Context(), call)
	if err != nil || res.Failed || res.Title != "Invalid Tool" || name != "invalid" ||
		!strings.HasPrefix(res.Output, `The call was not understood: there is no tool "nope"`) {
		t.Errorf("%s: %+v, %v", name, res, err)
	}
}

func TestQuestion(t *testing.T) {
	var asked []lathe.Question
	now := time.Unix(0, 0)
	answers, failure := [][]string{{"a", "b"}, {}}, error(nil)
	r := newRig(t, func(e *Env) {
		e.Ask = func(_ context.Context, _ *tool.Call, q []lathe.Question) ([][]string, error) {
			asked = q
			now = now.Add(14 * time.Second)
			return answers, failure
		}
		e.Now = func() time.Time { return now }
	})
	in := m{"questions": []m{
		{"question": "Which?", "header": "W", "multiple": true, "options": []m{{"label": "a", "description": "A"}, {"label": "b", "description": "B"}}},
		{"question": "Sure?", "header": "S", "options": []m{}},
	}}
	res := r.ok("question", in)
	want := `User has answered your questions: "Which?"="a, b", "Sure?"="Unanswered". You can now continue with the user's answers in mind.`
	if diff := cmp.Diff(want, res.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if got := res.Metadata[lathe.MetaWaited]; got != int64(14_000) {
		t.Errorf("the call waited %v ms for the person", got)
	}
	wantAsked := []lathe.Question{
		{Text: "Which?", Header: "W", Multiple: true, Custom: true, Options: []lathe.QuestionOption{{Label: "a", Description: "A"}, {Label: "b", Description: "B"}}},
		{Text: "Sure?", Header: "S", Custom: true},
	}
	if diff := cmp.Diff(wantAsked, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	failure = errDenied
	if _, err := r.run("question", in); !errors.Is(err, errDenied) {
		t.Errorf("error %v, want the dismissal as it is", err)
	}
}

func TestPlan(t *testing.T) {
	answer, agent := "Yes", ""
	r := newRig(t, func(e *Env) {
		e.Ask = func(context.Context, *tool.Call, []lathe.Question) ([][]string, error) {
			return [][]string{{answer}}, nil
		}
		e.SwitchAgent = func(_ context.Context, _ *tool.Call, name string) error { agent = name; return nil }
	})
	r.ok("plan_exit", m{})
	if agent != "build" {
		t.Errorf("agent %q", agent)
	}
	r.ok("plan_enter", m{})
	if agent != "plan" {
		t.Errorf("agent %q", agent)
	}
	answer = "No"
	var rejected *permission.Rejected
	if _, err := r.run("plan_exit", m{}); !errors.As(err, &rejected) || err.Error() != "The user dismissed this question" {
		t.Errorf("a no gave %v, want a rejection", err)
	}
}

func TestBatch(t *testing.T) {
	r := newRig(t, func(e *Env) {
		e.Call = func(_ context.Context, _ *tool.Call, name string, in json.RawMessage) (tool.Result, error) {
			switch name {
			case "bad":
				return tool.Failf("went wrong"), nil
			case "denied":
				return tool.Result{}, errDenied
			}
			return tool.Result{Output: string(in), Attachments: []lathe.File{{Filename: name}}}, nil
		}
	})
	res := r.ok("batch", m{"tool_calls": []m{{"tool": "read", "parameters": m{"a": 1}}, {"tool": "glob", "parameters": m{}}}})
	if !strings.HasPrefix(res.Output, "All 2 tools executed successfully.") || len(res.Attachments) != 2 {
		t.Errorf("%+v", res)
	}
	calls := []m{{"tool": "bad", "parameters": m{}}, {"tool": "batch", "parameters": m{}}}
	for range 25 {
		calls = append(calls, m{"tool": "read", "parameters": m{}})
	}
	res = r.ok("batch", m{"tool_calls": calls})
	if !strings.HasPrefix(res.Output, "Executed 23/27 tools successfully. 4 failed.\n\n1. bad: went wrong\n2. batch: A batch cannot") ||
		!strings.Contains(res.Output, "Maximum of 25 tools allowed in batch") {
		t.Errorf("output:\n%s", res.Output)
	}
	if _, err := r.run("batch", m{"tool_calls": []m{{"tool": "denied", "parameters": m{}}}}); !errors.Is(err, errDenied) {
		t.Errorf("error %v", err)
	}
}

func TestSkill(t *testing.T) {
	var dir string
	r := newRig(t, func(e *Env) {
		e.Skills = func(context.Context) ([]Skill, error) {
			return []Skill{{Name: "pdf", Description: "d", Dir: dir, Body: "Do it so.\n"}}, nil
		}
	})
	r.put("s/SKILL.md", "x")
	file := r.put("s/run.sh", "x")
	dir = r.path("s")
	res := r.ok("skill", m{"name": "pdf"})
	want := "<skill_content name=\"pdf\">\n# Skill: pdf\n\nDo it so.\n\nBase directory of this skill: " + dir +
		"\nRelative paths in it start there. Not all of its files may be listed.\n\n<skill_files>\n<file>" + file + "</file>\n</skill_files>\n</skill_content>"
	if diff := cmp.Diff(want, res.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`skill pdf ["pdf"]`}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	r.fails("skill", m{"name": "x"}, `Skill "x" not found. Available skills: pdf`)
}

func BenchmarkGrep(b *testing.B) {
	r := newRig(b)
	for i := range 500 {
		r.put(fmt.Sprintf("d%d/f%d.go", i%20, i), strings.Repeat("some line of code here\n", 100))
	}
	r.put("needle.go", "the needle\n")
	b.ReportAllocs()
	for b.Loop() {
		r.ok("grep", m{"pattern": "the needle"})
		r.asks = r.asks[:0]
	}
}
