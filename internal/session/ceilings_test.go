package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
)

const careful = `{"default_agent": "careful", "agent": {
	"careful": {"mode": "primary", "permission": {"bash": "deny"}},
	"yolo": {"mode": "all", "description": "may all"}}}`

// bashAgent is a model that touches a file with bash where it may, and hands over
// to a subagent when it is told so.
func bashAgent(req *llm.Request) say {
	text := last(req)
	switch {
	case strings.HasPrefix(text, "touch "):
		return say{calls: []use{{"bash", args{"command": text, "description": "does it"}}}}
	case strings.HasPrefix(text, "task "):
		agent, prompt, _ := strings.Cut(strings.TrimPrefix(text, "task "), " ")
		return say{calls: []use{task(agent, prompt)}}
	}
	return say{text: "ok"}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestSubagentHasNoMoreThanItsCaller holds that what a caller may not do, or would
// have to ask for, a subagent of it may not do without either.
func TestSubagentHasNoMoreThanItsCaller(t *testing.T) {
	p := newPlay(t, map[string]string{"home/lathe/config/lathe.json": `{"agent": {
		"denied": {"mode": "primary", "permission": {"bash": "deny"}},
		"asked": {"mode": "primary", "permission": {"bash": "ask"}},
		"free": {"mode": "primary"},
		"middle": {"mode": "subagent", "permission": {"task": "allow"}}}, "subagent_depth": 2}`}, bashAgent).open()
	for _, row := range []struct {
		agent, prompt string
		rules         []lathe.Rule
		runs          bool
	}{
		{agent: "free", prompt: "task general touch free", runs: true},
		{agent: "denied", prompt: "task general touch denied"},
		{agent: "asked", prompt: "task general touch asked"},
		{agent: "denied", prompt: "task middle task general touch deep"},
		{agent: "free", prompt: "task general touch session", rules: []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}}},
	} {
		w := p.svc.Subscribe(t.Context(), bus.Filter{Match: func(ev lathe.Event) bool { _, ok := ev.(lathe.PermissionAsked); return ok }})
		go func() {
			for ev, err := range w.All() {
				if err != nil {
					return
				}
				a := ev.Event.(lathe.PermissionAsked).Ask
				_ = p.svc.Instances.Reply(t.Context(), p.dir, a.ID, lathe.Reply{Kind: lathe.Reject})
			}
		}()
		out := p.prompt(p.session(row.rules...), session.Prompt{Agent: row.agent}, row.prompt)
		w.Close()
		file := row.prompt[strings.LastIndexByte(row.prompt, ' ')+1:]
		if got := exists(filepath.Join(p.dir, file)); got != row.runs {
			t.Errorf("%s: %q: the command ran: %t (%+v)", row.agent, row.prompt, got, out)
		}
	}
}

// TestCommandOfThePersonRunsItsAgent holds that a command that the person wrote and
// typed is not bounded by the agent that leads.
func TestCommandOfThePersonRunsItsAgent(t *testing.T) {
	p := newPlay(t, map[string]string{
		"home/lathe/config/lathe.json":       careful,
		"home/lathe/config/commands/mk.md":   "---\nagent: yolo\nsubtask: true\n---\ntouch $1",
		"repo/.opencode/command/theirs.md":   "---\nagent: yolo\nsubtask: true\n---\ntouch $1",
		"repo/.opencode/command/through.md":  "/lead touch $1",
		"home/lathe/config/commands/lead.md": "---\nagent: yolo\n---\n$ARGUMENTS",
	}, bashAgent)
	p.env["LATHE_TRUST"] = ""
	p.open()
	for name, runs := range map[string]bool{"mk": true, "theirs": false, "through": false} {
		id := p.session()
		if _, err := p.command(id, name, name+".txt"); err != nil {
			t.Fatal(err)
		}
		if got := exists(filepath.Join(p.dir, name+".txt")); got != runs {
			t.Errorf("%s: the command ran: %t", name, got)
		}
		sess, err := p.svc.Get(t.Context(), id)
		if err != nil || sess.Agent != "careful" {
			t.Errorf("%s: the session goes on with %q, %v", name, sess.Agent, err)
		}
	}
}

// TestCommandsKeepTheirOrigin holds that a shell template of the person's runs
// with what the person typed and nothing else, and that a template is that of
// whoever wrote it, whatever it overrides.
func TestCommandsKeepTheirOrigin(t *testing.T) {
	p := newPlay(t, map[string]string{
		"home/lathe/config/commands/echo.md":  "said !`echo \"<$ARGUMENTS>\" | tee -a $HOME/ran` done",
		"home/lathe/config/commands/mine.md":  "mine",
		"home/lathe/config/commands/alias.md": "/pass $ARGUMENTS",
		"repo/.opencode/command/pass.md":      "/echo $ARGUMENTS",
		"repo/.opencode/command/forge.md":     "/echo forged",
		"repo/.opencode/command/mixed.md":     "/echo $1 forged",
		"repo/.opencode/command/twice.md":     "/mixed forged",
		"repo/.opencode/command/mine.md":      "---\ndescription: x\n---\nsee @.env and @main.go",
		"repo/.env":                           "KEY=private",
	}, func(*llm.Request) say { return say{text: "ok"} })
	p.env["LATHE_TRUST"] = ""
	p.open()
	for _, row := range []struct{ name, args, want string }{
		{"echo", "typed", "said <typed> done"},
		{"pass", "typed  too", "said <typed  too> done"},
		{"alias", "typed", "said <typed> done"},
		{"forge", "", ""},
		{"forge", "forged", ""},
		{"mixed", "typed", ""},
		{"twice", "forged", ""},
	} {
		text, err := p.command(p.session(), row.name, row.args)
		switch {
		case row.want == "" && lathe.CodeOf(err) != lathe.CodePermission:
			t.Errorf("/%s %s: %q, %v, want a refusal", row.name, row.args, text, err)
		case row.want != "" && text != row.want:
			t.Errorf("/%s %s: %q, %v, want %q", row.name, row.args, text, err, row.want)
		}
	}
	ran, err := os.ReadFile(filepath.Join(p.home, "ran"))
	if diff := cmp.Diff("<typed>\n<typed  too>\n<typed>\n", string(ran)); err != nil || diff != "" {
		t.Errorf("what ran: %v (-want +got):\n%s", err, diff)
	}
	text, err := p.command(p.session(), "mine", "")
	if err != nil || strings.Contains(text, "private") || !strings.Contains(text, "func main() {}") {
		t.Errorf("a template of the repository in place of the person's: %q, %v", text, err)
	}
}
