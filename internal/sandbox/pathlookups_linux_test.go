//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is protected is looked up once when a process starts and once when it has ended:
// what it made itself is seen, and a link that it turned is followed anew by the next.
func TestPathsAreLookedUpOncePerStart(t *testing.T) {
	atLevels(t, HostNetwork, func(t *testing.T, box *Box, _ Level) {
		w := newWorld(t)
		looks, protect := 0, w.policy.Protect
		w.policy.Protect = func() []string { looks++; return protect() }
		if err := os.Symlink("cache", filepath.Join(w.base, "link")); err != nil {
			t.Fatal(err)
		}
		w.policy.Write = append(w.policy.Write, filepath.Join(w.base, "link"))
		if r := w.run(box, w.policy, `echo x > "$BASE/link/y" && mkdir .lathe && echo {} > .lathe/lathe.json`); r.code != 0 || len(r.refused) != 1 {
			t.Errorf("exit %d, refused %v: %s", r.code, r.refused, r.out)
		}
		if diff := cmp.Diff(2, looks); diff != "" {
			t.Errorf("looked up (-want +got):\n%s", diff)
		}
		if err := os.Remove(filepath.Join(w.base, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("outside", filepath.Join(w.base, "link")); err != nil {
			t.Fatal(err)
		}
		if r := w.run(box, w.policy, `echo x > "$BASE/link/y" && ! echo x > /"$BASE/cache/../netrc"`); r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.out)
		}
	})
}
