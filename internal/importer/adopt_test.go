package importer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
)

// machine has files in a home directory.
func machine(t *testing.T, files map[string]string) (m Machine, home string) {
	t.Helper()
	home = t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	return Machine{Paths: paths, Getenv: getenv}, home
}

// adopted takes over what a program has, and returns what became of it, without the home
// directory, and the files that lathe's configuration has then.
func adopted(t *testing.T, m Machine, home string, in api.Import) (news []api.ImportedFile, files map[string]string) {
	t.Helper()
	short := func(path string) string {
		if rel, err := filepath.Rel(home, path); err == nil {
			return filepath.ToSlash(rel)
		}
		return path
	}
	err := m.Adopt(t.Context(), in, func(n api.ImportNews) error {
		if f := n.File; f != nil {
			f.From, f.To = short(f.From), short(f.To)
			news = append(news, *f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	_ = filepath.WalkDir(m.Paths.Config, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[short(path)] = string(text)
		}
		return nil
	})
	return news, files
}

// TestAdoptClaudeCode copies commands and agents of Claude Code in the form that lathe reads:
// what an agent may not use there it may not use here, and what is here already stays.
func TestAdoptClaudeCode(t *testing.T) {
	m, home := machine(t, map[string]string{
		".claude/commands/ui/fix.md":      "---\ndescription: Fix: the button\nargument-hint: \"[name]\"\nallowed-tools: Bash(git:*)\nmodel: haiku\n---\nFix $1 in @src, see !`git log -1`\n",
		".claude/commands/mine.md":        "theirs",
		".claude/commands/old.md":         "theirs",
		".claude/agents/looker.md":        "---\nname: looks\ndescription: Looks only\ntools: Read, Grep\nmodel: opus\ncolor: red\n---\nYou look.",
		".claude/agents/all.md":           "---\nname: all\ndescription: Does it\ndisallowedTools: [WebFetch]\n---\nYou do.",
		".claude/agents/bound.md":         "---\ntools: Bash(git *), Read, Edit, Grep, Glob, WebSearch, WebFetch, Task, Skill, AskUserQuestion\n---\nYou commit.",
		".claude/agents/build.md":         "---\nname: build\n---\nx",
		".claude/agents/out.md":           "---\nname: ../../evil\n---\nx",
		".claude/agents/broken.md":        "---\n[\n---\nx",
		".claude/.credentials.json":       "secret",
		".config/lathe/commands/mine.md":  "mine",
		".config/opencode/command/old.md": "of OpenCode",
	})
	news, files := adopted(t, m, home, api.Import{Program: api.ClaudeCode})
	c, a := ".config/lathe/command/", ".config/lathe/agent/"
	wantNews := []api.ImportedFile{
		{Kind: "command", Name: "mine", From: ".claude/commands/mine.md", To: ".config/lathe/commands/mine.md", Outcome: api.ImportKept},
		{Kind: "command", Name: "old", From: ".claude/commands/old.md", To: ".config/opencode/command/old.md", Outcome: api.ImportKept},
		{Kind: "command", Name: "ui/fix", From: ".claude/commands/ui/fix.md", To: c + "ui/fix.md", Outcome: api.ImportAdded, Notes: []string{"without: allowed-tools, model"}},
		{Kind: "agent", Name: "all", From: ".claude/agents/all.md", To: a + "all.md", Outcome: api.ImportAdded},
		{Kind: "agent", Name: "bound", From: ".claude/agents/bound.md", To: a + "bound.md", Outcome: api.ImportAdded, Notes: []string{"a tool is not limited to what its list says in parentheses"}},
		{Kind: "agent", Name: "broken", From: ".claude/agents/broken.md", Outcome: api.ImportFailed, Notes: []string{"what stands between --- and --- is not YAML"}},
		{Kind: "agent", Name: "build", From: ".claude/agents/build.md", Outcome: api.ImportFailed, Notes: []string{"lathe has an agent of this name"}},
		{Kind: "agent", Name: "looks", From: ".claude/agents/looker.md", To: a + "looks.md", Outcome: api.ImportAdded, Notes: []string{"without: model"}},
		{Kind: "agent", Name: "../../evil", From: ".claude/agents/out.md", Outcome: api.ImportFailed, Notes: []string{"its name cannot be that of a file"}},
	}
	for i := range wantNews {
		if wantNews[i].To == "" {
			news[i].To = "" // nothing is made relative
		}
	}
	if diff := cmp.Diff(wantNews, news); diff != "" {
		t.Errorf("news (-want +got):\n%s", diff)
	}
	want := map[string]string{
		".config/lathe/commands/mine.md": "mine",
		c + "ui/fix.md":                  "---\ndescription: \"Fix: the button [name]\"\n---\nFix $1 in @src, see !`git log -1`\n",
		a + "all.md":                     "---\ndescription: \"Does it\"\nmode: \"subagent\"\npermission: {\"webfetch\":\"deny\"}\n---\nYou do.\n",
		a + "bound.md":                   "---\ndescription: \"An agent made for Claude Code\"\nmode: \"subagent\"\n---\nYou commit.\n",
		a + "looks.md": "---\ndescription: \"Looks only\"\nmode: \"subagent\"\n" +
			`permission: {"edit":"deny","bash":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny","task":"deny","skill":"deny","question":"deny","glob":"deny","list":"deny"}` + "\n---\nYou look.\n",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	again, files := adopted(t, m, home, api.Import{Program: api.ClaudeCode})
	if again[2].Outcome != api.ImportSame || !cmp.Equal(want, files) {
		t.Errorf("a second time: %+v", again[2])
	}
}

// TestAdoptCodex copies prompts and instructions of Codex; one that would run a command here is
// left out.
func TestAdoptCodex(t *testing.T) {
	m, home := machine(t, map[string]string{
		".codex/prompts/pr.md":     "---\ndescription: Open it\n---\nOpen $1 for $FILE, $ARGUMENTS",
		".codex/prompts/danger.md": "say !`rm -rf x`",
		".codex/prompts/sub/no.md": "deeper ones are none",
		".codex/AGENTS.md":         "Be brief.\n",
		".codex/auth.json":         `{"OPENAI_API_KEY": "secret"}`,
	})
	dry, files := adopted(t, m, home, api.Import{Program: api.Codex, DryRun: true})
	if len(files) > 0 || dry[1].Outcome != api.ImportRead {
		t.Errorf("a dry run writes %v, and says %+v", files, dry)
	}
	news, files := adopted(t, m, home, api.Import{Program: api.Codex})
	news[0].To = ""
	wantNews := []api.ImportedFile{
		{Kind: "command", Name: "danger", From: ".codex/prompts/danger.md", Outcome: api.ImportFailed, Notes: []string{"it has !`…`, which would run a command here"}},
		{Kind: "command", Name: "pr", From: ".codex/prompts/pr.md", To: ".config/lathe/command/pr.md", Outcome: api.ImportAdded, Notes: []string{"$FILE is not filled in: arguments have no names here"}},
		{Kind: "instructions", Name: "AGENTS.md", From: ".codex/AGENTS.md", To: ".config/lathe/AGENTS.md", Outcome: api.ImportAdded},
	}
	if diff := cmp.Diff(wantNews, news); diff != "" {
		t.Errorf("news (-want +got):\n%s", diff)
	}
	want := map[string]string{
		".config/lathe/command/pr.md": "---\ndescription: \"Open it\"\n---\nOpen $1 for $FILE, $ARGUMENTS\n",
		".config/lathe/AGENTS.md":     "Be brief.\n",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := m.Adopt(t.Context(), api.Import{Program: "Other"}, func(api.ImportNews) error { return nil }); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("another program: %v", err)
	}
}
