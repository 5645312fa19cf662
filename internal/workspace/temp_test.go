package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// deadProcess returns the number of a process that has ended.
func deadProcess(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestSweepTempsTakesWhatHasNoWriter(t *testing.T) {
	dir := t.TempDir()
	const chance = "ABCDEFGHIJKLMNOP"
	dead, self := strconv.Itoa(deadProcess(t)), strconv.Itoa(os.Getpid())
	alive := strconv.Itoa(os.Getppid())
	files := map[string]time.Duration{ // name: age
		".lathe-" + dead + "-" + chance + ".tmp":           0,
		".lathe-" + self + "-" + chance + ".tmp":           0,
		".lathe-" + alive + "-" + chance + ".tmp":          0,
		".lathe-" + alive + "-" + "QQQQQQQQQQQQQQQQ.tmp":   time.Minute, // the number is another process's by now
		".lathe-" + chance + ".tmp":                        2 * time.Hour,
		".lathe-" + "QQQQQQQQQQQQQQQQ" + ".tmp":            0,
		".lathe-notes.tmp":                                 2 * time.Hour,
		".lathe-" + dead + "-mine.tmp":                     2 * time.Hour,
		"a.txt":                                            2 * time.Hour,
		".lathe-" + dead + "-" + chance + ".tmp.txt":       2 * time.Hour,
		".lathe-" + dead + "-" + "ZZZZZZZZZZZZZZZZ" + ".x": 2 * time.Hour,
	}
	for name, age := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	// One that is held is being written, however old it looks and whoever it names.
	held := filepath.Join(dir, ".lathe-"+dead+"-HHHHHHHHHHHHHHHH.tmp")
	f, err := os.Create(held)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	HoldTemp(f)
	link := filepath.Join(dir, ".lathe-"+dead+"-LLLLLLLLLLLLLLLL.tmp")
	if err := os.Symlink("a.txt", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}

	if n := SweepTemps(dir); n != 4 {
		t.Errorf("%d files were removed", n)
	}
	want := map[string]bool{filepath.Base(held): true, "sub": true}
	for name := range files {
		want[name] = true
	}
	delete(want, ".lathe-"+dead+"-"+chance+".tmp")
	delete(want, ".lathe-"+alive+"-QQQQQQQQQQQQQQQQ.tmp")
	delete(want, ".lathe-"+chance+".tmp")
	left := map[string]bool{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left[e.Name()] = true
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if n := SweepTemps(filepath.Join(dir, "a.txt")) + SweepTemps(filepath.Join(dir, "none")); n != 0 {
		t.Errorf("%d files were removed where no directory is", n)
	}
}

func TestTempNamesAreKnown(t *testing.T) {
	for name, want := range map[string]bool{
		TempName(): true, "sub/" + TempName(): true, ".lathe-ABCDEFGHIJKLMNOP.tmp": true,
		".lathe-1-ABCDEFGHIJKLMNO.tmp": false, ".lathe-0-ABCDEFGHIJKLMNOP.tmp": false, ".lathe--ABCDEFGHIJKLMNOP.tmp": false,
		".lathe-x.tmp": false, ".lathe-.tmp": false, "lathe-1-ABCDEFGHIJKLMNOP.tmp": false, "": false,
	} {
		if IsTemp(name) != want {
			t.Errorf("IsTemp(%q) is %v", name, !want)
		}
	}
}
