package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"lathe"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// session is one of two prompts, with a call of each kind that has a look of its own.
// Every text that a person, a model or a tool may choose is or ends in s.
func session(s string) Session {
	input := func(m map[string]any) json.RawMessage {
		raw, _ := json.Marshal(m)
		return raw
	}
	done := func(tool, out string, meta, in map[string]any) lathe.Part {
		return lathe.Part{Body: &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: input(in), Output: out + s, Title: "title" + s, Metadata: meta,
			Attachments: []lathe.File{{Filename: s, URL: "data:text/html," + s}, {Filename: s, URL: "data:image/png;base64,AAAA" + s}},
			Time:        lathe.Span{Start: noon, End: noon.Add(2 * time.Second)}}}}
	}
	return Session{
		Info: lathe.Session{ID: "ses_1", Title: "Title" + s, Version: "1" + s, Created: noon, Cost: 31_200_000_000},
		Note: "One message was reverted and is left out.",
		Messages: []lathe.Message{
			{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{
				{Body: &lathe.Text{Text: "Fix it." + s}}, {Body: &lathe.File{Filename: s, URL: s}},
				{Body: &lathe.Subtask{Description: s, Prompt: s}}, {Body: &lathe.CompactionMark{}},
			}},
			{Created: noon, Info: &lathe.Assistant{Agent: "build" + s, Model: lathe.ModelRef{Provider: "acme", Model: "big" + s}, Cost: 20_000_000_000, Completed: noon.Add(90 * time.Second),
				Error: &lathe.UnknownFailure{Message: s}}, Parts: []lathe.Part{
				{Body: &lathe.Reasoning{Text: "Hm." + s}},
				{Body: &lathe.Text{Text: "I look." + s}},
				done("bash", "", map[string]any{"output": "\x1b[31mFAIL\x1b[0m\n" + s, "exit": 1.0}, map[string]any{"command": "go test\n./..." + s}),
				done("read", "<path>a.go</path>\n<content>\npackage a\n</content>", nil, map[string]any{"filePath": "a.go" + s}),
				done("edit", "", map[string]any{"diff": "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-old word" + s + "\n+new word" + s + "\n"}, map[string]any{"filePath": "a.go"}),
				done("write", "", nil, map[string]any{"filePath": "b.go", "content": "package b // " + s}),
				done("todowrite", "", nil, map[string]any{"todos": []any{map[string]any{"status": "completed", "content": s}}}),
				done("task", "report", nil, map[string]any{"prompt": s, "description": s, "subagent_type": s}),
				done("question", "", map[string]any{"answers": []any{[]any{s}}}, map[string]any{"questions": []any{map[string]any{"question": s}}}),
				done("webfetch", "# page", nil, map[string]any{"url": s}),
				done("grep", "a.go: 1", map[string]any{"matches": 3.0}, map[string]any{"pattern": s, "path": s}),
				done("mcp_"+s, "x", nil, map[string]any{"a": s}),
				{Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: input(map[string]any{"command": s}), Error: s}}},
				{Body: &lathe.Retry{Error: &lathe.UnknownFailure{Message: s}}},
				{Body: &lathe.StepFinish{Tokens: lathe.Tokens{Input: 1000, CacheRead: 9000, Output: 200}}},
				{Body: &lathe.Text{Text: "# Done\n\nIt **works**: `a.go`.\n\n| a | b |\n|---|--:|\n| 1 | " + strings.ReplaceAll(s, "\n", " ") + " |\n\n```go\nfunc main() {} // " + s + "\n```\n\n" + s}},
			}},
		},
		Diffs: []lathe.FileDiff{{File: s, Patch: "@@ -1 +1 @@\n-a" + s + "\n+b" + s, Additions: 1, Deletions: 1}},
	}
}

