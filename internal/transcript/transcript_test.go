package transcript

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"lathe"
)

const evil = `<script>alert(1)</script><img src=x onerror=alert(2)>" onload="x ` + "```\n# not a heading"

func sample() Session {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return Session{
		Info: lathe.Session{ID: "ses_1", Title: evil, Directory: "/home/me", Created: now},
		Messages: []lathe.Message{
			{ID: "msg_1", Created: now, Info: &lathe.User{System: evil}, Parts: []lathe.Part{
				{Body: &lathe.Text{Text: "my key is sk-abcdefghijklmnopqrstuvwx " + evil}},
				{Body: &lathe.File{MIME: "image/png", Filename: `a".png`, URL: "data:image/png;base64,AAAA"}},
				{Body: &lathe.File{MIME: "text/html", Filename: evil, URL: "javascript:alert(1)"}},
			}},
			{ID: "msg_2", Created: now, Info: &lathe.Assistant{Cwd: "/home/me", Error: &lathe.UnknownFailure{Message: evil}}, Parts: []lathe.Part{
				{Body: &lathe.Reasoning{Text: evil, Meta: lathe.Meta{"x": json.RawMessage(`"sk-abcdefghijklmnopqrstuvwx"`)}}},
				{Body: &lathe.ToolCall{Tool: evil, State: &lathe.ToolDone{
					Input: json.RawMessage(`{"command":"export API_KEY=hunter2hunter2","password":"short","n":1}`), Output: evil + " ghp_abcdefghijklmnopqrstuvwxyz0123", Title: evil,
					Metadata: map[string]any{"token": "abc", "list": []string{"AKIAABCDEFGHIJKLMNOP"}},
				}}},
				{Body: &lathe.Patch{Hash: "h", Files: []string{evil}}},
			}},
		},
		Diffs: []lathe.FileDiff{{File: evil, Patch: "+" + evil + "\n-x\n", Additions: 1}},
	}
}

func render(t *testing.T, s Session, f func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTMLCannotBeBrokenOutOf(t *testing.T) {
	s := sample()
	page := render(t, s, func(b *strings.Builder) error { return HTML(b, s) })
	for _, bad := range []string{"<script", "<img src=x", "javascript:", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	allowed := regexp.MustCompile(`^</?(html|head|meta|title|style|body|header|h1|h2|h3|p|main|section|div|details|summary|pre|code|b|i|em|del|ins|img|footer)\b`)
	for _, tag := range regexp.MustCompile(`<[^!][^>]*`).FindAllString(page, -1) {
		if !allowed.MatchString(tag) {
			t.Errorf("the page has a tag %q", tag)
		}
		if strings.Contains(tag, "onload") { // between tags, a quote and what follows are a text
			t.Errorf("a text of the session is in the tag %q", tag)
		}
	}
}

func TestMarkdownFencesCannotBeEnded(t *testing.T) {
	if got := fence("x", "a\n````\nb"); got != "`````x\na\n````\nb\n`````\n" {
		t.Errorf("fence is %q", got)
	}
	s := sample()
	if page := render(t, s, func(b *strings.Builder) error { return Markdown(b, s) }); !strings.HasPrefix(page, "# <script>") {
		t.Errorf("page begins %q", page[:40])
	}
}

func TestRedacted(t *testing.T) {
	whole, err := json.Marshal(Redacted(sample()))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-abcdef", "hunter2", "ghp_abc", "AKIAABC", `"short"`} {
		if strings.Contains(string(whole), secret) {
			t.Errorf("%s is still there", secret)
		}
	}
}

func TestSanitizedSaysNothing(t *testing.T) {
	s := sample()
	s.Messages[1].Parts[1].Body.(*lathe.ToolCall).Tool = "bash" // names of tools stay
	whole, err := json.Marshal(Sanitized(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"script", "alert", "home", "hunter", "short", "AAAA", "heading"} {
		if strings.Contains(string(whole), word) {
			t.Errorf("%q is still there", word)
		}
	}
	if again := sample(); again.Messages[0].Parts[0].Body.(*lathe.Text).Text == "" {
		t.Error("the original was changed")
	}
}

func TestWhatIsLeftOutIsTold(t *testing.T) {
	for hidden, want := range map[int]string{1: "One message was reverted and is left out.", 3: "3 messages were reverted and are left out."} {
		s := sample()
		s.Hidden = hidden
		for name, write := range map[string]func(io.Writer, Session) error{"html": HTML, "markdown": Markdown} {
			var b strings.Builder
			if err := write(&b, Redacted(s)); err != nil || !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q: %v", name, want, err)
			}
			b.Reset()
			if err := write(&b, sample()); err != nil || strings.Contains(b.String(), "left out") {
				t.Errorf("%s says that something is left out: %v", name, err)
			}
		}
	}
}
