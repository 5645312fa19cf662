package builtin

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lathe/internal/tool"
)

// TestFilesThatSteerOtherPrograms holds that a write to what makes another program
// run something is asked about, by edits and by commands, with the reason, and that
// everyday files are not.
func TestFilesThatSteerOtherPrograms(t *testing.T) {
	r := newRig(t)
	cmd := exec.Command("git", "-C", r.dir, "config", "core.hooksPath", "tools/hooks")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git config: %v\n%s", err, out)
	}
	asks := func(name string, input m) bool {
		r.asked()
		_, _ = r.run(name, input)
		for _, ask := range r.asks {
			if ask.Metadata[tool.MetaProtected] == true && ask.Metadata["reason"] != "" && ask.Always == nil {
				return true
			}
		}
		return false
	}
	for file, want := range map[string]bool{
		".husky/pre-commit": true, "web/.husky/pre-push": true, "tools/hooks/pre-commit": true, ".envrc": true, "sub/.envrc": true, ".vscode/tasks.json": true,
		".VSCode/Tasks.json": true, ".vscode/settings.json": true, "x.code-workspace": true, ".mcp.json": true, ".github/workflows/ci.yml": true,
		".github/actions/a/action.yml": true, ".gitlab-ci.yml": true, ".claude/settings.json": true, ".claude/hooks/x.sh": true, ".cursor/mcp.json": true,
		".codex/config.toml": true, ".gemini/settings.json": true, ".devcontainer/devcontainer.json": true, ".idea/runConfigurations/a.xml": true,
		".pre-commit-config.yaml": true, "lefthook.yml": true, ".git/hooks/pre-commit": true, "lathe.json": true,
		"Makefile": false, "package.json": false, ".github/dependabot.yml": false, ".vscode/extensions.json": false, "tools/hook.go": false, "src/husky.go": false,
		".claude/skills/a/SKILL.md": false, ".cursor/rules/a.mdc": false, "CLAUDE.md": false, "envrc.md": false, "docs/.github.md": false, "go.mod": false,
		".env.example": false, "run/a.go": false,
	} {
		if got := asks("write", m{"filePath": file, "content": "x"}); got != want {
			t.Errorf("write %s is asked about: %t", file, got)
		}
		if err := os.MkdirAll(filepath.Dir(r.path(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := asks("bash", m{"command": "echo x > '" + file + "'", "description": "d"}); got != want {
			t.Errorf("a command that writes %s is asked about: %t", file, got)
		}
	}
	r.deny = denies("bash")
	for command, want := range map[string]bool{
		"cp -r evil .github": true, "mv evil .vscode": true, "cp a .github/workflows/b.yml": true, "tee .envrc < a": true, "ln -s ../a .husky/pre-commit": true,
		"cp -r src dst": false, "rm -rf .vscode": false, "git checkout .github": false, "mkdir -p .github": false, "cat .github/workflows/ci.yml": false, "ls .husky": false,
	} {
		if got := asks("bash", m{"command": command, "description": "d"}); got != want {
			t.Errorf("%q is asked about: %t", command, got)
		}
	}
}
