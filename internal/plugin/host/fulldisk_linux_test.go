package host_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of a size, such as "512k". Without the right to mount, the
// test is skipped.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted here, which only root may: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// fill writes until the disk is full, and returns the file to remove.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := bytes.Repeat([]byte("x"), 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk was to be full: %v", err)
	}
	return path
}

// filesIn lists what is in a directory of plugins, locks between processes aside.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(dir, "plugins"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// An installation for which the cache has no room leaves nothing behind, and works once
// there is room.
func TestInstallOnAFullCache(t *testing.T) {
	cache, data := smallDisk(t, "512k"), t.TempDir()
	p, _ := packages(t, "large", false, cache, data)
	if _, err := p.Install(t.Context(), "demo@1.0.0"); err == nil || !strings.Contains(err.Error(), "No space left on device") {
		t.Errorf("error %v", err)
	}
	if left := filesIn(t, cache); left != nil {
		t.Errorf("it leaves %v", left)
	}
	if err := unix.Mount("none", cache, "tmpfs", unix.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(t.Context(), "demo@1.0.0"); err != nil {
		t.Errorf("with room: %v", err)
	}
}

// A lock for which there is no room is not kept in part: what is installed later begins
// without one.
func TestInstallPinnedOnAFullDisk(t *testing.T) {
	cache, data := t.TempDir(), smallDisk(t, "512k")
	if err := os.MkdirAll(filepath.Join(data, "plugins"), 0o700); err != nil {
		t.Fatal(err)
	}
	filler := fill(t, data)
	p, calls := packages(t, "large", false, cache, data)
	if _, err := p.Install(t.Context(), "demo@1.0.0"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if left := append(filesIn(t, cache), filesIn(t, data)...); left != nil {
		t.Errorf("it leaves %v", left)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(t.Context(), "demo@1.0.0"); err != nil {
		t.Errorf("with room: %v", err)
	}
	if got := read(t, calls); got != "install\ninstall\n" {
		t.Errorf("npm was called with %q: the second time with a lock that was cut short", got)
	}
	if diff := cmp.Diff([]string{"package-lock.json"}, filesIn(t, data)); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
}