func written(t *testing.T, s Session) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements are all that a page is made of, and the attributes that each may have.
var elements = map[string]string{
	"html": "lang", "head": "", "meta": "charset name content http-equiv", "title": "", "style": "", "body": "", "header": "", "h1": "", "h2": "", "h3": "", "h4": "", "h5": "", "h6": "",
	"p": "class", "nav": "", "details": "class open", "summary": "class", "ol": "start", "ul": "", "li": "class", "a": "class href", "main": "", "section": "id", "div": "class", "pre": "", "code": "",
	"b": "", "i": "", "u": "", "s": "", "q": "", "em": "", "strong": "", "span": "class", "ins": "", "del": "", "mark": "", "blockquote": "", "hr": "", "br": "", "img": "alt src",
	"table": "", "tr": "", "td": "class", "th": "class", "footer": "",
}

// unclosed elements have no end, or one that may be left out.
var unclosed = []string{"meta", "br", "hr", "img", "tr", "td", "th"}

// check holds that a page has only what it may have and that each element ends where it
// should, so that nothing that a session holds changes what the page is.
func check(t *testing.T, page string) {
	t.Helper()
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		tok := z.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			allowed, known := elements[tok.Data]
			if !known {
				t.Errorf("the page has an element %q", tok.Data)
			}
			for _, a := range tok.Attr {
				if !slices.Contains(strings.Fields(allowed), a.Key) {
					t.Errorf("%s has an attribute %q", tok.Data, a.Key)
				}
				checkAddress(t, a)
			}
			if !slices.Contains(unclosed, tok.Data) {
				open = append(open, tok.Data)
			}
		case html.EndTagToken:
			if n := len(open); n == 0 || open[n-1] != tok.Data {
				t.Fatalf("</%s> ends %v", tok.Data, open)
			}
			open = open[:len(open)-1]
		case html.CommentToken:
			t.Errorf("the page has a comment %q", tok.Data)
		}
	}
	if len(open) > 0 {
		t.Errorf("%v never end", open)
	}
}

func checkAddress(t *testing.T, a html.Attribute) {
	t.Helper()
	ok := true
	switch a.Key {
	case "href":
		ok = strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "mailto:") || strings.HasPrefix(a.Val, "#p")
	case "src":
		ok = picture(a.Val)
	}
	if !ok {
		t.Errorf("%s leads to %q", a.Key, a.Val)
	}
}

var hostile = []string{
	"", "</p></div></details></main>", `<script>alert(1)</script><style>*{display:none}</style>`, `"><img src=x onerror=alert(1)>`, `' onload='x`, "<!-- ", "]]>", "\x00\x1b]0;x\a\x1b[31m",
	"[x](javascript:alert(1)) [y](data:text/html,<script>) ![z](https://x.example/track.png) <javascript:a>", "[a\"b](https://x/\"onclick=alert(1)) <https://x/'\"> https://x/\"><b>",
	"```\n</code></pre><script>", "> > > > > > > > > > > > > > > x", "- - - - - - - - - - - - - - - x", "&lt;script&gt; &#60;b&#62;", "\u202egnp.exe\u2066", "**a*b__c~~d`e[f](g", "1. a\n- b\n  1) c\n\n   > d\n***",
	"|a|\n|-|\n|<td>|", "a\n===\n<h1>\n---", "\xff\xfe", "中文\r\nتجربة\rx", "+a\n-b\n@@ -1 +1 @@\n+++ x", "\x1b[38;2;1;2;3mx\x1b[48;5;300my\x1b[4:3;;1mz\x1b[", "<path>x</path>\n<content>\n<script>\n</content>",
}

func TestNothingInASessionChangesThePage(t *testing.T) {
	for _, s := range hostile {
		check(t, written(t, session(s)))
		check(t, written(t, session("\n\n"+s+"\n\n")))
	}
}

func FuzzPage(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, written(t, session(s))) })
}

