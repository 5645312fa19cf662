package page

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe"
)

// talk is a session of one prompt and its answer, after some calls.
func talk(answer string, calls ...lathe.Part) Session {
	return Session{Info: lathe.Session{ID: "ses_1", Title: "A question", Created: noon, Version: "1.0"}, Messages: []lathe.Message{
		{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Make it fast."}}}},
		{Info: &lathe.Assistant{}, Parts: append(calls, lathe.Part{Body: &lathe.Text{Text: answer}})},
	}}
}

func done(tool string, meta map[string]any, in map[string]any) lathe.Part {
	raw, _ := json.Marshal(in)
	return lathe.Part{Body: &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: raw, Metadata: meta}}}
}

// TestStyleIsForWhatThePageHas holds that each rule is in the page of some session, and that
// none is in a page that has nothing for it.
func TestStyleIsForWhatThePageHas(t *testing.T) {
	all := session("")
	all.Messages = append(all.Messages, all.Messages...)
	all.Messages = append(all.Messages, all.Messages...) // long enough for contents
	all.Messages = append(all.Messages, talk("> 引用\n\n***\n\n|a|b|\n|:-:|--:|\n|1|2|\n\n```go\ntype T int // one\nfunc f() { return \"x\", 1 }\n```\n",
		done("bash", map[string]any{"output": "\x1b[31ma\x1b[32mb\x1b[33mc\x1b[34md\x1b[35me\x1b[36mf\x1b[7mg\x1b[m"}, map[string]any{"command": "make"})).Messages...)
	page := written(t, all)
	sheet := styleOf(page)
	small := styleOf(written(t, talk("It is fast now.")))
	for l := range strings.Lines(style) {
		words, rule, some := strings.Cut(strings.TrimSpace(strings.TrimPrefix(l, "/*")), "*/")
		if !some {
			continue
		}
		if !strings.Contains(sheet, rule) {
			t.Errorf("nothing in the page asks for %s by %s", rule, words)
		}
		if strings.Contains(small, rule) {
			t.Errorf("a page of words alone has the rule %s", rule)
		}
	}
	if strings.Contains(sheet, "/*") || strings.Count(sheet, "{") != strings.Count(sheet, "}") {
		t.Errorf("the rules are not whole: %s", sheet)
	}
	if got := styleOf("<p><b>x</b></p><pre>a</pre><i>c</i>"); strings.Contains(got, "pre b{") || strings.Contains(got, "pre i{") {
		t.Error("what stands outside of code asks for the colours of code")
	}
}

// TestSizeOfShortSessions holds from which length on a page is less than twice as long as what
// it shows: an answer in words from 1.5 KB, one with calls, a change and code from 6 KB.
func TestSizeOfShortSessions(t *testing.T) {
	words := "The store reads rows one by one; Load asks for each of them, and that is what takes the time. "
	source := "func (s *Store) Load(ctx context.Context, id string) (Item, error) {\n\trow, err := s.db.Query(ctx, \"select body from item where id = ?\", id)\n\tif err != nil {\n\t\treturn Item{}, fmt.Errorf(\"load %s: %w\", id, err)\n\t}\n\treturn decode(row) // the caller closes nothing\n}\n\n"
	patch := "@@ -1,12 +1,12 @@\n" + strings.Repeat(" \treturn nil\n-\tfor i := 0; i < n; i++ {\n+\tfor i := range n {\n", 4)
	for name, test := range map[string]struct {
		from int
		talk Session
	}{
		"words": {1450, talk(strings.Repeat(words, 14))},
		"work": {6000, talk(strings.Repeat("The **store** reads rows one by one; `Load` asks for each of them, and that is what takes the time.\n\n", 30)+"- a\n- b\n\n```go\n"+strings.Repeat(source, 9)+"```\n",
			done("read", nil, map[string]any{"filePath": "store.go"}),
			done("edit", map[string]any{"diff": patch}, map[string]any{"filePath": "store.go"}),
			done("bash", map[string]any{"output": strings.Repeat("\x1b[32mok\x1b[0m  \tstore\t0.012s\n", 10)}, map[string]any{"command": "go test ./..."}))},
	} {
		page := written(t, test.talk)
		check(t, page)
		if size, text := len(page), len(shown(page)); text > test.from || size > 2*text {
			t.Errorf("%s: the page has %d bytes for %d bytes of text, of which %d are its style", name, size, text, len(styleOf(page)))
		}
	}
}
