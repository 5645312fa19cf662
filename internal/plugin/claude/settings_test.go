package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/plugin/claude"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, text, base string) claude.Settings {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if base != "" {
		path = filepath.Join(base, ".claude", "settings.json")
	}
	write(t, path, text)
	return claude.Read(claude.File{Path: path, Base: base})
}

func TestSettings(t *testing.T) {
	s := read(t, `{"model": "opus", "hooks": {
		"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"type": "prompt", "prompt": "p"}]}],
		"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "b", "timeout": 1.5}]}, {"matcher": "(?!x", "hooks": []}, {"matcher": "^(?!Bash)", "hooks": [{"type": "command", "command": "c"}]}],
		"TeammateIdle": [], "PreCompact": 7}}`, "")
	want := []claude.Hook{
		{Event: "PreToolUse", Matcher: "Bash", Command: "b", Timeout: 1500 * time.Millisecond},
		{Event: "PreToolUse", Matcher: "^(?!Bash)", Command: "c", Timeout: time.Minute},
		{Event: "Stop", Command: "a", Timeout: time.Minute},
	}
	if diff := cmp.Diff(want, s.Hooks, cmpopts.IgnoreUnexported(claude.Hook{})); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	if text := strings.Join(s.Problems, "\n"); len(s.Problems) != 4 || !strings.Contains(text, "TeammateIdle") || !strings.Contains(text, `"prompt"`) ||
		!strings.Contains(text, `PreToolUse: hooks with the matcher "(?!x"`) || !strings.Contains(text, "PreCompact") {
		t.Errorf("problems %q", s.Problems)
	}
	for name, text := range map[string]string{"off": `{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`, "none": `{}`, "empty": `{"hooks": {}}`} {
		if s := read(t, text, ""); len(s.Hooks) > 0 || s.Digest != "" || s.Problems != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := read(t, `{"hooks"`, ""); len(s.Problems) != 1 {
		t.Errorf("broken: %+v", s)
	}
	if s := claude.Read(claude.File{Path: "/nowhere/settings.json"}); s.Problems != nil || s.Hooks != nil {
		t.Errorf("no file: %+v", s)
	}
}

// An answer holds for the hooks as they are, whatever else the settings say, and for the
// files that a repository's hooks name.
func TestDigest(t *testing.T) {
	const text = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/tools/check.sh ./lib.sh"}]}]}}`
	repo := t.TempDir()
	digest := func(settings string) string { return read(t, settings, repo).Digest }
	first := digest(text)
	if first == "" || digest(strings.Replace(text, "{", `{"permissions": {"allow": ["Bash(ls)"]}, `, 1)) != first {
		t.Error("what is no hook changes the digest")
	}
	seen := map[string]bool{first: true}
	for _, change := range []func(){
		func() { write(t, filepath.Join(repo, "tools", "check.sh"), "a") },
		func() { write(t, filepath.Join(repo, "tools", "check.sh"), "b") },
		func() { write(t, filepath.Join(repo, "lib.sh"), "a") },
		func() { write(t, filepath.Join(repo, ".claude", "hooks", "more.py"), "a") },
	} {
		change()
		if now := digest(text); now == "" || seen[now] {
			t.Errorf("a changed file leaves the digest %q", now)
		} else {
			seen[now] = true
		}
	}
	if other := digest(strings.Replace(text, "check.sh", "other.sh", 1)); seen[other] {
		t.Error("another command leaves the digest")
	}
}

func TestAnswers(t *testing.T) {
	a := claude.OpenAnswers(filepath.Join(t.TempDir(), "data", "answers.json"))
	s := claude.Settings{File: claude.File{Path: "/a"}, Digest: "1"}
	said := func(s claude.Settings) [2]bool {
		run, said, err := a.Said(s)
		if err != nil {
			t.Fatal(err)
		}
		return [2]bool{run, said}
	}
	if got := said(s); got != [2]bool{} {
		t.Errorf("nothing was said: %v", got)
	}
	for _, run := range []bool{true, false} {
		if err := a.Decide(t.Context(), s, run); err != nil {
			t.Fatal(err)
		}
		if got := said(s); got != [2]bool{run, true} {
			t.Errorf("said %v: %v", run, got)
		}
	}
	for _, other := range []claude.Settings{{File: s.File, Digest: "2"}, {File: s.File}, {File: claude.File{Path: "/b"}, Digest: "1"}} {
		if got := said(other); got != [2]bool{} {
			t.Errorf("%+v: %v", other, got)
		}
	}
}
