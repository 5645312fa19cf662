package instance_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/lsp"
	"lathe/internal/plugin"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/workspace"
)

// probe tries to reach a server past the proxy and through it, and writes down what came.
const probe = `#!/bin/sh
{ curl -s --noproxy '*' -m 9 "$2" || echo failed; curl -sf --noproxy '' -m 9 "$2" || echo failed; } >"$1.tmp"
mv "$1.tmp" "$1"
`

// Formatters, language servers and the hooks of a repository reach hosts by rule alone, and
// so does an MCP server that the person set up so. Nobody is asked: the person is told.
func TestServersReachByRule(t *testing.T) {
	if sandbox.Detect() < sandbox.Full {
		t.Skip("there are no namespaces here: " + sandbox.Missing())
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "reached") }))
	defer s.Close()
	host := "localhost:" + s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	const yes, no = "reached\nreached\n", "failed\nfailed\n"
	for _, tt := range []struct {
		name, rules string
		want        map[string]string
		told        []string
	}{
		{"asked about", `{}`, map[string]string{
			"formatter": no, "lsp": no, "theirs": no, "mine": yes, "rules": no, "listed": yes, "machine": yes,
		}, []string{"Formatters", "Hooks", "Language servers", "MCP servers"}},
		{"allowed", `{"` + host + `":"allow"}`, map[string]string{
			"formatter": yes, "lsp": yes, "theirs": yes, "mine": yes, "rules": yes, "listed": yes, "machine": yes,
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, told, status := reachedBy(t, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), host, tt.rules)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if named := strings.Contains(status, "not let reach "+host); named != (tt.told != nil) {
				t.Errorf("the status is %s", status)
			}
		})
	}
}

// reachedBy returns what each kind of program reached, the titles under which the person was
// told of what was not reached, and how the servers are said to be doing.
func reachedBy(t *testing.T, url, host, rules string) (got map[string]string, told []string, status string) {
	home, vars := everydayHome(t)
	dir := filepath.Join(home, "work")
	at := func(name string) string { return filepath.Join(dir, "got", name) }
	if err := os.MkdirAll(filepath.Join(dir, "got"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "probe")
	if err := os.WriteFile(program, []byte(probe), 0o755); err != nil {
		t.Fatal(err)
	}
	call := func(name string) string { return fmt.Sprintf(`[%q,%q,%q]`, program, at(name), url) }
	server := func(name, more string) string {
		return fmt.Sprintf(`%q:{"type":"local","command":%s,"lazy":false%s}`, name, call(name), more)
	}
	vars = append(vars, `LATHE_CONFIG_CONTENT={"network":`+rules+`,"formatter":{"f":{"command":`+call("formatter")+`,"extensions":[".x"]}},
		"lsp":{"l":{"command":`+call("lsp")+`,"extensions":[".x"]}},"hooks":{"shell.env":[{"command":`+call("mine")+`}]},
		"mcp":{`+server("rules", `,"network":"rules"`)+`,`+server("listed", `,"network":["`+host+`"]`)+`,`+server("machine", "")+`}}`)
	for name, text := range map[string]string{"a.x": "text", "lathe.json": `{"hooks":{"shell.env":[{"command":` + call("theirs") + `}]},"mcp":{"rules":{"network":"machine"}}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	inst := serversInstance(t, dir, vars, func(n lathe.Notice) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(n.Text, host) && !slices.Contains(told, n.Title) {
			told = append(told, n.Title)
		}
	})
	inst.Servers(t.Context())
	inst.Hooks.ShellEnv(t.Context(), plugin.ShellEnvInput{Dir: dir})
	inst.Languages.Formatters.Format(t.Context(), []string{filepath.Join(dir, "a.x")})
	inst.Languages.Servers.Before(lsp.File{Path: filepath.Join(dir, "a.x"), Text: "text"})
	got = map[string]string{}
	for _, name := range []string{"formatter", "lsp", "theirs", "mine", "rules", "listed", "machine"} {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if text, err := os.ReadFile(at(name)); err == nil {
				got[name] = string(text)
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s was not started", name)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(told)
	setup := inst.Setup()
	return got, told, fmt.Sprint(setup.MCP, setup.LSP, setup.Formatters)
}

func serversInstance(t *testing.T, dir string, vars []string, told func(lathe.Notice)) *instance.Instance {
	t.Helper()
	getenv := func(name string) string { return shell.Getenv(vars, name) }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	runner := shell.New(shell.Options{})
	t.Cleanup(func() { runner.Close() })
	pool := lsp.NewPool(lsp.PoolOptions{})
	t.Cleanup(func() { pool.Close() })
	inst, err := instance.Open(t.Context(), dir, instance.Options{
		Paths: paths, Getenv: getenv, Environ: vars, Log: slog.New(slog.DiscardHandler), Now: time.Now, Runner: runner, Languages: pool,
		Trusted: func(workspace.Root) bool { return true },
		Publish: func(_ string, ev lathe.Event) {
			if n, ok := ev.(lathe.Notice); ok {
				told(n)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inst.Close() })
	return inst
}
