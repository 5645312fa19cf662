//go:build unix

package sandbox

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What variables name is found, wherever it is; lists and other forms of paths count.
func TestNamedCredentials(t *testing.T) {
	list := string(os.PathListSeparator)
	vars := map[string]string{
		"KUBECONFIG": "/k/one" + list + "/k/two" + list + "relative", "DOCKER_CONFIG": "/d", "NETRC": "~/net/rc", "CARGO_HOME": "/cargo",
		"KRB5CCNAME": "FILE" + list + "/tmp/krb5cc_0", "PGPASSFILE": "/pg/../pg/pass", "GH_CONFIG_DIR": "", "PATH": "/bin",
	}
	m := Machine{Home: "/home/x", Getenv: func(name string) string { return vars[name] }}
	want := []string{"/k/one", "/k/two", "/d/config.json", "/d/contexts", "/home/x/net/rc", "/cargo/credentials", "/cargo/credentials.toml", "/pg/pass", "/tmp/krb5cc_0"}
	if diff := cmp.Diff(want, m.Named()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every row of the table says what its kind needs.
func TestPlaces(t *testing.T) {
	kinds := map[string]bool{"cache": true, "hide": true, "start": true, "named": true}
	for _, row := range places() {
		switch {
		case !kinds[row.kind], row.kind != "named" && len(row.paths) == 0:
			t.Errorf("%v", row)
		case row.kind == "named" && (row.program != strings.TrimSpace(row.program) || strings.ContainsAny(row.program, "$/~")):
			t.Errorf("%v does not begin with a variable", row)
		}
		for _, path := range row.paths {
			if path == "" || row.kind == "named" && strings.HasPrefix(path, "/") {
				t.Errorf("%v has the path %q", row, path)
			}
		}
	}
}
