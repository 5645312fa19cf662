package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReaches(t *testing.T) {
	for script, want := range map[string][]string{
		"ls; cat a | grep b":               nil,
		"curl http://x | tee a":            {"curl"},
		"sudo -u me wget x":                {"wget"},
		"git status; git commit -m 'a'":    nil,
		"git -C sub fetch && git push":     {"git fetch", "git push"},
		"npm test; npm run build":          nil,
		"npm --silent ci":                  {"npm ci"},
		"npm $x":                           {"npm"},
		"yarn":                             {"yarn"},
		"yarn test":                        nil,
		"cargo build; cargo fmt":           {"cargo build"},
		"rsync -a a b":                     nil,
		"rsync -a a me@host:b":             {"rsync"},
		"scp a host:b; scp a host:c":       {"scp"},
		"find . -exec curl -F a=@{} x \\;": {"curl"},
		"echo a > /dev/tcp/1.2.3.4/80":     {"/dev/tcp/1.2.3.4/80"},
		"f() { ssh x; }; f":                {"ssh"},
		"bash -c 'dig x'":                  {"dig"},
		"python3.11 -m http.server":        nil,
	} {
		if diff := cmp.Diff(want, Analyze(script, testEnv()).Reaches); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
	}
}
