package mcpjson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/config"
)

// place is a directory of a checkout with files.
func place(t testing.TB, files map[string]string, vars map[string]string) Where {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"home", "repo/sub"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(t, filepath.Join(root, name), strings.ReplaceAll(text, "ROOT", root))
	}
	return Where{
		Dir: filepath.Join(root, "repo/sub"), Top: filepath.Join(root, "repo"), Home: filepath.Join(root, "home"),
		Getenv: func(name string) string { return vars[name] },
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEntries reads what servers may look like.
func TestEntries(t *testing.T) {
	w := Where{Dir: "/d", Getenv: func(name string) string { return map[string]string{"SET": "s", "B": "{b}"}[name] }}
	for text, want := range map[string]config.MCP{
		`{"command":"x"}`: {Type: "local", Command: []string{"x"}},
		`{"type":"stdio","command":"${SET}/x","args":["--${SET}","${NONE:-d e}","$SET","${B}"],"env":{"A":"${NONE:-}"},"cwd":"${SET}"}`: {
			Type: "local", Command: []string{"s/x", "--s", "d e", "$SET", "{b}"}, Environment: map[string]string{"A": ""}, Cwd: "s",
		},
		`{"command":"x","args":["${CLAUDE_PROJECT_DIR}/y"]}`:                             {Type: "local", Command: []string{"x", "/d/y"}},
		`{"type":"http","url":"https://${SET}/","headers":{"A":"Bearer ${SET}"}}`:        {Type: "remote", URL: "https://s/", Headers: map[string]string{"A": "Bearer s"}},
		`{"type":"sse","url":"https://a/sse","oauth":{"clientId":"i","callbackPort":7}}`: {Type: "remote", URL: "https://a/sse", OAuth: config.OAuth{ClientID: "i", CallbackPort: 7}},
		`{"url":"https://a","disabled":true,"timeout":5}`:                                {Type: "remote", URL: "https://a", Enabled: new(false), Timeout: 5},
	} {
		one, err := parse("n", json.RawMessage(text))
		if err == nil {
			one, err = w.expand(one, w.Dir)
		}
		want.Name = "n"
		if len(one.Command) == 0 {
			one.Command = nil
		}
		if diff := cmp.Diff(want, one); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		`[]`:                              "it is not an object",
		`{"command":["x"]}`:               `"command" should not be a JSON array`,
		`{}`:                              `it has no "command"`,
		`{"type":"http"}`:                 `it has no "url"`,
		`{"type":"ws","url":"ws://a"}`:    `its type "ws" is not supported`,
		`{"command":"${NONE}"}`:           "the variable NONE is not set, and it has no default (${NONE:-…})",
		`{"url":"a","headersHelper":"x"}`: `"headersHelper" is not supported: write "headers"`,
	} {
		one, err := parse("n", json.RawMessage(text))
		if err == nil {
			_, err = w.expand(one, w.Dir)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestSources finds the files of a directory, the strongest first, and says where their
// servers run.
func TestSources(t *testing.T) {
	w := place(t, map[string]string{
		"repo/.mcp.json":     `{"mcpServers":{"a":{"command":"a"},"b":{"command":"b","cwd":"deep"}}}`,
		"repo/sub/.mcp.json": `{broken`,
		"home/.claude.json": `{"mcpServers":{"u":{"command":"u"}},"projects":{
			"ROOT/repo":{"mcpServers":{"l":{"command":"l"}},"history":[1]},"/elsewhere":{"mcpServers":{"no":{"command":"no"}}}}}`,
	}, nil)
	var got []string
	for _, s := range Sources(w) {
		line := string(s.Scope) + " " + strings.TrimPrefix(s.Path, filepath.Dir(w.Home))
		for _, one := range s.Servers {
			line += " " + one.Name + "@" + strings.TrimPrefix(one.Cwd, filepath.Dir(w.Home))
		}
		got = append(got, line+" "+strings.Join(s.Skipped, ","))
	}
	want := []string{
		"local /home/.claude.json l@/repo ",
		"project /repo/sub/.mcp.json it cannot be used: invalid character 'b' looking for beginning of object key string",
		"project /repo/.mcp.json a@/repo b@/repo/deep ",
		"user /home/.claude.json u@ ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	w.NoProject = true
	if n := len(Sources(w)); n != 2 {
		t.Errorf("%d sources without those of the repository", n)
	}
}

// TestAgreed holds that nothing is used before the person agreed to it as it is, and what
// else a file of the person holds does not matter.
func TestAgreed(t *testing.T) {
	w := place(t, map[string]string{
		"repo/.mcp.json":    `{"mcpServers":{"x":{"command":"./run.sh"},"both":{"command":"of-the-repository"}}}`,
		"repo/run.sh":       "one",
		"home/.claude.json": `{"startups":1,"mcpServers":{"u":{"command":"u"},"both":{"command":"mine"}}}`,
	}, nil)
	a := OpenAnswers(filepath.Join(w.Home, "data", "answers.json"))
	used := func() string {
		t.Helper()
		list, err := a.Agreed(w)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range list {
			names = append(names, c.Name+"="+filepath.Base(c.Command[0]))
		}
		return strings.Join(names, " ")
	}
	say := func(scope Scope, use bool) {
		t.Helper()
		all := Sources(w)
		i := slices.IndexFunc(all, func(s Source) bool { return s.Scope == scope })
		if err := a.Answer(t.Context(), all[i], use); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when, want string) {
		t.Helper()
		if got := used(); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	check("unasked", "")
	say(User, true)
	check("the person's", "both=mine u=u")
	say(Project, true)
	check("both", "both=of-the-repository x=run.sh u=u")
	write(t, filepath.Join(w.Home, ".claude.json"), `{"startups":2, "mcpServers":{"u":{"command":"u"}, "both":{"command":"mine"}}}`)
	check("as other things are written", "both=of-the-repository x=run.sh u=u")
	write(t, filepath.Join(w.Top, "run.sh"), "two")
	check("a program that is named changed", "both=mine u=u")
	say(Project, true)
	write(t, filepath.Join(w.Top, ".mcp.json"), `{"mcpServers":{"x":{"command":"evil"}}}`)
	check("the file changed", "both=mine u=u")
	say(Project, true)
	say(User, false)
	check("refused", "x=evil")
	if err := a.Forget(t.Context(), w.Top); err != nil {
		t.Fatal(err)
	}
	check("forgotten", "")
	states := map[Scope]State{}
	for _, s := range Sources(w) {
		st, err := a.State(s)
		if err != nil {
			t.Fatal(err)
		}
		states[s.Scope] = st
	}
	if diff := cmp.Diff(map[Scope]State{Project: Unasked, User: Refused}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	write(t, filepath.Join(w.Home, "data", "answers.json"), "{")
	if _, err := a.Agreed(w); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("broken answers: %v", err)
	}
}

// FuzzSources holds that whatever the files say, what comes of them is bounded, has a name
// and something to run or to reach, and is the same every time.
func FuzzSources(f *testing.F) {
	for _, seed := range []string{`{"mcpServers":{"a":{"command":"x","env":{"A":"${B:-c}"}}}}`, `{"mcpServers":[]}`, `{"mcpServers":{"":{"url":"${"}}}`, `null`, `{"mcpServers":{"a":null}}`, "[mcp_servers.a]\ncommand=\"x\"\ntool_timeout_sec=nan", "mcp_servers={a={url=\"u\"}}"} {
		f.Add(seed)
	}
	w := place(f, nil, map[string]string{"B": "b"})
	f.Fuzz(func(t *testing.T, text string) {
		write(t, filepath.Join(w.Top, ".mcp.json"), text)
		write(t, filepath.Join(w.Home, ".claude.json"), text)
		write(t, filepath.Join(w.Home, ".codex", "config.toml"), text)
		all := Sources(w)
		for _, s := range all {
			for _, one := range s.Servers {
				if one.Type == "local" && len(one.Command) == 0 || one.Type == "remote" && one.URL == "" && one.Shown.URL == "" || one.Type == "" {
					t.Errorf("%q gives %+v", text, one)
				}
			}
			if len(s.Servers) > maxServers {
				t.Errorf("%d servers", len(s.Servers))
			}
		}
		if diff := cmp.Diff(all, Sources(w)); diff != "" {
			t.Errorf("a second look differs:\n%s", diff)
		}
	})
}
