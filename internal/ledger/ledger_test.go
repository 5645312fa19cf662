package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/ledger"
	"lathe/internal/tokens"
)

func user(seq int64, text string) lathe.Message {
	return lathe.Message{Seq: seq, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}}
}

func did(seq int64, parts ...lathe.PartBody) lathe.Message {
	m := lathe.Message{Seq: seq, Info: &lathe.Assistant{Finish: lathe.FinishToolCalls}}
	for _, b := range parts {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	return m
}

func done(tool, input, output string, meta map[string]any) *lathe.ToolCall {
	return &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: json.RawMessage(input), Output: output, Metadata: meta}}
}

func failed(tool, input, why string) *lathe.ToolCall {
	return &lathe.ToolCall{Tool: tool, State: &lathe.ToolFailed{Input: json.RawMessage(input), Error: why}}
}

// story is a session with one of everything.
func story() []lathe.Message {
	return []lathe.Message{
		user(1, "Port the cart to cents. Never touch internal/legacy. 请不要升级依赖。"),
		did(2, done("read", `{"filePath":"/r/cart.go"}`, "package cart", nil),
			done("bash", `{"command":"go test ./..."}`, "FAIL cart_test.go:9: want 1798", map[string]any{"exit": 1})),
		did(3, &lathe.Text{Text: "I decided to use integers because floats drift. Let me look further."},
			done("write", `{"filePath":"/r/money.go"}`, "ok", map[string]any{"exists": false}),
			done("edit", `{"filePath":"/r/cart.go"}`, "ok", map[string]any{"diagnostics": map[string]any{"/r/cart.go": []any{map[string]any{"message": "undefined: Cents"}}}}),
			done("todowrite", `{"todos":[{"content":"port total","status":"completed"},{"content":"port tax","status":"in_progress"},{"content":"write docs","status":"pending"}]}`, "", nil)),
		did(4, failed("bash", `{"command":"rm -rf /"}`, "The user rejected permission to use this specific tool call."),
			failed("edit", `{"filePath":"/r/tax.go"}`, "oldString was not found"),
			done("question", `{}`, `User has answered: "Rounding?"="half even"`, nil),
			done("grep", `{"pattern":"Total\\("}`, "12 hits", nil),
			&lathe.Patch{Files: []string{"/r/generated.go"}}),
	}
}

func TestFacts(t *testing.T) {
	var f ledger.Facts
	f.Add(story())
	f.Add(story()) // known messages are skipped
	got := f.Render(ledger.Options{Root: "/r", Recall: true})
	want := `<ledger>
Kept by lathe from what happened in this session; it is exact, and wins over the summary where they differ.

## What the user asked for, word for word
- #1: Port the cart to cents. Never touch internal/legacy. 请不要升级依赖。

## Open tasks
- [open] write docs
- [in progress] port tax

## Finished tasks (never do them again)
- [done] port total

## Files written
- money.go (created)
- cart.go (changed)
- generated.go (changed)

## Commands whose last run failed
- go test ./... → exit 1: FAIL cart_test.go:9: want 1798

## Open errors
- /r/cart.go: 1, first: undefined: Cents

## Answers and permissions
- refused: bash rm -rf /: The user rejected permission to use this specific tool call.
- User has answered: "Rounding?"="half even"

## Calls that failed
- edit /r/tax.go: oldString was not found

## Searches and pages
- grep Total\(

## Your last words before this point
- I decided to use integers because floats drift. Let me look further.

Every earlier message and tool output can still be found and read with the recall tool.
</ledger>`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
}

// A file that is deleted or moved away takes its errors along.
func TestDeletedFilesHaveNoErrors(t *testing.T) {
	var f ledger.Facts
	wrong := map[string]any{"diagnostics": map[string]any{"/r/a.go": []any{map[string]any{"severity": 1.0, "message": "bad a"}}, "/r/b.go": []any{map[string]any{"severity": 1.0, "message": "bad b"}}, "/r/c.go": []any{map[string]any{"severity": 1.0, "message": "bad c"}}}}
	f.Add([]lathe.Message{did(1,
		done("edit", `{"filePath":"/r/a.go"}`, "ok", wrong),
		done("apply_patch", `{}`, "ok", map[string]any{"files": []any{
			map[string]any{"filePath": "/r/a.go", "type": "delete"}, map[string]any{"filePath": "/r/b.go", "movePath": "/r/d.go", "type": "move"},
		}}))})
	got := f.Render(ledger.Options{Root: "/r"})
	if strings.Contains(got, "bad a") || strings.Contains(got, "bad b") || !strings.Contains(got, "bad c") {
		t.Errorf("the ledger says:\n%s", got)
	}
}

