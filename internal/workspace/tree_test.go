//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTree holds that links are followed within bounds, and that nothing is looked
// at beyond them.
func TestTree(t *testing.T) {
	base := realDir(t)
	root, outside := mkdir(t, base, "root"), mkdir(t, base, "outside")
	for _, name := range []string{"root/b.md", "root/a/c.md", "root/a/deep/er/d.md", "root/skip/e.md", "root/x.txt", "outside/o.md"} {
		mkdir(t, filepath.Dir(filepath.Join(base, name)))
		put(t, filepath.Join(base, name), "")
	}
	for name, to := range map[string]string{"up": base, "top": "/", "self": root, "loop": filepath.Join(root, "a"), "a/loop": filepath.Join(root, "a"), "far": outside, "f.md": filepath.Join(outside, "o.md"), "gone.md": "/nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	markdown := func(name string) bool { return strings.HasSuffix(name, ".md") }
	find := func(tree Tree) (rel []string, all bool) {
		paths, all := tree.Find(root, markdown)
		for _, p := range paths {
			rel = append(rel, strings.TrimPrefix(p, root+"/"))
		}
		return rel, all
	}
	tree := Tree{Depth: 2, Entries: 1000, Pass: func(name string) bool { return name == "skip" }}
	got, all := find(tree)
	if diff := cmp.Diff([]string{"a/c.md", "b.md", "f.md", "far/o.md", "gone.md", "loop/c.md"}, got); diff != "" || !all {
		t.Errorf("all %t (-want +got):\n%s", all, diff)
	}
	tree.Enter = func(real string) bool { return strings.HasPrefix(real, root+"/") }
	if got, _ := find(tree); strings.Contains(strings.Join(got, " "), "far/") {
		t.Errorf("a link was followed against the word of Enter: %q", got)
	}
	for i := range 50 {
		put(t, filepath.Join(root, "a", strconv.Itoa(i)+".txt"), "")
	}
	tree.Entries = 20
	if got, all := find(tree); all || len(got) == 0 {
		t.Errorf("a bound that was passed: %q, all %t", got, all)
	}
	if paths, all := tree.Find(filepath.Join(base, "none"), markdown); paths != nil || !all {
		t.Errorf("a root that is not there: %q, %t", paths, all)
	}
}