func TestPolicyAllowsTheStyleAlone(t *testing.T) {
	page := written(t, session(""))
	_, sheet, _ := strings.Cut(page, "<style>")
	sheet, _, _ = strings.Cut(sheet, "</style>")
	sum := sha256.Sum256([]byte(sheet))
	want := `content="default-src 'none'; style-src 'sha256-` + base64.StdEncoding.EncodeToString(sum[:]) + `'; img-src data:; form-action 'none'; base-uri 'none'"`
	if !strings.Contains(page, want) {
		t.Errorf("the page does not say %s", want)
	}
	for _, loads := range []string{"@import", "url(", "expression", "<"} {
		if strings.Contains(sheet, loads) {
			t.Errorf("the style sheet has %q", loads)
		}
	}
}

func TestContentsOfALongSession(t *testing.T) {
	s := session("")
	if page := written(t, s); strings.Contains(page, "Contents") {
		t.Error("a short session has a table of contents")
	}
	for _, said := range []string{"Now the *tests*.", strings.Repeat("long ", 40)} {
		s.Messages = append(s.Messages, lathe.Message{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: said}}}},
			lathe.Message{Created: noon, Info: &lathe.Assistant{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "yes"}}}})
	}
	page := written(t, s)
	check(t, page)
	for _, want := range []string{"<li><a href=#p1>Fix it.</a></li>", "<li><a href=#p2>Now the *tests*.</a></li>", `<section id=p3>`, "long lo...</a>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

func TestWhatAReaderSees(t *testing.T) {
	page := written(t, session(""))
	for _, want := range []string{
		"<h3>Done</h3>\n<p>It <strong>works</strong>: <code>a.go</code>.</p>",
		"<b>func</b> <q>main</q>() {} <s>// </s>",
		"<tr><td>1<td class=r>",
		"<details class=work><summary>1 step, 11 calls, 1 min 30 s</summary>", // folded away: they are many
		"<b>bash</b> <code>$ go test</code> · exit 1 · 2.0 s</summary>",
		"<span class=a1>FAIL</span>",
		"<del>-<mark>old</mark> word\n</del><ins>+<mark>new</mark> word\n</ins>",
		"<b>read</b> <code>title</code> · 1 line · 2.0 s</summary><pre>package a</pre>",
		"<b>edit</b> <code>title</code> · +1 −1",
		"build · acme/big · 10k tokens in (90% cached) · 200 out · $0.0200 · 1 min 30 s",
		"2026-11-20", "1 prompt · worked 1 min 30 s · $0.0312 · 1 changed file, +1 −1",
		"One message was reverted and is left out.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// TestWaitingIsNotWork holds that what calls waited for the person counts neither as their time
// nor as that of the work.
func TestWaitingIsNotWork(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	call := func(start, end int64) lathe.Part {
		return lathe.Part{Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: []byte(`{"command":"make"}`), Time: lathe.Span{Start: at(start), End: at(end)},
			Metadata: map[string]any{lathe.MetaWaited: 30_000}}}}
	}
	got := written(t, Session{Messages: []lathe.Message{
		{Info: &lathe.User{}, Created: at(0), Parts: []lathe.Part{{Body: &lathe.Text{Text: "go"}}}},
		{Info: &lathe.Assistant{Completed: at(36)}, Created: at(1), Parts: []lathe.Part{call(2, 34), call(2, 35), {Body: &lathe.Text{Text: "done"}}}},
	}})
	for _, want := range []string{"<code>$ make</code> · 2.0 s<", "<code>$ make</code> · 3.0 s<", "worked 6.0 s"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got[strings.Index(got, "<main"):])
		}
	}
}

// TestARenameIsNoChangeOfLines holds that a file that only got another name is one file and
// counts no lines.
func TestARenameIsNoChangeOfLines(t *testing.T) {
	got := written(t, Session{Messages: session("").Messages, Diffs: []lathe.FileDiff{
		{File: "a.go", Before: "x\n", Patch: "-x", Deletions: 1, Status: "deleted"}, {File: "b.go", After: "x\n", Patch: "+x", Additions: 1, Status: "added"},
		{File: "c.go", Before: "y\n", After: "y\nz\n", Patch: "+z", Additions: 1, Status: "modified"},
	}})
	check(t, got)
	for _, want := range []string{"2 changed files, +1 −0", "<code>a.go</code> renamed to <code>b.go</code>", "<code>c.go</code> +1 −0"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// shown returns what a reader of a page sees, with all that is folded away.
func shown(page string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(page[strings.Index(page, "<body>"):]))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken {
			b.WriteString(z.Token().Data)
		}
	}
	return b.String()
}

