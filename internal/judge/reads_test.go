package judge

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

// What programs change in place, or write by an option, is told as written.
func TestRewrites(t *testing.T) {
	for _, script := range []string{
		"perl -i -pe s/a/b/ /e/x", "perl -pi -e s/a/b/ /e/x", "perl -0777pie 's/a/b/' -- /e/x", "perl -i.bak -ne print /e/x", "perl -pi.bak x.pl /e/x", "perl -Mstrict -pi -e 1 /e/x",
		"perl -Tpi -e 1 /e/x", "ruby -i -pe 1 /e/x", "patch -o /e/x a b", "patch -d /e < a", "cpio -idm -D /e < a", "tar xPf a", "7z x a -o/e", "7z a /e/x a",
		"git apply --directory=/e a", "git checkout-index --prefix=/e/ -a", "csplit --prefix=/e/x a 1", "rsync --log-file=/e/x a b", "rsync --backup-dir=/e -b a b",
		"script /e/x", "script -c ls /e/x", "script -q /e/x -c ls", "ssh-keygen -t rsa -N '' -f /e/x", "openssl genrsa -out /e/x", "gpg -o /e/x -d a", "gpg --output /e/x -d a",
		"age -o /e/x a", "gzip -d /e/x", "zstd a -o /e/x", "zip -r /e/x.zip a", "cp --target=/e a", "cp --target-d /e a", "yq -i . /e/x", "shfmt -w /e/x",
		"gsplit /e/x", "ginstall a /e/x", "gmv a /e/x", "curl --etag-save /e/x u", "curl --hsts /e/x u", "wget --warc-file=/e/x u",
	} {
		a := Analyze(script, testEnv())
		if !slices.ContainsFunc(a.Writes, func(u PathUse) bool { return strings.HasPrefix(u.Path, "/e") }) &&
			!slices.ContainsFunc(a.Commands, func(c Cmd) bool { return c.Dynamic }) {
			t.Errorf("writes untold: %q %v", script, a.Writes)
		}
	}
	for _, script := range []string{"perl -pe s/a/b/ x", "perl -Mintegers -ne print x", "perl -lane 'print' x", "ruby x.rb a", "yq .a x", "gzip -c x", "script --version"} {
		if a := Analyze(script, testEnv()); len(a.Writes) > 0 {
			t.Errorf("%q writes %v", script, a.Writes)
		}
	}
}
