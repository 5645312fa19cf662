package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// command runs a command to its end and returns what the model was sent.
func (p *play) command(id lathe.SessionID, name, arguments string) (string, error) {
	p.t.Helper()
	n := len(p.asked())
	_, run, err := p.svc.Command(p.t.Context(), id, session.CommandInput{Name: name, Arguments: arguments, Model: scripted})
	if err != nil {
		return "", err
	}
	if out := p.wait(run); out.Failure != nil {
		return "", out.Failure
	}
	text := said(p.asked()[n].Messages)
	text, _, _ = strings.Cut(text, "\n<system-reminder>")
	return text, nil
}

func TestCommandTemplates(t *testing.T) {
	tests := []struct{ name, template, arguments, want string }{
		{"plain", "Do it.", "", "Do it."},
		{"arguments are appended", "Do it.", "now please", "Do it.\n\nnow please"},
		{"all arguments", "Say $ARGUMENTS!", `a "b c"`, `Say a "b c"!`},
		{"numbers", "1:$1 2:$2", `a "b c" d e`, "1:a 2:b c d e"},
		{"missing numbers", "1:$1 2:$2", "a", "1:a 2:"},
		{"numbers from outside", "$1", "$2 $ARGUMENTS", "$2 $ARGUMENTS"},
		{"shell", "On !`echo $((1+1))`: !`echo two; exit 3`", "", "On 2: two\n(exit code 3)"},
		{"arguments in the shell", "!`printf '%s|' \"$1\" $ARGUMENTS`", `a;id "b c"`, `a;id b c|a;id|"b|c"|`},
		{"shell from outside", "Say $ARGUMENTS", "!`echo pwned`", "Say !`echo pwned`"},
		{"standing for another", "/inner x $1", "y", "Inner: x y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, map[string]string{
				"repo/.opencode/command/it.md":    "---\ndescription: d\n---\n" + tt.template,
				"repo/.opencode/command/inner.md": "Inner: $ARGUMENTS",
			}, func(*llm.Request) say { return say{text: "ok"} }).open()
			got, err := p.command(p.session(), "it", tt.arguments)
			if err != nil || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	p := newPlay(t, map[string]string{
		"repo/.opencode/command/a.md":        "/b",
		"repo/.opencode/command/b.md":        "/a",
		"repo/.opencode/command/lost.md":     "---\nagent: nobody\n---\nx",
		"repo/.opencode/command/nomodel.md":  "---\nmodel: script2/none\n---\nx",
		"repo/.opencode/command/sub.md":      "---\nsubtask: true\nagent: explore\ndescription: looks\n---\nlook at $1",
		"repo/.opencode/command/agent.md":    "---\nagent: plan\n---\nplan $1 with @main.go",
		"repo/.opencode/command/git/deep.md": "deep",
	}, func(*llm.Request) say { return say{text: "ok"} }).open()
	id := p.session()
	for name, want := range map[string]string{
		"nope":    `there is no command "nope"`,
		"a":       "a → b → a",
		"lost":    `there is no agent "nobody"`,
		"nomodel": "script2",
	} {
		if _, err := p.command(id, name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	var e *lathe.Error
	if _, err := p.command(id, "nope", ""); !errors.As(err, &e) || !strings.Contains(e.Hint, "git/deep") || !strings.Contains(e.Hint, "review") {
		t.Errorf("the hint does not list the commands: %+v", e)
	}
	if got := p.messages(id); len(got) != 0 {
		t.Fatalf("commands that failed left %d messages", len(got))
	}
	sub := p.svc.Subscribe(t.Context(), bus.Filter{Match: func(ev lathe.Event) bool { _, ok := ev.(lathe.CommandExecuted); return ok }})
	defer sub.Close()
	text, err := p.command(id, "agent", "this")
	if err != nil || !strings.HasPrefix(text, "plan this with @main.go\nCalled the Read tool") || !strings.Contains(text, "func main() {}") {
		t.Errorf("%q, %v", text, err)
	}
	ev, err := sub.Next(t.Context())
	want := lathe.CommandExecuted{Name: "agent", SessionID: id, Arguments: "this", MessageID: p.messages(id)[0].ID}
	if diff := cmp.Diff(lathe.Event(want), ev.Event); err != nil || diff != "" {
		t.Errorf("event %v (-want +got):\n%s", err, diff)
	}
	if info := p.messages(id)[0].Info.(*lathe.User); info.Agent != "plan" {
		t.Errorf("agent %q", info.Agent)
	}
	id = p.session()
	if _, err := p.command(id, "sub", "there"); err != nil {
		t.Fatal(err)
	}
	if tools := p.tools(id); len(tools) != 1 || !strings.Contains(tools[0], "<task_result>\nok\n") {
		t.Errorf("calls %q", tools)
	}
	children, _ := p.svc.Children(t.Context(), id)
	if children[0].Title != "looks (@explore subagent)" {
		t.Errorf("title %q", children[0].Title)
	}
}

func TestBuiltinCommands(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "ok"} }).open()
	id := p.session()
	text, err := p.command(id, "init", "mind the tests")
	if err != nil || !strings.Contains(text, "AGENTS.md") || !strings.HasSuffix(text, "mind the tests") {
		t.Errorf("%q, %v", text, err)
	}
	text, err = p.command(id, "review", "main")
	if err != nil || !strings.Contains(text, "What to review: main") {
		t.Errorf("%q, %v", text, err)
	}
	if children, _ := p.svc.Children(t.Context(), id); len(children) != 1 {
		t.Errorf("review made %d subagents", len(children))
	}
	inst, err := p.svc.Instance(t.Context(), p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if list := inst.Commands.All(); len(list) != 2 || list[0].Name != "init" {
		t.Errorf("commands %+v", list)
	}
	if diff := cmp.Diff([]string{"$1", "$2", "$10", "$ARGUMENTS"}, instance.Command{Template: "$ARGUMENTS $10 $2 $1 $2"}.Hints()); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}

