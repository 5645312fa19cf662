package snapshot

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitTakesThePatch changes files in every way, and lets git apply the patch to
// a copy of what was there before. The trees are the same afterwards.
func TestGitTakesThePatch(t *testing.T) {
	before := func(dir string) {
		write(t, dir, "changed.txt", "one\ntwo\nthree\n", 0o644)
		write(t, dir, "no newline.txt", "one", 0o644)
		write(t, dir, "gone/deep.txt", "was here\n", 0o644)
		write(t, dir, "empty", "", 0o644)
		write(t, dir, "run.sh", "#!/bin/sh\n", 0o644)
		write(t, dir, "bin.dat", "\x00\x01\x02", 0o644)
		write(t, dir, "文.txt", "文\n", 0o644)
		write(t, dir, "other.txt", "somebody else's\n", 0o644)
		if err := os.Symlink("changed.txt", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	root, copied := testRoot(t, true), testRoot(t, true)
	before(root.Dir)
	before(copied.Dir)
	s := openStore(t, root, t.TempDir())
	from := track(t, s)

	write(t, root.Dir, "changed.txt", "one\n2\nthree\n", 0o644)
	write(t, root.Dir, "no newline.txt", "two", 0o644)
	write(t, root.Dir, "new/made.txt", "made\n", 0o755)
	write(t, root.Dir, "bin.dat", "\x00\x01\x03\xff", 0o644)
	write(t, root.Dir, "文.txt", "字\n", 0o644)
	write(t, root.Dir, "other.txt", "changed by them\n", 0o644)
	for _, err := range []error{
		os.RemoveAll(filepath.Join(root.Dir, "gone")), os.Remove(filepath.Join(root.Dir, "empty")), os.Remove(filepath.Join(root.Dir, "link")),
		os.Symlink("other.txt", filepath.Join(root.Dir, "link")), os.Chmod(filepath.Join(root.Dir, "run.sh"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	to := track(t, s)
	var paths []string
	for _, name := range []string{"changed.txt", "no newline.txt", "gone/deep.txt", "empty", "run.sh", "bin.dat", "文.txt", "link", "new/made.txt"} {
		paths = append(paths, filepath.Join(root.Dir, filepath.FromSlash(name)))
	}
	patch, err := s.GitPatch(t.Context(), from, to, paths)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"diff --git a/gone/deep.txt b/gone/deep.txt\ndeleted file mode 100644", "+++ /dev/null", "new file mode 100755", "old mode 100644\nnew mode 100755", "GIT binary patch"} {
		if !strings.Contains(patch, want) {
			t.Errorf("the patch has no %q:\n%s", want, patch)
		}
	}
	cmd := exec.Command("git", "apply")
	cmd.Dir, cmd.Stdin = copied.Dir, strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
	write(t, copied.Dir, "other.txt", "changed by them\n", 0o644)
	if got, want := track(t, openStore(t, copied, t.TempDir())), to; strings.Split(got, "-")[0] != strings.Split(want, "-")[0] {
		t.Errorf("the patched tree is %s, not %s:\n%s", got, want, patch)
	}
	if none, err := s.GitPatch(t.Context(), from, from, paths); err != nil || none != "" {
		t.Errorf("between the same trees: %q, %v", none, err)
	}
	if _, err := s.GitPatch(t.Context(), from, to, []string{"/etc/passwd"}); err == nil {
		t.Error("a file outside is in the patch")
	}
}
