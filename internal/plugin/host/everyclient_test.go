//go:build unix

package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/llm/script"
	"lathe/internal/plugin"
	"lathe/internal/server"
	"lathe/internal/server/servertest"
)

const noOAuth = `400 {"error":"MCP server nobody does not support OAuth","data":{},"errors":[],"success":false}`

// unusual is what a part of the client answers that cannot work in a test, or not so.
var unusual = map[string]string{
	"provider.oauth.authorize": "501 NotImplementedError", "provider.oauth.callback": "501 NotImplementedError", // no plugin logs in
	"session.share": "400 BadRequest", // no service is configured
	// a server that is not there, in the forms that OpenCode has for it
	"mcp.auth.authenticate": noOAuth, "mcp.auth.start": noOAuth, "mcp.auth.callback": "404 NotFoundError", "mcp.auth.remove": "404 NotFoundError",
	"pty.connect":      "400",        // only a WebSocket can be connected
	"tui.control.next": "AbortError", // it waits until it is given up
}

// A plugin can use every part of OpenCode's client: each is called in the real engine, and
// answers in the form that OpenCode's SDK has for it.
func TestClientEveryPart(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		text, err := os.ReadFile("testdata/everyclient.mjs")
		if err != nil {
			t.Fatal(err)
		}
		r.write("plugin/tour.mjs", string(text))
		repository(t, r.dir)
		r.o.Limit = 5 * time.Minute
		r.o.Door = client.InProcessHTTP(engine(t, r.dir))
		answer := r.chain(r.start(`{}`)).TextComplete(t.Context(), plugin.TextInput{}, "")
		var got map[string]string
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatalf("%v: %q\n%s", err, answer, r.said())
		}
		want := map[string]string{}
		for name := range got {
			want[name] = "ok"
			if as := unusual[name]; as != "" {
				want[name] = as
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parts of the client (-want +got):\n%s", diff)
		}
		if len(got) < 70 {
			t.Errorf("only %d parts were found", len(got))
		}
	})
}

func repository(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{"a.txt": "hello\nworld\n", "lathe.json": `{"command": {"greet": {"template": "greet $ARGUMENTS"}}, "permission": {"bash": "ask"}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	enginetest.Repository(t, dir, dir)
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// engine is a server over a real engine, whose model does what it is told by its name.
func engine(t *testing.T, dir string) *server.Server {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{
		"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe"), "PATH": os.Getenv("PATH"), "OPENCODE_PURE": "1",
		"LATHE_CONFIG_CONTENT": `{"model":"script/m"}`,
	}
	answers := map[string]string{"m": strings.Repeat("text Done.\n---\n", 40) + "text Done.\n"}
	answers["ask"] = strings.Replace(answers["m"], "text Done.\n---\ntext Done.", "text Done.\n---\ntool bash {\"command\":\"echo it ran\",\"description\":\"run\"}", 1)
	return servertest.Open(t, dir, enginetest.Options{Env: env, Instance: instance.Options{
		Builtin: func(ref lathe.ModelRef) (llm.Model, bool) {
			return script.New(func() ([]byte, error) { return []byte(answers[ref.Model]), nil }), ref.Provider == "script"
		},
	}})
}
