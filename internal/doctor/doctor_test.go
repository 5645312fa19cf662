package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/enginetest"
	"lathe/internal/say"
)

// TestRead holds that one file and one complaint are told of as one.
func TestRead(t *testing.T) {
	var got, said []string
	for _, n := range [][2]int{{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}} {
		text := read(n[0], n[1])
		got = append(got, text)
		if chinese := say.Chinese.Text(text); chinese == text {
			said = append(said, text)
		}
	}
	want := []string{"1 file, no complaints", "1 file, 1 complaint", "1 file, 2 complaints", "2 files, no complaints", "2 files, 1 complaint", "2 files, 2 complaints"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	if len(said) > 0 {
		t.Errorf("in English alone: %q", said)
	}
}

// TestLook breaks what lathe needs, one thing after another.
func TestLook(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	e, err := enginetest.Open(t.Context(), enginetest.Options{Env: map[string]string{"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe")}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	credentials := filepath.Join(home, "auth.json")
	d := Doctor{Service: e.Service, Store: e.Store, Auth: auth.Open(auth.Options{Path: credentials}), Data: e.Instance.Paths.Data}
	broken := func(dir string) (out []api.Check) {
		for _, c := range d.Look(t.Context(), dir) {
			if c.Broken {
				out = append(out, c)
			}
		}
		return out
	}
	if got := broken(dir); len(got) > 0 {
		t.Errorf("all is well, but: %+v", got)
	}
	if err := os.WriteFile(credentials, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := broken(dir); len(got) != 1 || got[0].Name != "credentials" || got[0].OK || got[0].Hint == "" || !strings.Contains(got[0].Detail, credentials) {
		t.Errorf("credentials that cannot be read: %+v", got)
	}
	if err := os.Remove(credentials); err != nil {
		t.Fatal(err)
	}
	if got := broken(filepath.Join(dir, "none")); len(got) != 1 || got[0].Name != "directory" {
		t.Errorf("a directory that is gone: %+v", got)
	}
}
