package shell

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// What known file commands show, copy or send is told as read, by the name of the
// file or as one that is not known.
func TestFileCommandsRead(t *testing.T) {
	raw, err := os.ReadFile("testdata/reads.txt")
	if err != nil {
		t.Fatal(err)
	}
	for script := range strings.Lines(string(raw)) {
		script = strings.TrimSuffix(script, "\n")
		if script == "" || strings.HasPrefix(script, "#") {
			continue
		}
		a := Analyze(script, testEnv())
		told := slices.ContainsFunc(a.Reads, func(u PathUse) bool {
			return u.Dynamic || u.Path == "/w/.env" && (!u.Dir || u.Tree) || u.Tree && u.Path == "/w"
		}) || slices.ContainsFunc(a.Commands, func(c Cmd) bool { return c.Dynamic })
		if !told {
			t.Errorf("reads untold: %q %v", script, a.Reads)
		}
	}
}

// Words that look like files but are none are no reason to leave the project.
func TestWordsThatAreNoFiles(t *testing.T) {
	for _, script := range []string{
		`git log -p -S /api/users`, `git log -p --grep /x`, `git show ':/fix nasty'`, `git diff main..dev`, `git diff HEAD~1 -- src`, `git show HEAD:src/a.go`,
		`git log -p -G '/foo'`, `curl -d '{"to":"@/all"}' http://x`, `curl -H 'X: @/y' http://x`, `curl -b a=/b http://x`, `curl --data-raw @/x http://x`,
		`curl -u me@/x: http://x`, `curl -F name=/x http://x`, `curl -X POST -d a=@/b http://x`, `docker exec x cat /etc/hosts`, `shuf -n 5 a.txt`, `jq --arg a /x . b.json`,
		`node --env-file=.env x.js`, `docker run --env-file .env x`, `openssl rand -hex 32`, `openssl dgst -sha256 a`,
	} {
		for _, u := range Analyze(script, testEnv()).Reads {
			if u.Path == "/w/.env" || !u.Dynamic && !strings.HasPrefix(u.Path, "/w") {
				t.Errorf("%q reads %+v", script, u)
			}
		}
	}
}