func TestLaterFactsReplaceEarlierOnes(t *testing.T) {
	var f ledger.Facts
	f.Add(story())
	f.Add([]lathe.Message{did(5,
		done("bash", `{"command":"go test ./..."}`, "ok", map[string]any{"exit": 0.0}),
		done("edit", `{"filePath":"/r/cart.go"}`, "ok", map[string]any{"diagnostics": map[string]any{"/r/cart.go": []any{}}}),
		done("edit", `{"filePath":"/r/tax.go"}`, "ok", nil),
		done("apply_patch", `{}`, "ok", map[string]any{"files": []any{map[string]any{"filePath": "/r/money.go", "type": "delete"}}}),
		done("todowrite", `{"todos":[{"content":"port tax","status":"completed"}]}`, "", nil))})
	got := f.Render(ledger.Options{Root: "/r"})
	for _, gone := range []string{"failed", "Open errors", "Open tasks", "money.go (created)"} {
		if strings.Contains(got, gone) {
			t.Errorf("the ledger still says %q:\n%s", gone, got)
		}
	}
	for _, there := range []string{"go test ./... (2 runs)", "[done] port tax", "money.go (deleted)", "tax.go (changed)"} {
		if !strings.Contains(got, there) {
			t.Errorf("the ledger does not say %q:\n%s", there, got)
		}
	}
}

func TestFactsSurviveStorage(t *testing.T) {
	var f, back ledger.Facts
	f.Add(story())
	raw, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back); diff != "" {
		t.Errorf("facts after storage (-want +got):\n%s", diff)
	}
}

func bash(command, output string, exit int) *lathe.ToolCall {
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return done("bash", string(raw), output, map[string]any{"exit": exit})
}

// TestStatus holds that a command is said to have passed only where its exit code
// says that all of it did.
func TestStatus(t *testing.T) {
	for command, sure := range map[string]bool{
		"go test ./...": true, "cd a && go test ./... && go vet": true, "X=1 go build": true, "export A=b; go build": true, "(cd a && make)": true,
		"go test ./... | tail -5": false, "go test; echo done": false, "make || true": false, "! grep x y": false, "make &": false,
		"cd a\nmake": false, "make\nls": false, "if make; then ls; fi": false, "make > log 2>&1": true, "what is 'this": false,
	} {
		var f ledger.Facts
		f.Add([]lathe.Message{did(1, bash(command, "one\nFAIL two\n", 0))})
		got := f.Render(ledger.Options{})
		if passed := strings.Contains(got, "## Commands that passed"); passed != sure || sure == strings.Contains(got, "; last line: FAIL two") {
			t.Errorf("%s: said to have passed: %v\n%s", command, passed, got)
		}
	}
}

// TestLongRequest holds that a request which is too long keeps its beginning and its
// end, also in a small window, and names how the rest is read.
func TestLongRequest(t *testing.T) {
	text := "Look at this log.\n" + strings.Repeat("2026-11-22 something happened 日志\n", 2000) + "Find the first error, and name its cause."
	m := user(7, text)
	m.Parts[0].Seq = 2
	for _, budget := range []int{0, 400} {
		var f, back ledger.Facts
		f.Add([]lathe.Message{m})
		raw, err := json.Marshal(f)
		if err == nil {
			err = json.Unmarshal(raw, &back)
		}
		got := back.Render(ledger.Options{Recall: true, Budget: budget})
		for _, want := range []string{"Look at this log.", "Find the first error, and name its cause.", `mode "read", part "7.2"`} {
			if err != nil || !strings.Contains(got, want) {
				t.Errorf("budget %d, %v: no %q in\n%s", budget, err, want, got)
			}
		}
		if plain := back.Render(ledger.Options{}); strings.Contains(plain, "recall") || len(raw) > 20_000 {
			t.Errorf("%d bytes are stored; without recall it says\n%s", len(raw), plain)
		}
	}
}

