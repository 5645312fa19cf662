package builtin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/tool"
)

// under makes the rig's calls bound by rules for reading after the built-in ones.
func (r *rig) under(rules ...lathe.Rule) {
	policy := permission.Policy{Rules: append(permission.Defaults(permission.Paths{}), rules...)}
	r.reading = reading.New(r.env.Root, policy, nil, reading.NewLinks(r.env.Root, time.Now, filepath.Join(r.env.Home, ".ssh", "*")))
	r.deny = func(req tool.Request) error {
		for _, p := range req.Patterns {
			if a := policy.Action(req.Permission, p); a != lathe.Allow && req.Permission == "read" {
				return errors.New(string(a) + ": " + p)
			}
		}
		return nil
	}
}

func rule(pattern string, action lathe.Action) lathe.Rule {
	return lathe.Rule{Permission: "read", Pattern: pattern, Action: action}
}

// TestReadRulesBindSearches holds that no search prints what read refuses, however
// the file is reached, and that a denied file is not even named.
func TestReadRulesBindSearches(t *testing.T) {
	r := newRig(t)
	r.put("private/key.txt", "needle private\n")
	r.put("asked/a.txt", "needle asked\n")
	r.put("open.txt", "needle open\n")
	r.put(".env", "needle=env\n")
	r.put("prod.env.example", "needle example\n")
	for link, to := range map[string]string{"linked": "private", "linked.txt": "private/key.txt"} {
		if err := os.Symlink(to, r.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	r.under(rule("private", lathe.Deny), rule("private/*", lathe.Deny), rule("asked/*", lathe.AskMe))
	leaks := func(out string) []string {
		var found []string
		for _, secret := range []string{"needle private", "needle asked", "needle=env"} {
			if strings.Contains(out, secret) {
				found = append(found, secret)
			}
		}
		return found
	}
	for _, path := range []string{"", ".", "asked", r.dir} {
		out := r.ok("grep", m{"pattern": "needle", "path": path}).Output
		if path != "asked" && (!strings.Contains(out, "needle open") || !strings.Contains(out, "needle example")) || leaks(out) != nil {
			t.Errorf("grep in %q:\n%s", path, out)
		}
	}
	same := []string{r.ok("grep", m{"pattern": "^needle=env$"}).Output, r.ok("grep", m{"pattern": "^needle=xyz$"}).Output}
	if same[0] != same[1] {
		t.Errorf("the answer tells whether a file that may not be read matches:\n%s\n%s", same[0], same[1])
	}
	for _, path := range []string{"private", "private/key.txt", "linked", "linked.txt", "asked/a.txt", ".env", "./private/../private/key.txt"} {
		if res, err := r.run("grep", m{"pattern": "needle", "path": path}); err == nil || leaks(res.Output) != nil {
			t.Errorf("grep in %q: %v\n%s", path, err, res.Output)
		}
	}
	for name, input := range map[string]m{"glob": {"pattern": "**"}, "list": {}} {
		out := r.ok(name, input).Output
		if strings.Contains(out, "key.txt") || !strings.Contains(out, ".env") || !strings.Contains(out, "(1 file was left out: ") {
			t.Errorf("%s:\n%s", name, out)
		}
		input["path"] = "private"
		if res, err := r.run(name, input); err == nil {
			t.Errorf("%s in a directory that is denied:\n%s", name, res.Output)
		}
	}
	r.deny = nil // the person says yes to the directory
	r.under(rule("asked*", lathe.AskMe))
	r.deny = nil
	if out := r.ok("grep", m{"pattern": "needle", "path": "asked"}).Output; !strings.Contains(out, "needle asked") {
		t.Errorf("what was granted for a directory is not shown:\n%s", out)
	}
}

// TestRulesForAllToolsLeaveSearchesAlone holds that an agent which may only search
// still finds what the rules for reading let it see.
func TestRulesForAllToolsLeaveSearchesAlone(t *testing.T) {
	r := newRig(t)
	r.put("open.txt", "needle open\n")
	r.put(".env", "needle=env\n")
	r.under(lathe.Rule{Permission: "*", Pattern: "*", Action: lathe.Deny}, lathe.Rule{Permission: "grep", Pattern: "*", Action: lathe.Allow})
	if out := r.ok("grep", m{"pattern": "needle"}).Output; !strings.Contains(out, "needle open") || strings.Contains(out, "needle=env") {
		t.Errorf("output:\n%s", out)
	}
	r.under(rule("*", lathe.Deny))
	if out := r.ok("glob", m{"pattern": "**"}).Output; !strings.Contains(out, "open.txt") {
		t.Errorf("a rule against reading hides all names:\n%s", out)
	}
}

// TestInstructionsAreNoWayAround holds that an instruction file which is a link to a
// file that may not be read is not told of.
func TestInstructionsAreNoWayAround(t *testing.T) {
	r := newRig(t)
	r.put(".env", "needle=env\n")
	r.put("sub/a.txt", "text\n")
	if err := os.Symlink("../.env", r.path("sub/AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	r.under()
	if out := r.ok("read", m{"filePath": "sub/a.txt"}).Output; strings.Contains(out, "needle") {
		t.Errorf("output:\n%s", out)
	}
}

// TestHardLinks holds that another name gives no more rights, and that a second
// name which is nobody's secret is no reason to ask.
func TestHardLinks(t *testing.T) {
	r := newRig(t)
	link := func(from, to string) {
		t.Helper()
		if err := os.Link(from, r.path(to)); err != nil {
			t.Skip(err)
		}
	}
	r.put("node_modules/.env", "needle=env\n") // ignored files count too
	r.put(".gitignore", "node_modules/\n")
	link(r.path("node_modules/.env"), "notes.txt")
	link(r.put("plain.txt", "needle plain\n"), "twin.txt")
	key := filepath.Join(r.env.Home, ".ssh", "id")
	if err := errors.Join(os.Mkdir(filepath.Dir(key), 0o700), os.WriteFile(key, []byte("needle key\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	link(key, "readme.txt")
	store := filepath.Join(r.env.Home, "store")
	if err := os.WriteFile(store, []byte("needle store\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(store, "package.txt")
	r.under()
	out := r.ok("grep", m{"pattern": "needle"}).Output
	for text, shown := range map[string]bool{"needle=env": false, "needle key": false, "needle plain": true, "needle store": true} {
		if strings.Contains(out, text) != shown {
			t.Errorf("%q is shown: %t\n%s", text, !shown, out)
		}
	}
	r.asked()
	for name, want := range map[string][]string{
		"twin.txt":    {"read twin.txt"},
		"package.txt": {"read package.txt"},
		"notes.txt":   {"read notes.txt node_modules/.env"},
		"readme.txt":  {"external_directory " + filepath.Dir(key) + "/*", "read readme.txt"},
	} {
		_, _ = r.run("read", m{"filePath": name})
		var got []string
		for _, ask := range r.asks {
			got = append(got, ask.Permission+" "+strings.Join(ask.Patterns, " "))
		}
		r.asked()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %s asks (-want +got):\n%s", name, diff)
		}
	}
}

// TestRecallUnderOtherRules holds that recall does not show what an earlier read,
// under other rules, brought into the session.
func TestRecallUnderOtherRules(t *testing.T) {
	var path string
	call := func(name, input, output string) lathe.Part {
		return lathe.Part{Seq: 1, Body: &lathe.ToolCall{Tool: name, State: &lathe.ToolDone{Input: []byte(input), Output: output}}}
	}
	r := newRig(t, func(e *Env) {
		path = filepath.Join(e.Root.Dir, "private/key.txt")
		e.History = pastOf(
			lathe.Message{Seq: 1, Info: &lathe.User{}, Parts: []lathe.Part{call("read", `{"filePath":"private/key.txt"}`, "1: needle private")}},
			lathe.Message{Seq: 2, Info: &lathe.User{}, Parts: []lathe.Part{call("grep", `{"pattern":"x"}`, "Found 1 matches\n"+path+":\n  Line 1: needle private")}},
			lathe.Message{Seq: 3, Info: &lathe.User{}, Parts: []lathe.Part{call("read", `{"filePath":"open.txt"}`, "1: needle open")}},
		)
	})
	r.put("private/key.txt", "needle private\n")
	said := func() string {
		var b strings.Builder
		for _, in := range []m{{"mode": "list"}, {"mode": "search", "query": "needle"}, {"mode": "read", "part": "1"}, {"mode": "read", "part": "2"}, {"mode": "read", "part": "3"}} {
			b.WriteString(r.ok("recall", in).Output)
		}
		return b.String()
	}
	if n := strings.Count(said(), "needle private"); n < 4 {
		t.Errorf("recall shows only %d times what may be read", n)
	}
	r.under(rule("private/*", lathe.Deny))
	if out := said(); strings.Contains(out, "needle private") || !strings.Contains(out, "needle open") || !strings.Contains(out, reading.Withheld) {
		t.Errorf("recall shows:\n%s", out)
	}
}
