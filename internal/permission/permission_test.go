package permission

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tool"
)

func TestMatch(t *testing.T) {
	rows := []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true}, {"*", "a/b\nc", true}, {"", "", true}, {"", "a", false}, {"?", "", false}, {"?", "é", true},
		{"git *", "git", true}, {"git *", "git status", true}, {"git *", "gitx", false}, {"git*", "gitx", true},
		{"git status *", "git status", true}, {"git status *", "git status -s", true}, {"git status *", "git statusx", false},
		{"*.env", "a/.env", true}, {"*.env", ".env.local", false}, {"*.env.*", ".env.local", true}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"A", "a", false}, {"a.c", "abc", false}, {"a(b", "a(b", true}, {"*a*b", "xxaxxb", true}, {"*a*b", "ab!", false},
		{`c:\x\*`, "c:/x/y", true}, {"c:/x", `c:\x`, true},
		{"a[*]b", "a*b", true}, {"a[*]b", "axb", false}, {"a[?]", "a?", true}, {"a[?]", "ab", false}, {"[ *", "[ -f x ]", true}, {"[a]", "[a]", true},
		{"mcp_*", "mcp_a_b", true}, {" *", "", true},
	}
	for _, r := range rows {
		if got := Match(r.pattern, r.text); got != r.want {
			t.Errorf("Match(%q, %q) = %v", r.pattern, r.text, got)
		}
	}
}