// TestNames holds that what a command printed and a later step used stays, and
// nothing else of it.
func TestNames(t *testing.T) {
	var f, back ledger.Facts
	f.Add([]lathe.Message{
		user(1, "Release it."),
		did(2, bash("./serve", "listening on 127.0.0.1:43117\npid 99120\n", 0), bash("git push", "created PROJ-481 at 9f3c2ab71, tag v2.7.1-rc3\n", 0),
			bash("ls -l", strings.Repeat("-rw-r--r-- 1 me me 5120 file8.txt\n", 3000)+"key-77aa\n", 0)),
	})
	raw, err := json.Marshal(f)
	if err != nil || json.Unmarshal(raw, &back) != nil || len(raw) > 50_000 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	back.Add([]lathe.Message{
		did(3, bash("curl http://localhost:43117/health", "ok", 0), &lathe.Text{Text: "The ticket is PROJ-481 and the tag v2.7.1-rc3."}),
		user(4, "Is 9f3c2ab71 in it? And key-77aa?"),
	})
	got := back.Render(ledger.Options{})
	for _, want := range []string{"43117: listening on 127.0.0.1:43117 (./serve)", "PROJ-481: ", "v2.7.1-rc3: ", "9f3c2ab71: ", "key-77aa: key-77aa (ls -l)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, not := range []string{"99120:", "5120:", "file8.txt:"} {
		if strings.Contains(got, not) {
			t.Errorf("%q, which nobody used, in\n%s", not, got)
		}
	}
}

// TestNoDoubles holds that the same is not said twice, that the last words are the
// end of what was said last, and that a file which was shown in part is not said to
// have been read.
func TestNoDoubles(t *testing.T) {
	var f ledger.Facts
	f.Add([]lathe.Message{
		user(1, "Never touch main.go."), user(2, "go on"), user(3, "go on"), user(4, "a"), user(5, "b"), user(6, "go on"),
		did(7, done("read", `{"filePath":"/r/big.go"}`, "1: x", map[string]any{"truncated": true}), done("read", `{"filePath":"/r/small.go"}`, "1: x", map[string]any{"truncated": false})),
		did(8, &lathe.Text{Text: strings.Repeat("I look at everything. ", 100) + "Now I mend tax.go."}),
	})
	got := f.Render(ledger.Options{Root: "/r"})
	for want, n := range map[string]int{"go on": 1, "Never touch main.go.": 1, "Now I mend tax.go.": 1, "- big.go (in part)\n": 1, "- small.go\n": 1} {
		if strings.Count(got, want) != n {
			t.Errorf("%q is there %d times, want %d, in\n%s", want, strings.Count(got, want), n, got)
		}
	}
}

// TestBudget holds that the block never exceeds its budget, that the newest of
// everything is in it, and that no finished task is shown as open.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f ledger.Facts
		n := rapid.IntRange(1, 300).Draw(t, "steps")
		for i := range n {
			seq := int64(2*i + 1)
			f.Add([]lathe.Message{
				user(seq, rapid.StringMatching(`[a-z 中文.]{0,300}`).Draw(t, "request")+fmt.Sprintf(" Never use rule-%d.", i)),
				did(seq+1, done("write", fmt.Sprintf(`{"filePath":"/r/dir/file-%d.go"}`, i), "ok", nil),
					done("bash", fmt.Sprintf(`{"command":"run %d"}`, i), strings.Repeat("x", i), map[string]any{"exit": i % 3}),
					done("todowrite", fmt.Sprintf(`{"todos":[{"content":"old-%d","status":"completed"},{"content":"new-%d","status":"pending"}]}`, i, i), "", nil)),
			})
		}
		budget := rapid.IntRange(600, 4000).Draw(t, "budget")
		got := f.Render(ledger.Options{Budget: budget, Root: "/r", Recall: true})
		if c := tokens.Count(got); c > budget {
			t.Fatalf("%d tokens, budget %d", c, budget)
		}
		for _, there := range []string{fmt.Sprintf("rule-%d.", n-1), fmt.Sprintf("dir/file-%d.go", n-1), fmt.Sprintf("[open] new-%d", n-1)} {
			if !strings.Contains(got, there) {
				t.Fatalf("no %q in:\n%s", there, got)
			}
		}
		if strings.Contains(got, "[open] old-") {
			t.Fatal("a finished task is open again")
		}
	})
}

func FuzzFacts(f *testing.F) {
	f.Add("Never do it. ```\ncode\n``` 不要。", `{"filePath":"a","todos":[{}]}`, "out")
	f.Fuzz(func(t *testing.T, text, input, output string) {
		var facts ledger.Facts
		for i, tool := range []string{"read", "bash", "todowrite", "apply_patch", "question", "grep"} {
			facts.Add([]lathe.Message{user(int64(2*i+1), text), did(int64(2*i+2), &lathe.Text{Text: text, Time: lathe.Span{Start: time.Unix(1, 0)}},
				done(tool, input, output, map[string]any{"exit": 1, "files": []any{output, map[string]any{"type": 1}}, "diagnostics": map[string]any{text: output}}),
				failed(tool, input, output))})
		}
		if got := facts.Render(ledger.Options{}); tokens.Count(got) > ledger.DefaultBudget {
			t.Errorf("%d tokens", tokens.Count(got))
		}
	})
}