// TestSizeOfASmallSession holds that the page of a short session of the usual kind, two prompts
// with one file of a hundred lines, is less than twice as long as what it shows.
func TestSizeOfASmallSession(t *testing.T) {
	source := "package timer\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"time\"\n)\n\n// ErrLate means that it rang too late.\nvar ErrLate = errors.New(\"late\")\n\n" +
		"// Wait waits until it is time.\nfunc (t *Timer) Wait(name string) error {\n\tfor i := 0; i < t.most; i++ {\n\t\tif got, ok := t.rings[name]; ok && got.After(t.from) {\n\t\t\treturn nil\n\t\t}\n\t\ttime.Sleep(10 * time.Millisecond) // no event tells of it\n\t}\n\treturn fmt.Errorf(\"wait for %q: %w\", name, ErrLate)\n}\n"
	for _, name := range []string{"Start", "Stop", "Reset", "Pause", "Resume", "After", "Until"} {
		source += fmt.Sprintf("\n// %s is said once; a second time it does nothing.\nfunc (t *Timer) %s(name string) error {\n\tt.mu.Lock()\n\tdefer t.mu.Unlock()\n\tif t.state[name] == %q {\n\t\treturn nil\n\t}\n\tt.state[name] = %q\n\treturn t.tell(name, time.Now())\n}\n", name, name, strings.ToLower(name), strings.ToLower(name))
	}
	var numbered strings.Builder
	for i, l := range strings.Split(source, "\n") {
		fmt.Fprintf(&numbered, "%d: %s\n", i+1, l)
	}
	part := func(tool, out string, meta, in map[string]any) lathe.Part {
		raw, _ := json.Marshal(in)
		return lathe.Part{Body: &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: raw, Output: out, Metadata: meta, Time: lathe.Span{Start: noon, End: noon.Add(3 * time.Second)}}}}
	}
	turn := func(prompt, answer string, calls ...lathe.Part) []lathe.Message {
		return []lathe.Message{
			{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: prompt}}}},
			{Created: noon, Info: &lathe.Assistant{Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "big"}, Completed: noon.Add(time.Minute)},
				Parts: append(calls, lathe.Part{Body: &lathe.StepFinish{Tokens: lathe.Tokens{Input: 9000, Output: 700}}}, lathe.Part{Body: &lathe.Text{Text: answer}})},
		}
	}
	patch := "--- a/timer/timer.go\n+++ b/timer/timer.go\n@@ -12,11 +12,8 @@\n // Wait waits until it is time.\n func (t *Timer) Wait(name string) error {\n-\tfor i := 0; i < t.most; i++ {\n-\t\tif got, ok := t.rings[name]; ok && got.After(t.from) {\n-\t\t\treturn nil\n-\t\t}\n-\t\ttime.Sleep(10 * time.Millisecond) // no event tells of it\n+\tselect {\n+\tcase <-t.ring(name):\n+\t\treturn nil\n+\tcase <-t.ended:\n \t}\n \treturn fmt.Errorf(\"wait for %q: %w\", name, ErrLate)\n }\n"
	failing := "=== RUN   TestWait\n    timer_test.go:31: wait for \"egg\": late\n\x1b[31m--- FAIL: TestWait (0.31s)\x1b[0m\n" + strings.Repeat("=== RUN   TestRing\n\x1b[32m--- PASS: TestRing (0.00s)\x1b[0m\n", 8) + "FAIL\nexit status 1\n"
	long := "The test fails because `Wait` asks **thirty times** and then gives up, which is too early on a slow machine:\n\n- it sleeps between two looks, so that it may miss a ring;\n- `most` is 30, which makes 300 ms.\n\nI would let `ring` hand out a channel and wait for that. See [the package](https://pkg.go.dev/time) for `time.After`.\n"
	var messages []lathe.Message
	messages = append(messages, turn("The test in ./timer fails on the build machine, though never here. Find out why and tell me what you would do.", long,
		part("grep", "timer/timer.go:\n  14: func (t *Timer) Wait(name string) error {\ntimer/timer_test.go:\n  30: if err := timer.Wait(\"egg\"); err != nil {\n", map[string]any{"matches": 2.0}, map[string]any{"pattern": "Wait\\("}),
		part("read", numbered.String(), nil, map[string]any{"filePath": "timer/timer.go"}),
		part("bash", "", map[string]any{"output": failing, "exit": 1.0}, map[string]any{"command": "go test -count=20 ./timer"}))...)
	messages = append(messages, turn("Do it.", "Done: `Wait` waits for the channel, and the test ran 200 times without a failure.",
		part("edit", "", map[string]any{"diff": patch}, map[string]any{"filePath": "timer/timer.go"}),
		part("write", "", nil, map[string]any{"filePath": "timer/ring.go", "content": source}),
		part("bash", "", map[string]any{"output": strings.Repeat("ok  \tclock/timer\t0.012s\n", 6)}, map[string]any{"command": "go test -count=200 ./timer"}))...)
	page := written(t, Session{Info: lathe.Session{ID: "ses_1", Title: "A test that fails elsewhere", Created: noon}, Messages: messages,
		Diffs: []lathe.FileDiff{{File: "timer/timer.go", Patch: patch, Additions: 4, Deletions: 5, Status: "modified"}}})
	check(t, page)
	if size, text := len(page), len(shown(page)); size > 2*text {
		t.Errorf("the page has %d bytes for %d bytes of text, of which %d are its style", size, text, len(styleOf(page)))
	}
}

