package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/undo"
)

// inWorktree is a call of the task tool for a subagent with files of its own.
func inWorktree(prompt string, merge bool) use {
	u := task("general", prompt)
	u.args["worktree"] = true
	u.args["merge"] = merge
	return u
}

// git runs git in the repository and returns what it printed.
func (p *play) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// files returns the files of the repository that match, with their content.
func (p *play) files(pattern string) map[string]string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.dir, pattern))
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			p.t.Fatal(err)
		}
		out[filepath.Base(name)] = string(data)
	}
	return out
}

// TestTenHelpersLoseNothing holds that ten subagents which change the same line, each in a
// worktree of its own, lose nothing: each change is on a branch, and merged or told as a
// conflict with both sides; and that the merge can be undone.
func TestTenHelpersLoseNothing(t *testing.T) {
	const helpers = 10
	p := newPlay(t, map[string]string{"repo/shared.txt": "first\nsame\nlast\n"}, func(req *llm.Request) say {
		text := last(req)
		var n int
		switch {
		case text == "go":
			var calls []use
			for i := range helpers {
				calls = append(calls, inWorktree(fmt.Sprintf("helper %d", i), true))
			}
			return say{calls: calls}
		default:
			if _, err := fmt.Sscanf(text, "helper %d", &n); err != nil {
				return say{text: "ok"}
			}
			return say{calls: []use{
				{"write", args{"filePath": fmt.Sprintf("own-%d.txt", n), "content": fmt.Sprintf("of %d\n", n)}},
				{"edit", args{"filePath": "shared.txt", "oldString": "same", "newString": fmt.Sprintf("by %d", n)}},
			}}
		}
	})
	p.open()
	id := p.session(lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Allow})
	if out := p.prompt(id, session.Prompt{}, "go"); out.Failure != nil {
		t.Fatalf("outcome %+v", out)
	}
	results := strings.Join(p.tools(id), "\n\n")
	children, err := p.svc.Children(t.Context(), id)
	if err != nil || len(children) != helpers {
		t.Fatalf("%d children, %v\n%s", len(children), err, results)
	}
	shared := p.files("shared.txt")["shared.txt"]
	merged := 0
	for i := range helpers {
		mark := fmt.Sprintf("by %d\n", i)
		if strings.Contains(shared, mark) {
			merged++
		} else if !strings.Contains(results, "=======\n"+mark+">>>>>>> lathe/do-helper-"+fmt.Sprint(i)) {
			t.Errorf("what helper %d wrote is neither merged nor told:\n%s", i, results)
		}
		if got := p.git("show", fmt.Sprintf("lathe/do-helper-%d:shared.txt", i)); got != "first\n"+mark+"last\n" {
			t.Errorf("branch %d has %q", i, got)
		}
		if got := p.files("own-*.txt")[fmt.Sprintf("own-%d.txt", i)]; got != fmt.Sprintf("of %d\n", i) {
			t.Errorf("own file of %d: %q", i, got)
		}
	}
	if merged != 1 {
		t.Errorf("%d of the conflicting changes were merged:\n%s", merged, shared)
	}
	if got := p.git("log", "--format=%an %s", "HEAD"); got != "n first\n" {
		t.Errorf("the branch of the person moved: %s", got)
	}
	m := p.messages(id)[0]
	if _, err := p.svc.Undo.Revert(t.Context(), id, undo.Input{MessageID: m.ID}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"shared.txt": "first\nsame\nlast\n"}, p.files("*.txt")); diff != "" {
		t.Errorf("after undo (-want +got):\n%s", diff)
	}
}

// TestMergeOfAnEarlierTask holds that what a helper did is merged later, when asked, without
// asking the subagent again, and that what the person changed meanwhile stays.
func TestMergeOfAnEarlierTask(t *testing.T) {
	var child string
	p := newPlay(t, map[string]string{"repo/a.txt": "1\n2\n3\n4\n5\n6\n7\n"}, func(req *llm.Request) say {
		switch text := last(req); text {
		case "go":
			u := inWorktree("change it", false)
			return say{calls: []use{u}}
		case "change it":
			return say{calls: []use{{"edit", args{"filePath": "a.txt", "oldString": "7\n", "newString": "seven\n"}}}}
		case "merge it":
			u := inWorktree("", true)
			u.args["task_id"] = child
			return say{calls: []use{u}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session(lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Allow})
	p.prompt(id, session.Prompt{}, "go")
	if got := p.files("a.txt")["a.txt"]; got != "1\n2\n3\n4\n5\n6\n7\n" {
		t.Fatalf("it was merged unasked: %q", got)
	}
	children, _ := p.svc.Children(t.Context(), id)
	child = string(children[0].ID)
	if err := os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte("one\n2\n3\n4\n5\n6\n7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := len(p.asked())
	p.prompt(id, session.Prompt{}, "merge it")
	if n := len(p.asked()) - before; n != 2 {
		t.Errorf("%d requests for a merge, want 2", n)
	}
	if got := p.files("a.txt")["a.txt"]; got != "one\n2\n3\n4\n5\n6\nseven\n" {
		t.Errorf("merged: %q\n%s", got, p.tools(id))
	}
	p.prompt(id, session.Prompt{}, "merge it")
	if tools := p.tools(id); !strings.Contains(tools[len(tools)-1], "Nothing was left to merge") {
		t.Errorf("merged twice: %q", tools[len(tools)-1])
	}
}

// TestMergeNeedsThePermissionToEdit holds that a branch is not merged by an agent that may not
// change one of its files.
func TestMergeNeedsThePermissionToEdit(t *testing.T) {
	var child string
	p := newPlay(t, map[string]string{"repo/opencode.json": `{"agent": {"strict": {"mode": "primary", "permission": {"edit": {"a.txt": "deny"}}}}}`, "repo/a.txt": "a\n"}, func(req *llm.Request) say {
		switch text := last(req); text {
		case "go":
			return say{calls: []use{inWorktree("change it", false)}}
		case "change it":
			return say{calls: []use{{"write", args{"filePath": "a.txt", "content": "b\n"}}, {"edit", args{"filePath": "a.txt", "oldString": "a", "newString": "b"}}}}
		}
		if strings.HasPrefix(last(req), "merge it") {
			u := inWorktree("", true)
			u.args["task_id"] = child
			return say{calls: []use{u}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	children, _ := p.svc.Children(t.Context(), id)
	child = string(children[0].ID)
	p.prompt(id, session.Prompt{Agent: "strict"}, "merge it")
	if got := p.files("a.txt")["a.txt"]; got != "a\n" {
		t.Errorf("a file was merged against a rule: %q", got)
	}
	if tools := p.tools(id); len(tools) != 2 || !strings.Contains(tools[0], "modified a.txt +1 -1") || !strings.HasPrefix(tools[1], "task failed: ") {
		t.Errorf("calls %q", tools)
	}
}
