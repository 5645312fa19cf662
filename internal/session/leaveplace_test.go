package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// leaving plays a subagent in a worktree of its own that runs one command there, and returns
// what the model was told of it and the worktrees that are left, by their names.
func leaving(t *testing.T, beside bool, command string) (p *play, id lathe.SessionID, told string, left []string) {
	t.Helper()
	p = newPlay(t, map[string]string{"repo/.gitignore": "*.log\n", "repo/a.txt": "a\n"}, func(req *llm.Request) say {
		switch text := last(req); {
		case text == "go":
			u := inWorktree("look", false)
			u.args["background"] = beside
			return say{calls: []use{u}}
		case text == "look" || text == "once more":
			return say{calls: []use{{"bash", args{"command": command}}}}
		case strings.Contains(text, "<task_result>"):
			return say{text: "told"}
		}
		return say{text: "ok"}
	}).open()
	id = p.session(lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Allow})
	p.prompt(id, session.Prompt{}, "go")
	told = strings.Join(p.tools(id), "\n")
	if beside {
		p.endsWith(id, "told")
		told = strings.Join(p.reports(id), "\n")
	}
	return p, id, told, p.worktrees()
}

// worktrees returns the names of the repository's linked worktrees.
func (p *play) worktrees() (names []string) {
	p.t.Helper()
	for line := range strings.Lines(p.git("worktree", "list", "--porcelain")) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok && dir != p.dir {
			names = append(names, filepath.Base(dir))
		}
	}
	return names
}

// TestUnusedWorktreeIsRemoved holds that the worktree of a subagent that changed nothing goes
// with its end, whether it was waited for or not; and that nothing that only the worktree has
// goes with it.
func TestUnusedWorktreeIsRemoved(t *testing.T) {
	kept := []string{"do-look"}
	for _, c := range []struct {
		name, command string
		beside        bool
		told          string
		left          []string
	}{
		{"foreground", "cat a.txt", false, "its worktree was removed", nil},
		{"background", "cat a.txt", true, "its worktree was removed", nil},
		{"changed", "echo b > b.txt", false, "added b.txt", kept},
		{"changed in the background", "echo b > b.txt", true, "added b.txt", kept},
		{"ignored file", "echo b > out.log", true, "It changed no files in its worktree", kept},
		{"commit that is taken back", "git -c user.name=n -c user.email=e@e commit -q --allow-empty -m x", false, "It changed no files in its worktree", kept},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, id, told, left := leaving(t, c.beside, c.command)
			if !strings.Contains(told, c.told) {
				t.Errorf("told %q", told)
			}
			if d := cmp.Diff(c.left, left); d != "" {
				t.Errorf("worktrees (-want +got):\n%s", d)
			}
			children, err := p.svc.Children(t.Context(), id)
			if err != nil || len(children) != 1 {
				t.Fatalf("children %v, %v", children, err)
			}
			if _, err := os.Stat(children[0].Directory); err != nil {
				t.Errorf("the directory of the subagent's session: %v", err)
			}
			if gone := c.left == nil; gone != (p.git("branch", "--list", "lathe/*") == "") || gone != (children[0].Directory == p.dir) {
				t.Errorf("branches %q, the session is in %s", p.git("branch", "--list", "lathe/*"), children[0].Directory)
			}
		})
	}
}

// TestRemovedWorktreeIsMadeAgain holds that a subagent whose worktree was removed gets a new one
// when it is asked again, and is not let loose on the files of its caller.
func TestRemovedWorktreeIsMadeAgain(t *testing.T) {
	var child string
	p := newPlay(t, map[string]string{"repo/a.txt": "a\n"}, func(req *llm.Request) say {
		switch text := last(req); text {
		case "go":
			return say{calls: []use{inWorktree("look", false)}}
		case "look":
			return say{text: "seen"}
		case "again", "merge":
			u := inWorktree("change it", false)
			u.args["task_id"] = child
			if text == "merge" {
				u = inWorktree("", true)
				u.args["task_id"] = child
			}
			return say{calls: []use{u}}
		case "change it":
			return say{calls: []use{{"write", args{"filePath": "b.txt", "content": "b\n"}}}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session(lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Allow})
	p.prompt(id, session.Prompt{}, "go")
	children, _ := p.svc.Children(t.Context(), id)
	child = string(children[0].ID)
	for _, text := range []string{"merge", "again"} {
		p.prompt(id, session.Prompt{}, text)
	}
	if d := cmp.Diff(map[string]string{"a.txt": "a\n"}, p.files("*.txt")); d != "" {
		t.Errorf("the caller's files (-want +got):\n%s", d)
	}
	if tools := p.tools(id); len(tools) != 3 || !strings.Contains(tools[1], "nothing to merge") || !strings.Contains(tools[2], "added b.txt") {
		t.Fatalf("calls %q", tools)
	}
	p.prompt(id, session.Prompt{}, "merge")
	if d := cmp.Diff(map[string]string{"a.txt": "a\n", "b.txt": "b\n"}, p.files("*.txt")); d != "" {
		t.Errorf("after the merge (-want +got):\n%s\n%s", d, p.tools(id))
	}
}

// TestEarlierWorktreeOfTheName holds that sessions whose worktree is gone do not keep a later
// one of the same name.
func TestEarlierWorktreeOfTheName(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/a.txt": "a\n"}, func(req *llm.Request) say {
		switch text := last(req); text {
		case "change", "look":
			u := inWorktree("the "+text, false)
			u.args["description"] = "same name"
			return say{calls: []use{u}}
		case "the change":
			return say{calls: []use{{"write", args{"filePath": "b.txt", "content": "b\n"}}}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session(lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Allow})
	p.prompt(id, session.Prompt{}, "change")
	children, err := p.svc.Children(t.Context(), id)
	if err != nil || len(children) != 1 {
		t.Fatalf("children %v, %v", children, err)
	}
	p.git("worktree", "remove", "--force", children[0].Directory)
	p.git("branch", "-D", "lathe/same-name")
	p.prompt(id, session.Prompt{}, "look")
	if d := cmp.Diff([]string(nil), p.worktrees()); d != "" {
		t.Errorf("worktrees (-want +got):\n%s\n%s", d, p.tools(id))
	}
}