// TestUntrustedCommands holds that a repository that is not trusted runs nothing
// through its commands, and attaches nothing from outside.
func TestUntrustedCommands(t *testing.T) {
	p := newPlay(t, map[string]string{
		"repo/.opencode/command/run.md":    "!`touch pwned`",
		"repo/.opencode/command/attach.md": "read $1 and @main.go @link.txt",
		"home/secret.txt":                  "the secret",
	}, func(*llm.Request) say { return say{text: "ok"} })
	p.env["LATHE_TRUST"] = ""
	if err := os.Symlink("/etc/hostname", filepath.Join(p.dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	p.open()
	id := p.session()
	if _, err := p.command(id, "run", ""); err == nil {
		t.Error("a command of an untrusted repository ran a shell command")
	}
	text, err := p.command(id, "attach", "@~/secret.txt")
	if err != nil || strings.Contains(text, `link.txt"}`) || !strings.Contains(text, "the secret") || !strings.Contains(text, "func main() {}") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestUserShell(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "seen"} }).open()
	id := p.session()
	_, run, err := p.svc.Shell(t.Context(), id, session.ShellInput{Command: "echo hello; exit 3", Model: scripted})
	if err != nil {
		t.Fatal(err)
	}
	if out := p.wait(run); out.Failure != nil || len(p.asked()) != 0 {
		t.Errorf("outcome %+v after %d requests", out, len(p.asked()))
	}
	done := p.messages(id)[1].Parts[0].Body.(*lathe.ToolCall).State.(*lathe.ToolDone)
	if done.Output != "hello\n" || done.Metadata["exit"] != float64(3) {
		t.Errorf("result %+v", done)
	}
	p.prompt(id, session.Prompt{}, "what was that?")
	if text := said(p.asked()[0].Messages); !strings.HasPrefix(text, "The following tool was executed by the user") || !strings.Contains(text, "hello") {
		t.Errorf("the model was told %q", text)
	}
}

// TestUserShellColours: people see the colours of what a command printed and its end, the model
// plain text.
func TestUserShellColours(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "seen"} }).open()
	id := p.session()
	_, run, err := p.svc.Shell(t.Context(), id, session.ShellInput{Command: `seq 20000; printf '10%%\r20%%\n\033[31mred\033[0m\n'`, Model: scripted})
	if err != nil {
		t.Fatal(err)
	}
	p.wait(run)
	done := p.messages(id)[1].Parts[0].Body.(*lathe.ToolCall).State.(*lathe.ToolDone)
	if !strings.HasSuffix(done.Output, "\n20000\n20%\nred") || done.Metadata["truncated"] != true {
		t.Errorf("truncated %v, the model reads %q", done.Metadata["truncated"], done.Output[len(done.Output)-40:])
	}
	shown, _ := done.Metadata["output"].(string)
	if !strings.HasPrefix(shown, "...\n\n") || !strings.HasSuffix(shown, "\n20000\n10%\r20%\n\x1b[31mred\x1b[0m\n") || len(shown) > 31_000 {
		t.Errorf("people see %d bytes that end in %q", len(shown), shown[max(0, len(shown)-40):])
	}
}

func TestUserShellIsBusyAndCanBeAborted(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "after"} }).open()
	id := p.session()
	_, run, err := p.svc.Shell(t.Context(), id, session.ShellInput{Command: "sleep 600", Model: scripted})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.svc.Shell(t.Context(), id, session.ShellInput{Command: "true"}); lathe.CodeOf(err) != lathe.CodeBusy {
		t.Errorf("a second command: %v", err)
	}
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	p.wait(run)
	if tools := p.tools(id); len(tools) != 1 || !strings.Contains(tools[0], "User aborted the command") {
		t.Errorf("calls %q", tools)
	}
	if out := p.prompt(id, session.Prompt{}, "go"); lastWords(out) != "after" {
		t.Errorf("the session does not go on: %+v", out)
	}
}
