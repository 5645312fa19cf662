//go:build unix

package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/plugin/claude"
	"lathe/internal/plugin/hookcmd"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

const session = lathe.SessionID("ses_0123456789ab01234567890123")

// rig is a set of hooks in a directory.
type rig struct {
	*claude.Set
	chain *plugin.Chain
	dir   string

	mu     sync.Mutex
	told   []string
	halted []lathe.SessionID
}

func (r *rig) tell(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, text)
}

// said returns what the person was told so far.
func (r *rig) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.told, "\n")
}

// file returns what a hook has written.
func (r *rig) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hooks returns the settings of commands by event; "Event:matcher" has a matcher.
func hooks(t *testing.T, commands map[string]string) string {
	t.Helper()
	all := map[string][]any{}
	for key, command := range commands {
		event, matcher, _ := strings.Cut(key, ":")
		all[event] = append(all[event], map[string]any{"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": command}}})
	}
	text, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func newRig(t *testing.T, commands map[string]string) *rig {
	t.Helper()
	runner := shell.New(shell.Options{})
	t.Cleanup(func() { _ = runner.Close() })
	r := &rig{dir: t.TempDir()}
	r.Set = claude.New([]claude.Settings{read(t, hooks(t, commands), "")}, claude.Options{
		Place:   hookcmd.Place{Runner: runner, Dir: r.dir, Env: []string{"PATH=" + os.Getenv("PATH")}},
		Project: r.dir, Transcripts: filepath.Join(t.TempDir(), "t"),
		Servers: func() []string { return []string{"my server", "my"} },
		Owner: func(_ context.Context, id lathe.SessionID) lathe.SessionID {
			return lathe.SessionID(strings.TrimSuffix(string(id), "-sub"))
		},
		Begun: func(context.Context, lathe.SessionID) bool { return false },
		Messages: func(context.Context, lathe.SessionID) claude.Messages {
			return func(func(lathe.Message, error) bool) {}
		},
		Halt: func(id lathe.SessionID) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.halted = append(r.halted, id)
		},
		Tell: r.tell, Report: func(err error) { r.tell(err.Error()) },
	})
	r.chain = plugin.NewChain(func(_ string, err error) { r.tell(err.Error()) }, r.Hooks())
	return r
}

// Hooks are chosen by Claude Code's names, and get its arguments.
func TestCallsInItsWords(t *testing.T) {
	for _, tt := range []struct{ tool, args, matcher, want string }{
		{"bash", `{"command":"ls"}`, "Bash", `Bash {"command":"ls"}`},
		{"bash", `{"command":"ls"}`, "Bas", ""},
		{"bash", `{"command":"ls"}`, "Edit| Bash", `Bash {"command":"ls"}`},
		{"bash", `{"command":"ls"}`, "*", `Bash {"command":"ls"}`},
		{"bash", `{"command":"ls"}`, "B.s", `Bash {"command":"ls"}`},
		{"edit", `{"filePath":"a b","oldString":"x","newString":"世界","replaceAll":true}`, "Edit",
			`Edit {"file_path":"DIR/a b","new_string":"世界","old_string":"x","replace_all":true}`},
		{"multiedit", `{"filePath":"/a","edits":[{"oldString":"x","newString":"y"}]}`, "MultiEdit",
			`MultiEdit {"edits":[{"new_string":"y","old_string":"x"}],"file_path":"/a"}`},
		{"grep", `{"pattern":"x","include":"*.go"}`, "Grep", `Grep {"glob":"*.go","pattern":"x"}`},
		{"my_server_look_up", `{"filePath":1}`, "mcp__my_server__.*", `mcp__my_server__look_up {"filePath":1}`},
		{"mine", `{"a":1}`, "mine", `mine {"a":1}`},
		{"apply_patch", `{"patchText":"*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: /b/c\n+new\n*** Delete File: d\n*** End Patch"}`, "Edit|Write",
			`Edit {"file_path":"DIR/a","new_string":"y\n","old_string":"x\n"}` + "\n" + `Write {"content":"new\n","file_path":"/b/c"}` + "\n" +
				`Edit {"file_path":"DIR/d","new_string":"","old_string":""}`},
	} {
		r := newRig(t, map[string]string{"PreToolUse:" + tt.matcher: "cat >>calls; echo >>calls"})
		if _, err := r.chain.ToolBefore(t.Context(), plugin.ToolInput{Tool: tt.tool, SessionID: session, CallID: "c", Args: json.RawMessage(tt.args)}); err != nil {
			t.Errorf("%s: %v", tt.tool, err)
		}
		var got []string
		if _, err := os.Stat(filepath.Join(r.dir, "calls")); err == nil {
			for line := range strings.Lines(r.file(t, "calls")) {
				var in struct {
					Tool_name  string
					Tool_input json.RawMessage
				}
				if err := json.Unmarshal([]byte(line), &in); err != nil {
					t.Fatal(err)
				}
				got = append(got, in.Tool_name+" "+string(in.Tool_input))
			}
		}
		if diff := cmp.Diff(strings.ReplaceAll(tt.want, "DIR", r.dir), strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s by %q (-want +got):\n%s", tt.tool, tt.matcher, diff)
		}
		if said := r.said(); said != "" {
			t.Errorf("%s: %s", tt.tool, said)
		}
	}
}

