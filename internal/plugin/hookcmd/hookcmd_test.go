//go:build unix

package hookcmd_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/plugin"
	"lathe/internal/plugin/hookcmd"
	"lathe/internal/shell"
)

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		match, subject string
		want           bool
	}{
		{"", "x", true}, {"bash", "bash", true}, {"bash", "bashful", false}, {"edit|write", "write", true}, {"mcp_*", "mcp_a", true},
		{"edit | write", "write", true}, {"*", "", true}, {"bash", "", false},
	} {
		if got := hookcmd.Matches(tt.match, tt.subject); got != tt.want {
			t.Errorf("%q on %q is %v", tt.match, tt.subject, got)
		}
	}
}

// before runs a program before a call and returns what became of it.
func before(t *testing.T, script string, timeout float64) (args string, told []string, err error) {
	t.Helper()
	r := shell.New(shell.Options{})
	t.Cleanup(func() { _ = r.Close() })
	place := hookcmd.Place{Runner: r, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
	c := plugin.NewChain(func(_ string, err error) { told = append(told, err.Error()) },
		hookcmd.Hooks([]config.Hook{{Name: "tool.execute.before", Command: []string{"sh", "-c", script}, Timeout: timeout}}, place)...)
	out, err := c.ToolBefore(context.Background(), plugin.ToolInput{Tool: "bash", SessionID: "ses_0", CallID: "c", Args: json.RawMessage(`{"a":1}`)})
	return string(out), told, err
}

func TestProgramsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		script  string
		timeout float64
		args    string
		told    string // what is reported
		err     string // what the model is told
	}{
		"says nothing":         {script: "cat >/dev/null", args: `{"a":1}`},
		"does not read":        {script: "exit 0", args: `{"a":1}`},
		"changes":              {script: `echo '{"args":{"b":2}}'`, args: `{"b":2}`},
		"refuses":              {script: "echo because >&2; exit 2", err: "because"},
		"fails":                {script: "echo broken >&2; exit 3", args: `{"a":1}`, told: "exit code 3: broken"},
		"hangs":                {script: "sleep 600", timeout: 0.05, args: `{"a":1}`, told: "took longer than 50ms"},
		"is killed":            {script: "kill -9 $$", args: `{"a":1}`, told: "signal"},
		"prints garbage":       {script: "echo hello", args: `{"a":1}`, told: "no JSON object"},
		"prints a value":       {script: "echo 7", args: `{"a":1}`, told: "no JSON object"},
		"breaks the arguments": {script: `echo '{"args":7}'`, args: `7`},
		"prints far too much":  {script: `yes 0123456789 | head -c 40000000`, timeout: 60, args: `{"a":1}`, told: "printed more than"},
		"a large value":        {script: `printf '{"args":{"a":"'; head -c 10000000 /dev/zero | tr '\0' x; printf '"}}'`, timeout: 60, args: "large"},
	} {
		t.Run(name, func(t *testing.T) {
			args, told, err := before(t, tt.script, tt.timeout)
			if len(args) > 10_000_000 {
				args = "large"
			}
			if args != tt.args || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("arguments %.100q, error %v", args, err)
			}
			if (len(told) > 0) != (tt.told != "") || len(told) > 0 && !strings.Contains(told[0], tt.told) {
				t.Errorf("reported %q", told)
			}
		})
	}
}

// A program that is not there is reported and stops nothing.
func TestNoProgram(t *testing.T) {
	r := shell.New(shell.Options{})
	defer r.Close()
	var told []string
	c := plugin.NewChain(func(_ string, err error) { told = append(told, err.Error()) }, hookcmd.Hooks(
		[]config.Hook{{Name: "experimental.text.complete", Command: []string{"no-such-program-here"}}}, hookcmd.Place{Runner: r, Dir: t.TempDir()})...)
	if got := c.TextComplete(t.Context(), plugin.TextInput{}, "text"); got != "text" || len(told) != 1 {
		t.Errorf("text %q, reported %q", got, told)
	}
}

func TestCheck(t *testing.T) {
	if err := hookcmd.Check(config.Hook{Name: "tool.execute.befor", Command: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "tool.execute.before") {
		t.Errorf("error %v", err)
	}
}

// The program gets the hook's name, input and output in OpenCode's shapes.
func TestInput(t *testing.T) {
	r := shell.New(shell.Options{})
	defer r.Close()
	dir := t.TempDir()
	c := plugin.NewChain(nil, hookcmd.Hooks([]config.Hook{{Name: "event", Match: "session.idle", Command: []string{"sh", "-c", "cat > seen"}}},
		hookcmd.Place{Runner: r, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}})...)
	c.Event(t.Context(), lathe.Envelope{Event: lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}})
	got, err := os.ReadFile(dir + "/seen")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hook":"event","input":{"event":{"type":"session.idle","properties":{"sessionID":"ses_1"}}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}
