package learn

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/permission"
)

func user(id, text string) lathe.Message {
	return lathe.Message{ID: lathe.MessageID(id), Created: time.UnixMilli(7), Info: &lathe.User{}, Parts: []lathe.Part{
		{Body: &lathe.Text{Text: "always added by lathe", Synthetic: true}}, {Body: &lathe.Text{Text: text}},
	}}
}

func agent(id string, parts ...lathe.PartBody) lathe.Message {
	m := lathe.Message{ID: lathe.MessageID(id), Info: &lathe.Assistant{}}
	for _, p := range parts {
		m.Parts = append(m.Parts, lathe.Part{Body: p})
	}
	return m
}

func TestFind(t *testing.T) {
	refused := &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: []byte(`{"command":"npm i"}`), Error: (&permission.Corrected{Feedback: "use pnpm"}).Error()}}
	failed := &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: []byte(`{}`), Error: "no such file"}}
	messages := []lathe.Message{
		user("m1", "don't break anything"), // corrects nothing
		agent("m2", &lathe.Text{Text: "I used testify."}),
		user("m3", "No, use the standard library"),
		agent("m4", refused, failed),
		user("m5", "fine, and now the parser"),
		agent("m6", &lathe.Text{Text: "完成"}),
		user("m7", "注释不要用英文"),
		agent("m8", &lathe.Text{Text: "done"}),
		user("m9", "Never do that. "+strings.Repeat("A long new request. ", 40)),
		agent("m10", &lathe.Text{Text: "done again"}),
		user("m11", "write it in Go"),
		user("m12", "thanks"),
	}
	sess := lathe.Session{ID: "ses_1", Title: "the\nparser"}
	found := Find(sess, messages, []Replaced{{After: "m10", Text: "write it in C"}, {After: "m11", Text: "thanks"}})
	is := func(id, kind, before, text string, at int64) api.Correction {
		return api.Correction{Session: "ses_1", Title: "the parser", Message: lathe.MessageID(id), Time: at, Kind: kind, Before: before, Text: text}
	}
	want := []api.Correction{
		is("m3", Said, "I used testify.", "No, use the standard library", 7),
		is("m4", Refused, `bash {"command":"npm i"}`, "use pnpm", time.Time{}.UnixMilli()),
		is("m7", Said, "完成", "注释不要用英文", 7),
		is("m11", Undone, "write it in C", "write it in Go", 7),
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCorrects(t *testing.T) {
	for text, want := range map[string]bool{
		"no, in the other file": true, "Actually, keep it": true, "I told you: tabs": true, "use the table instead": true, "you forgot the test": true,
		"you shouldn’t touch go.mod": true, "不对": true, "以后都用 pnpm": true, "别这样": true, "应该放在 internal": true,
		"go on": false, "now the second file": false, "node version?": false, "thanks, looks good": false, "继续": false, "notes are in a.md": false, "很好，谢谢": false,
	} {
		if corrects(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestRequestIsBoundedAndTellsNoCredentials(t *testing.T) {
	var found []api.Correction
	for range MaxCorrections {
		found = append(found, Find(lathe.Session{}, []lathe.Message{
			agent("a", &lathe.Text{Text: strings.Repeat("said ", 1000)}), user("b", "no, "+strings.Repeat("字", 300)),
		}, nil)...)
	}
	found[0].Text = "no, the key is sk-ant-api03-" + strings.Repeat("aB3", 20)
	text := Request(found, strings.Repeat("known\n", 10_000))
	if len(text) > 60<<10 || !strings.Contains(text, "[24] the agent had answered: …") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	if strings.Contains(text, "aB3aB3") {
		t.Error("a key is told")
	}
}

func TestParse(t *testing.T) {
	found := []api.Correction{{Text: "a"}, {Text: "b"}, {Text: "c"}}
	answer := "Here are the lines:\n[2] Run make test.\r\n- [1, 3, 1] Use pnpm.\n[9] From nowhere.\n[] None.\n[1] run MAKE test.\n" +
		"[1] Known.\n[1] " + strings.Repeat("long ", 60) + "\n[3] ## A \x1b[31mred\u202e line\n[1] one\n[1] two\n[1] three\n"
	want := []api.Lesson{
		{Line: "Run make test.", From: found[1:2]},
		{Line: "Use pnpm.", From: []api.Correction{found[0], found[2]}},
		{Line: "A red line", From: found[2:]},
		{Line: "one", From: found[:1]},
		{Line: "two", From: found[:1]},
	}
	if diff := cmp.Diff(want, Parse(answer, found, "# Rules\n\n* known.\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Parse("none", found, ""); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestAdd(t *testing.T) {
	for name, c := range map[string]struct{ have, want string }{
		"none":                {"", heading + "\n\n- L\n"},
		"other text":          {"# A\n\ntext", "# A\n\ntext\n\n" + heading + "\n\n- L\n"},
		"section":             {heading + "\n\n- a\n", heading + "\n\n- a\n- L\n"},
		"cut off":             {heading + "\n\n- a", heading + "\n\n- a\n- L\n"},
		"empty section":       {heading, heading + "\n\n- L\n"},
		"not the last":        {heading + "\n\n- a\n\n## B\n\nb\n", heading + "\n\n- a\n- L\n\n## B\n\nb\n"},
		"empty, not the last": {heading + "\n\n## B\n", heading + "\n\n- L\n\n## B\n"},
		"Windows":             {"# A\r\n", "# A\r\n\r\n" + heading + "\r\n\r\n- L\r\n"},
	} {
		if diff := cmp.Diff(c.want, Add(c.have, "L")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzAdd(f *testing.F) {
	f.Add("# A\n\n"+heading+"\n- a\n## B\n", "[1] x")
	f.Fuzz(func(t *testing.T, have, answer string) {
		for _, l := range Parse(answer, []api.Correction{{}}, "") {
			now := Add(have, l.Line)
			if !Has(now, l.Line) {
				t.Errorf("%q is not in %q", l.Line, now)
			}
			for line := range strings.Lines(have) {
				if text := strings.TrimSpace(line); !strings.Contains(now, text) {
					t.Errorf("%q was lost from %q", text, now)
				}
			}
		}
	})
}
