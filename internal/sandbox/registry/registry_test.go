package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		files []string
		want  []string
	}{
		{nil, nil},
		{[]string{"README.md", "go.mod.txt"}, nil},
		{[]string{"go.mod"}, []string{"go"}},
		{[]string{"web/app/package.json", "server/Cargo.toml", "x.csproj"}, []string{"npm", "rust", "dotnet"}},
		{[]string{"node_modules/a/package.json", "vendor/go.mod", ".cache/pom.xml", "testdata/Gemfile", ".csproj"}, nil},
		{[]string{"a/b/c/d/go.mod"}, nil},
	} {
		dir := t.TempDir()
		for _, name := range tt.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, u := range Of(dir) {
			got = append(got, u.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.files, diff)
		}
	}
}

// The table names each ecosystem once, with files and with hosts that are names.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range ecosystems() {
		if seen[e.name] || e.name == "" || len(e.files) == 0 || len(e.hosts) == 0 {
			t.Errorf("%+v", e)
		}
		seen[e.name] = true
		for _, host := range e.hosts {
			host = strings.TrimPrefix(host, "*.")
			if strings.ToLower(host) != host || !strings.Contains(host, ".") || strings.ContainsAny(host, "*/:") {
				t.Errorf("%s: %q is no host", e.name, host)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("%d ecosystems", len(seen))
	}
}

func TestReports(t *testing.T) {
	for host, want := range map[string]bool{
		"update.googleapis.com": true, "redirector.gvt1.com": true, "gvt1.com": false, "storage.googleapis.com": false, "": false, "example.org": false,
	} {
		if Reports(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
	for _, e := range ecosystems() {
		for _, host := range e.hosts {
			if Reports(host) {
				t.Errorf("%s is in both tables", host)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		entry, host string
		want        bool
	}{
		{"pypi.org", "pypi.org", true}, {"pypi.org", "x.pypi.org", false}, {"*.example.org", "packages.example.org", true},
		{"*.example.org", "example.org", false}, {"*.example.org", "badexample.org", false},
	} {
		if got := Names(tt.entry, tt.host); got != tt.want {
			t.Errorf("Names(%q, %q) = %v", tt.entry, tt.host, got)
		}
	}
}