// TestSize holds that a page is less than twice as long as what it shows: an ordinary
// session of code, changes and what commands printed.
func TestSize(t *testing.T) {
	source := strings.Repeat("func (s *Store) Load(ctx context.Context, id string) (Item, error) {\n\trow, err := s.db.Query(ctx, \"select body from item where id = ?\", id)\n\tif err != nil {\n\t\treturn Item{}, fmt.Errorf(\"load %s: %w\", id, err)\n\t}\n\treturn decode(row) // the caller closes nothing\n}\n\n", 30)
	patch := "@@ -1,120 +1,120 @@\n" + strings.Repeat(" \treturn nil\n-\tfor i := 0; i < n; i++ {\n+\tfor i := range n {\n", 40)
	tests := strings.Repeat("=== RUN   TestLoad\n\x1b[32m--- PASS: TestLoad (0.00s)\x1b[0m\n", 60)
	words := strings.Repeat("The **store** reads rows one by one; `Load` asks for each of them, and that is what takes the time. See https://go.dev/doc.\n\n", 20)
	part := func(tool string, meta map[string]any, in map[string]any) lathe.Part {
		raw, _ := json.Marshal(in)
		return lathe.Part{Body: &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: raw, Metadata: meta}}}
	}
	s := Session{Messages: []lathe.Message{
		{Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Make it fast."}}}},
		{Info: &lathe.Assistant{}, Parts: []lathe.Part{
			part("write", nil, map[string]any{"filePath": "store.go", "content": source}),
			part("edit", map[string]any{"diff": patch}, nil),
			part("bash", map[string]any{"output": tests}, map[string]any{"command": "go test ./..."}),
			{Body: &lathe.Text{Text: words + "```go\n" + source + "```\n"}},
		}},
	}}
	said := 2*len(source) + len(patch) + len(tests) + len(words)
	if size := len(written(t, s)); size > 2*said {
		t.Errorf("the page has %d bytes for %d bytes of text", size, said)
	}
}