// asRegexp is the reference: the same language by other means.
func asRegexp(pattern string) *regexp.Regexp {
	var out strings.Builder
	out.WriteString("(?s)^")
	body, optional := strings.CutSuffix(pattern, " *")
	for i := 0; i < len(body); {
		switch {
		case strings.HasPrefix(body[i:], "[*]"), strings.HasPrefix(body[i:], "[?]"):
			out.WriteString(`\` + body[i+1:i+2])
			i += 3
			continue
		case body[i] == '*':
			out.WriteString(".*")
		case body[i] == '?':
			out.WriteString(".")
		case body[i] == '\\':
			out.WriteString("/")
		default:
			out.WriteString(regexp.QuoteMeta(body[i : i+1]))
		}
		i++
	}
	if optional {
		out.WriteString("( .*)?")
	}
	return regexp.MustCompile(out.String() + "$")
}

func word(t *rapid.T, name string) string {
	return rapid.StringOfN(rapid.SampledFrom([]rune(`ab*? []/\.`)), 0, 12, -1).Draw(t, name)
}

func TestMatchIsTheLanguage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern, text := word(t, "pattern"), word(t, "text")
		want := asRegexp(pattern).MatchString(strings.ReplaceAll(text, `\`, "/"))
		if got := Match(pattern, text); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, text, got)
		}
	})
}

func TestLiteralMatchesOnlyItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, other := word(t, "text"), word(t, "other")
		slashes := strings.NewReplacer(`\`, "/")
		if strings.Contains(text, "[*]") || strings.Contains(text, "[?]") {
			return // "[*]" is itself made of "[", "*" and "]"
		}
		if !Match(Literal(text), text) {
			t.Fatalf("%q does not match itself", text)
		}
		if Match(Literal(text), other) && slashes.Replace(other) != slashes.Replace(text) {
			t.Fatalf("%q matches %q", Literal(text), other)
		}
	})
}

// TestUnderAgreesWithEvaluate: what is said of all texts with a prefix holds for each.
func TestUnderAgreesWithEvaluate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rules []lathe.Rule
		for range rapid.IntRange(0, 5).Draw(t, "rules") {
			rules = append(rules, lathe.Rule{Permission: "edit", Pattern: word(t, "pattern"),
				Action: rapid.SampledFrom([]lathe.Action{lathe.Allow, lathe.Deny, lathe.AskMe}).Draw(t, "action")})
		}
		prefix, rest := word(t, "prefix"), word(t, "rest")
		all := EvaluateUnder("edit", prefix, rules)
		if one := Evaluate("edit", prefix+rest, rules).Action; all != lathe.AskMe && one != all {
			t.Fatalf("under %q: %s, but %q: %s; rules %v", prefix, all, prefix+rest, one, rules)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("git *", "git status")
	f.Add(strings.Repeat("*a", 50), strings.Repeat("a", 200))
	f.Add("[*]\xff?", "*\xffé")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern)*len(text) > 1<<20 {
			return
		}
		got := Match(pattern, text)
		if got && !matchSome(pattern, text) {
			t.Errorf("%q matches %q, but nothing that begins so", pattern, text)
		}
		if matchAll(pattern, text) && !got {
			t.Errorf("%q matches all that begin with %q, but not that", pattern, text)
		}
	})
}

func TestEvaluate(t *testing.T) {
	user := []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}, {Permission: "bash", Pattern: "git *", Action: lathe.Allow}}
	rows := []struct {
		permission, pattern string
		want                lathe.Rule
	}{
		{"bash", "git status", user[1]},
		{"bash", "rm", user[0]},
		{"webfetch", "x", lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Allow}},
		{"read", "a/.env", lathe.Rule{Permission: "read", Pattern: "*.env", Action: lathe.AskMe}},
		{"read", ".env.example", lathe.Rule{Permission: "read", Pattern: "*.env.example", Action: lathe.Allow}},
		{"doom_loop", "bash", lathe.Rule{Permission: "doom_loop", Pattern: "*", Action: lathe.AskMe}},
		{"question", "x", lathe.Rule{Permission: "question", Pattern: "*", Action: lathe.Deny}},
		{"external_directory", "/out/x", lathe.Rule{Permission: "external_directory", Pattern: "/out/*", Action: lathe.Allow}},
		{"external_directory", "/etc/*", lathe.Rule{Permission: "external_directory", Pattern: "*", Action: lathe.AskMe}},
	}
	for _, r := range rows {
		if diff := cmp.Diff(r.want, Evaluate(r.permission, r.pattern, Defaults(Paths{ToolOutput: "/out"}), user)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", r.permission, r.pattern, diff)
		}
	}
	if got := Evaluate("x", "y"); got.Action != lathe.AskMe {
		t.Errorf("no rules: %v", got)
	}
}

func TestAgents(t *testing.T) {
	p := Paths{ToolOutput: "/out", Plans: "/data/plans"}
	rows := []struct {
		agent, permission, pattern string
		want                       lathe.Action
	}{
		{"build", "question", "*", lathe.Allow}, {"build", "plan_exit", "*", lathe.Deny}, {"build", "edit", "x", lathe.Allow},
		{"plan", "edit", "x", lathe.Deny}, {"plan", "edit", ".opencode/plans/a.md", lathe.Allow}, {"plan", "edit", "/data/plans/a.md", lathe.Allow},
		{"plan", "external_directory", "/data/plans/*", lathe.Allow}, {"plan", "task", "general", lathe.Deny}, {"plan", "task", "explore", lathe.Allow},
		{"general", "todowrite", "*", lathe.Deny}, {"general", "edit", "x", lathe.Allow},
		{"explore", "edit", "x", lathe.Deny}, {"explore", "grep", "x", lathe.Allow}, {"explore", "external_directory", "/out/*", lathe.Allow},
		{"explore", "external_directory", "/etc/*", lathe.AskMe}, {"title", "bash", "x", lathe.Deny}, {"custom", "edit", "x", lathe.Allow},
	}
	for _, r := range rows {
		all := Merge(p, Builtin(r.agent, p), nil, nil)
		if got := Evaluate(r.permission, r.pattern, all).Action; got != r.want {
			t.Errorf("%s %s %s: %s", r.agent, r.permission, r.pattern, got)
		}
	}
	closed := []lathe.Rule{{Permission: "external_directory", Pattern: "*", Action: lathe.Deny}}
	if got := Evaluate("external_directory", "/out/*", Merge(p, nil, closed, nil)).Action; got != lathe.Allow {
		t.Errorf("tool output: %s", got)
	}
	named := []lathe.Rule{{Permission: "external_directory", Pattern: "/out/*", Action: lathe.Deny}}
	if got := Evaluate("external_directory", "/out/*", Merge(p, nil, nil, named)).Action; got != lathe.Deny {
		t.Errorf("tool output denied by name: %s", got)
	}
}

func TestHiddenAndExpand(t *testing.T) {
	deny := func(p string) lathe.Rule { return lathe.Rule{Permission: "edit", Pattern: p, Action: lathe.Deny} }
	allow := lathe.Rule{Permission: "edit", Pattern: "docs/*", Action: lathe.Allow}
	rows := []struct {
		rules []lathe.Rule
		want  bool
	}{
		{nil, false}, {[]lathe.Rule{deny("*")}, true}, {[]lathe.Rule{deny("*"), allow}, false}, {[]lathe.Rule{deny("x")}, false},
		{[]lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Deny}}, true},
	}
	for _, r := range rows {
		if got := Hidden("edit", r.rules); got != r.want {
			t.Errorf("%v: %v", r.rules, got)
		}
	}
	for pattern, want := range map[string]string{"~/x": "/h/x", "~": "/h", "$HOME/x": "/h/x", "$HOME": "/h", "~x": "~x", "$HOMEx": "$HOMEx", "a~": "a~"} {
		if got := Expand(pattern, "/h"); got != want {
			t.Errorf("%s: %s", pattern, got)
		}
	}
}

// recorder is a service and the events it published.
type recorder struct {
	*Service
	mu     sync.Mutex
	events []lathe.Event
}

func record(o Options) *recorder {
	r := &recorder{}
	o.Publish = func(e lathe.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	r.Service = New(o)
	return r
}

func (r *recorder) kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		switch e := e.(type) {
		case lathe.PermissionAsked:
			out = append(out, "asked "+e.Ask.Patterns[0])
		case lathe.PermissionReplied:
			out = append(out, "replied "+string(e.Reply))
		}
	}
	return out
}

func input(session lathe.SessionID, rules []lathe.Rule, patterns ...string) AskInput {
	return AskInput{SessionID: session, Policy: Policy{Rules: rules},
		Request: tool.Request{Permission: "bash", Patterns: patterns, Always: patterns}}
}

func TestAskByRules(t *testing.T) {
	s := record(Options{})
	set := append(rules(lathe.Allow, "bash", "ls"), rules(lathe.Deny, "bash", "rm")...)
	if err := s.Ask(t.Context(), input("s", set, "ls")); err != nil {
		t.Error(err)
	}
	if err := s.Ask(t.Context(), input("s", set)); err != nil {
		t.Errorf("no patterns: %v", err)
	}
	err := s.Ask(t.Context(), input("s", set, "unknown", "rm")) // the denial comes after one to ask about
	denied, ok := errors.AsType[*Denied](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := &Denied{Permission: "bash", Pattern: "rm", Rule: set[1], Allowed: []string{"ls"}}
	if diff := cmp.Diff(want, denied); diff != "" {
		t.Error(diff)
	}
	if len(s.kinds()) != 0 {
		t.Errorf("events %v", s.kinds())
	}
}

func TestReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := record(Options{})
		ask := func(session lathe.SessionID, patterns ...string) chan error {
			ch := make(chan error, 1)
			go func() { ch <- s.Ask(t.Context(), input(session, nil, patterns...)) }()
			synctest.Wait()
			return ch
		}
		reply := func(i int, r lathe.Reply) {
			t.Helper()
			if err := s.Reply(t.Context(), s.Pending()[i].ID, r); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		once := ask("a", "one")
		reply(0, lathe.Reply{Kind: lathe.Once})
		first, same, part, other := ask("a", "git *"), ask("a", "git x"), ask("a", "git x", "rm"), ask("b", "git x")
		reply(0, lathe.Reply{Kind: lathe.Always})
		for name, ch := range map[string]chan error{"once": once, "always": first, "released": same} {
			if err := <-ch; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(s.Pending()); n != 2 {
			t.Errorf("%d wait", n)
		}
		more := ask("a", "more")
		reply(2, lathe.Reply{Kind: lathe.Reject, Message: "use make"})
		if c, ok := errors.AsType[*Corrected](<-more); !ok || c.Feedback != "use make" {
			t.Errorf("got %v", c)
		}
		if _, ok := errors.AsType[*Rejected](<-part); !ok {
			t.Error("the rejection does not spread")
		}
		s.Close()
		if _, ok := errors.AsType[*Rejected](<-other); !ok {
			t.Error("not rejected by Close")
		}
		if err := s.Ask(t.Context(), input("c", nil, "x")); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := s.Ask(t.Context(), input("c", nil, "git now")); err != nil {
			t.Errorf("approved before: %v", err)
		}
		if err := s.Reply(t.Context(), "per_x", lathe.Reply{Kind: lathe.Once}); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v", err)
		}
		want := []string{"asked one", "replied once", "asked git *", "asked git x", "asked git x", "asked git x", "replied always", "replied always",
			"asked more", "replied reject", "replied reject", "replied reject"}
		if diff := cmp.Diff(want, s.kinds()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestCancelWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := record(Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("stop")
		ch := make(chan error, 1)
		go func() { ch <- s.Ask(ctx, input("a", nil, "x")) }()
		synctest.Wait()
		cancel(why)
		if err := <-ch; !errors.Is(err, why) || len(s.Pending()) != 0 {
			t.Errorf("got %v, %d wait", err, len(s.Pending()))
		}
		if err := s.Ask(ctx, input("a", nil, "x")); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff([]string{"asked x", "replied reject"}, s.kinds()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestApprovals(t *testing.T) {
	fail := errors.New("disk full")
	var stored []lathe.Rule
	s := record(Options{
		Approved:  rules(lathe.Allow, "bash", "ls *"),
		OnApprove: func(_ context.Context, r []lathe.Rule) error { stored = append(stored, r...); return nil },
		Decide: func(a lathe.Ask) (lathe.Reply, bool) {
			return lathe.Reply{Kind: lathe.Always, Project: a.Patterns[0] != "date"}, true
		},
	})
	for _, in := range []AskInput{input("a", nil, "ls -l"), input("a", nil, "make"), input("b", nil, "make"), input("b", nil, "date")} {
		if err := s.Ask(t.Context(), in); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(rules(lathe.Allow, "bash", "make"), stored); diff != "" {
		t.Error(diff)
	}
	if err := s.Ask(t.Context(), input("a", rules(lathe.Deny, "bash", "*"), "make")); err == nil {
		t.Error("an approval lifts a denial")
	}
	s = record(Options{
		OnApprove: func(context.Context, []lathe.Rule) error { return fail },
		Decide:    func(lathe.Ask) (lathe.Reply, bool) { return lathe.Reply{Kind: lathe.Always, Project: true}, true },
	})
	if err := s.Ask(t.Context(), input("a", nil, "x")); !errors.Is(err, fail) || len(s.Pending()) != 0 || len(s.Approved()) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestPrefixesAreJudged(t *testing.T) {
	s := New(Options{Decide: func(lathe.Ask) (lathe.Reply, bool) { return lathe.Reply{Kind: lathe.Reject}, true }})
	set := append(rules(lathe.Allow, "edit", "*"), rules(lathe.Deny, "edit", "docs/secret/*")...)
	for prefix, allowed := range map[string]bool{"docs/": false, "docs/secret/": false, "docs/x/": true, "src/": true, "": false} {
		err := s.Ask(t.Context(), AskInput{Policy: Policy{Rules: set}, Request: tool.Request{Permission: "edit", Patterns: []string{"x"},
			Metadata: map[string]any{tool.MetaUnder: []string{prefix}}}})
		if (err == nil) != allowed {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

func TestLoop(t *testing.T) {
	rows := []struct {
		name  string
		calls []string // tool and input
		at    int      // the call, from 1, that is noticed; 0: none
	}{
		{"same", []string{`a {"x":1}`, `a {"x":1}`, `a {"x":1}`}, 3},
		{"order of keys", []string{`a {"x":1,"y":2}`, `a {"y":2,"x":1.0}`, `a { "x": 1, "y": 2 }`}, 3},
		{"spaces", []string{`bash {"command":"ls -l"}`, `bash {"command":"ls  -l "}`, `bash {"command":" ls -l"}`}, 3},
		{"description", []string{`bash {"command":"ls","description":"a"}`, `bash {"command":"ls","description":"b"}`, `bash {"command":"ls"}`}, 3},
		{"two only", []string{`a {}`, `a {}`, `b {}`, `a {}`}, 0},
		{"period 2", []string{`a {}`, `b {}`, `a {}`, `b {}`, `a {}`, `b {}`}, 6},
		{"period 3", []string{`a {}`, `b {}`, `c {}`, `a {}`, `b {}`, `c {}`, `a {}`, `b {}`, `c {}`}, 9},
		{"period 4", []string{`a 1`, `b 1`, `c 1`, `d 1`, `a 1`, `b 1`, `c 1`, `d 1`, `a 1`, `b 1`, `c 1`, `d 1`}, 12},
		{"polling", []string{`bash {"command":"sleep 1; tail -1 log"}`, `bash {"command":"sleep 2; tail -1 log"}`, `bash {"command":"sleep 4; tail -1 log"}`}, 0},
		{"edit and test", []string{`edit {"new_string":"a"}`, `bash {"command":"t"}`, `edit {"new_string":"b"}`, `bash {"command":"t"}`, `edit {"new_string":"c"}`, `bash {"command":"t"}`}, 0},
		{"indentation", []string{`edit {"newString":" a"}`, `edit {"newString":"  a"}`, `edit {"newString":"   a"}`}, 0},
		{"other tool", []string{`a {}`, `b {}`, `c {}`, `d {}`, `e {}`}, 0},
		{"no JSON", []string{`a {`, `a { `, `a {`}, 3},
		{"reads", []string{`read {"offset":0}`, `read {"offset":2000}`, `read {"offset":4000}`}, 0},
	}
	for _, r := range rows {
		var l Loop
		at := 0
		for i, c := range r.calls {
			name, in, _ := strings.Cut(c, " ")
			if l.See(name, json.RawMessage(in)) != "" && at == 0 {
				at = i + 1
			}
		}
		if at != r.at {
			t.Errorf("%s: noticed at %d, want %d", r.name, at, r.at)
		}
		l.Reset()
		if l.See("a", nil) != "" {
			t.Errorf("%s: remembered", r.name)
		}
	}
}

func FuzzLoop(f *testing.F) {
	f.Add([]byte(`{"command":"ls","n":1e400,"a":[1,{"b":" x "}]}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var l Loop
		for n := 1; n <= 3; n++ {
			if why := l.See("a", in); (why != "") != (n == 3) {
				t.Errorf("call %d of the same: %q", n, why)
			}
		}
	})
}

// A refusal for nobody is there is of one ask: the others wait on, and the turn is not
// told that a person said no.
func TestRefusalOfOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := record(Options{})
		answers := []chan error{make(chan error, 1), make(chan error, 1)}
		for i, name := range []string{"a", "b"} {
			go func() { answers[i] <- s.Ask(t.Context(), input("s", nil, name)) }()
			synctest.Wait()
		}
		waiting := s.Pending()
		if err := s.Reply(t.Context(), waiting[0].ID, lathe.Reply{Kind: lathe.Reject, Alone: true, Message: "go on"}); err != nil {
			t.Fatal(err)
		}
		err := <-answers[0]
		if u, ok := errors.AsType[*Unanswered](err); !ok || u.Why != "Refused: bash: a. go on" {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff(waiting[1:], s.Pending()); diff != "" {
			t.Errorf("waiting (-want +got):\n%s", diff)
		}
		if err := s.Reply(t.Context(), waiting[1].ID, lathe.Reply{Kind: lathe.Once}); err != nil {
			t.Fatal(err)
		}
		if err := <-answers[1]; err != nil {
			t.Error(err)
		}
	})
}
