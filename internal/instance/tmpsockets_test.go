package instance

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A socket that a program puts into /tmp while lathe runs is hidden from the commands that
// start from then on.
func TestSocketsThatAppear(t *testing.T) {
	s := tmpSockets{dir: t.TempDir()}
	long := time.Now().Add(-time.Hour)
	for _, step := range []struct {
		make string
		want []string
	}{{"other", nil}, {"tmux-0", []string{"tmux-0"}}, {"ssh-x", []string{"ssh-x", "tmux-0"}}} {
		if err := os.Mkdir(filepath.Join(s.dir, step.make), 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 { // as it is now, and from memory
			var got []string
			for _, path := range s.list() {
				got = append(got, filepath.Base(path))
			}
			slices.Sort(got)
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.make, diff)
			}
			long = long.Add(time.Second)
			if err := os.Chtimes(s.dir, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
}