// What a hook says before a call decides about it; of several the strictest counts.
func TestDecisions(t *testing.T) {
	say := func(text string) string { return "cat >/dev/null; echo '" + text + "'" }
	specific := func(text string) string { return say(`{"hookSpecificOutput":{` + text + `}}`) }
	type outcome struct {
		Args   string
		Err    string
		Doubt  bool
		Action lathe.Action // of an ask that the call leads to
		Told   string
	}
	const args = `{"filePath":"/a"}`
	for name, tt := range map[string]struct {
		commands []string
		want     outcome
	}{
		"nothing":      {[]string{"true"}, outcome{Args: args, Action: lathe.AskMe}},
		"text":         {[]string{"echo looks good"}, outcome{Args: args, Action: lathe.AskMe}},
		"exit code 2":  {[]string{"echo no >&2; exit 2"}, outcome{Err: "no", Action: lathe.AskMe}},
		"fails":        {[]string{"echo broken >&2; exit 1"}, outcome{Args: args, Action: lathe.AskMe, Told: "broken"}},
		"block":        {[]string{say(`{"decision":"block","reason":"no"}`)}, outcome{Err: "no", Action: lathe.AskMe}},
		"approve":      {[]string{say(`{"decision":"approve"}`)}, outcome{Args: args, Action: lathe.Allow}},
		"allow":        {[]string{specific(`"permissionDecision":"allow"`)}, outcome{Args: args, Action: lathe.Allow}},
		"deny":         {[]string{specific(`"permissionDecision":"deny","permissionDecisionReason":"no"`)}, outcome{Err: "no", Action: lathe.AskMe}},
		"ask":          {[]string{specific(`"permissionDecision":"ask","permissionDecisionReason":"sure?"`)}, outcome{Args: args, Doubt: true, Err: "sure?", Action: lathe.Allow}},
		"other input":  {[]string{specific(`"updatedInput":{"file_path":"/b"}`)}, outcome{Args: `{"filePath":"/b"}`, Action: lathe.AskMe}},
		"deny, allow":  {[]string{specific(`"permissionDecision":"allow"`), "echo no >&2; exit 2"}, outcome{Err: "no", Action: lathe.AskMe}},
		"ask, allow":   {[]string{specific(`"permissionDecision":"allow"`), specific(`"permissionDecision":"ask"`)}, outcome{Args: args, Doubt: true, Action: lathe.Allow}},
		"stop":         {[]string{say(`{"continue":false,"stopReason":"enough"}`)}, outcome{Err: "enough", Action: lathe.AskMe, Told: "enough"}},
		"unknown word": {[]string{specific(`"permissionDecision":"defer"`)}, outcome{Args: args, Action: lathe.AskMe}},
		"no JSON":      {[]string{say(`{"decision":`)}, outcome{Args: args, Action: lathe.AskMe}},
	} {
		commands := map[string]string{}
		for i, c := range tt.commands {
			commands[fmt.Sprintf("PreToolUse:Edit|n%d", i)] = c
		}
		r := newRig(t, commands)
		out, err := r.chain.ToolBefore(t.Context(), plugin.ToolInput{Tool: "edit", SessionID: session, CallID: "c", Args: json.RawMessage(args)})
		got := outcome{Args: string(out)}
		var doubt *plugin.Doubt
		if got.Doubt = errors.As(err, &doubt); err != nil && strings.Contains(err.Error(), tt.want.Err) {
			got.Err = tt.want.Err
		} else if err != nil {
			got.Err = err.Error()
		}
		got.Action = r.chain.PermissionAsk(t.Context(), lathe.Ask{SessionID: session, Permission: "edit", Tool: &lathe.ToolRef{CallID: "c"}})
		if got.Told = r.said(); tt.want.Told != "" && strings.Contains(got.Told, tt.want.Told) {
			got.Told = tt.want.Told
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if stopped := len(r.halted) > 0; stopped != (name == "stop") {
			t.Errorf("%s: halted %v", name, r.halted)
		}
		for what, ask := range map[string]lathe.Ask{
			"another call":    {SessionID: session, Permission: "edit", Tool: &lathe.ToolRef{CallID: "d"}},
			"another session": {SessionID: "ses_other", Permission: "edit", Tool: &lathe.ToolRef{CallID: "c"}},
			"the doubt":       {SessionID: session, Permission: plugin.DoubtPermission, Tool: &lathe.ToolRef{CallID: "c"}},
		} {
			if a := r.chain.PermissionAsk(t.Context(), ask); a != lathe.AskMe {
				t.Errorf("%s: %s is answered with %s", name, what, a)
			}
		}
	}
}

// What an earlier call of the same identifier was allowed does not count for a later one.
func TestAllowedOnce(t *testing.T) {
	r := newRig(t, map[string]string{"PreToolUse": `if [ -e second ]; then exit 0; fi; touch second; echo '{"decision":"approve"}'`})
	for _, want := range []lathe.Action{lathe.Allow, lathe.AskMe} {
		if _, err := r.chain.ToolBefore(t.Context(), plugin.ToolInput{Tool: "bash", SessionID: session, CallID: "call_0", Args: json.RawMessage(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if got := r.chain.PermissionAsk(t.Context(), lathe.Ask{SessionID: session, Permission: "bash", Tool: &lathe.ToolRef{CallID: "call_0"}}); got != want {
			t.Errorf("answered with %q, want %q", got, want)
		}
	}
}

func TestAfterCalls(t *testing.T) {
	r := newRig(t, map[string]string{
		"PostToolUse:Write": `cat >after; echo '{"decision":"block","reason":"lint failed","hookSpecificOutput":{"additionalContext":"line 3"}}'`,
		"PostToolUse:Read":  "exit 7",
	})
	res := r.chain.ToolAfter(t.Context(), plugin.ToolInput{Tool: "write", SessionID: session, Args: json.RawMessage(`{"filePath":"/a"}`)}, tool.Result{Output: "written"})
	if want := "written\n\n<hook>\nline 3\n</hook>\n\n<hook>\nlint failed\n</hook>"; res.Output != want {
		t.Errorf("output %q", res.Output)
	}
	var in struct{ Tool_response map[string]any }
	if err := json.Unmarshal([]byte(r.file(t, "after")), &in); err != nil || in.Tool_response["filePath"] != "/a" || in.Tool_response["success"] != true {
		t.Errorf("response %v (%v)", in.Tool_response, err)
	}
	failed := tool.Failf("no")
	if diff := cmp.Diff(failed, r.chain.ToolAfter(t.Context(), plugin.ToolInput{Tool: "write", SessionID: session}, failed)); diff != "" {
		t.Errorf("hooks are called for a failed call:\n%s", diff)
	}
	if res := r.chain.ToolAfter(t.Context(), plugin.ToolInput{Tool: "read", SessionID: session}, tool.Result{Output: "text"}); res.Output != "text" || !strings.Contains(r.said(), "exit code 7") {
		t.Errorf("a hook that fails: %q, told %q", res.Output, r.said())
	}
}

// Prompts and the beginnings of sessions; a subagent's are its caller's.
func TestPrompts(t *testing.T) {
	r := newRig(t, map[string]string{
		"SessionStart":      `echo "start $(sed 's/.*"source":"\([a-z]*\)".*/\1/')"`,
		"UserPromptSubmit":  `case $(cat) in *secret*) echo '{"decision":"block","reason":"no secrets"}';; *) echo '{"hookSpecificOutput":{"additionalContext":"more"}}';; esac`,
		"PreCompact:manual": "cat >compact",
		"SessionEnd":        "cat >>end",
	})
	prompt := func(id lathe.SessionID, text string) (string, error) {
		out, err := r.chain.ChatMessage(t.Context(), plugin.ChatMessageInput{SessionID: id, Agent: "build"}, plugin.ChatMessage{Parts: []lathe.PartBody{&lathe.Text{Text: text}}})
		var texts []string
		for _, p := range out.Parts[1:] {
			texts = append(texts, p.(*lathe.Text).Text)
		}
		return strings.Join(texts, "|"), err
	}
	if got, err := prompt(session, "one"); got != "start startup|more" || err != nil {
		t.Errorf("first prompt: %q, %v", got, err)
	}
	if got, err := prompt(session, "two"); got != "more" || err != nil {
		t.Errorf("second prompt: %q, %v", got, err)
	}
	if got, err := prompt(session+"-sub", "a secret"); got != "" || err != nil {
		t.Errorf("prompt of a subagent: %q, %v", got, err)
	}
	if _, err := prompt(session, "a secret"); err == nil || !strings.Contains(err.Error(), "no secrets") {
		t.Errorf("refused prompt: %v", err)
	}
	r.chain.Compacting(t.Context(), plugin.CompactingInput{SessionID: session}, plugin.Compacting{})
	if text := r.file(t, "compact"); !strings.Contains(text, `"trigger":"manual"`) {
		t.Errorf("compaction: %s", text)
	}
	if got, err := prompt(session, "three"); got != "start compact|more" || err != nil {
		t.Errorf("after a compaction: %q, %v", got, err)
	}
	r.Close()
	r.Close()
	if text := r.file(t, "end"); strings.Count(text, "SessionEnd") != 1 {
		t.Errorf("ends: %s", text)
	}
}

func TestStops(t *testing.T) {
	r := newRig(t, map[string]string{"Stop": "cat >stop; echo go on >&2; exit 2", "SubagentStop:explore": `echo '{"continue":false}'`})
	if got := r.chain.Stop(t.Context(), plugin.StopInput{SessionID: session, Agent: "build", Continued: true}); got != "go on" {
		t.Errorf("the model is told %q", got)
	}
	if text := r.file(t, "stop"); !strings.Contains(text, `"stop_hook_active":true`) {
		t.Errorf("input %s", text)
	}
	if got := r.chain.Stop(t.Context(), plugin.StopInput{SessionID: session, Agent: "explore", Subagent: true}); got != "" || len(r.halted) != 1 {
		t.Errorf("a subagent is told %q", got)
	}
}

// Hooks are told that a session waits for the person, once it has for a while.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := &refusing{}
		set := claude.New([]claude.Settings{read(t, hooks(t, map[string]string{"Notification:idle_prompt": "true"}), "")}, claude.Options{
			Place: hookcmd.Place{Runner: starts},
			Owner: func(_ context.Context, id lathe.SessionID) lathe.SessionID {
				return lathe.SessionID(strings.TrimSuffix(string(id), "-sub"))
			},
			Messages: func(context.Context, lathe.SessionID) claude.Messages {
				return func(func(lathe.Message, error) bool) {}
			},
			Transcripts: t.TempDir(), Report: func(error) {},
		})
		chain := plugin.NewChain(nil, set.Hooks())
		status := func(id lathe.SessionID, s lathe.Status) {
			chain.Event(t.Context(), lathe.Envelope{Event: lathe.SessionStatus{SessionID: id, Status: s}})
		}
		status(session, lathe.Idle{})
		time.Sleep(59 * time.Second)
		status(session, lathe.Busy{})
		time.Sleep(2 * time.Minute)
		status(session+"-sub", lathe.Idle{})
		time.Sleep(2 * time.Minute)
		if n := starts.count(); n != 0 {
			t.Errorf("told %d times of a session that is at work", n)
		}
		status(session, lathe.Idle{})
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if n := starts.count(); n != 1 {
			t.Errorf("told %d times", n)
		}
		status(session, lathe.Idle{})
		set.Close()
		time.Sleep(2 * time.Minute)
		if n := starts.count(); n != 1 {
			t.Errorf("told %d times after the end", n)
		}
	})
}

// refusing counts what it should start.
type refusing struct {
	mu sync.Mutex
	n  int
}

func (r *refusing) Open(shell.Program) (*shell.Service, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return nil, errors.New("not here")
}

func (r *refusing) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}
