package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program is a file that may be executed; a directory and a text are none.
func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	ext := ""
	if runtime.GOOS == "windows" {
		ext = ".exe"
	}
	for name, mode := range map[string]os.FileMode{"program" + ext: 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"program": filepath.Join(dir, "program"+ext), "directory": "", "missing": ""}
	if runtime.GOOS != "windows" {
		want["text"] = ""
	}
	got := map[string]string{}
	for name := range want {
		got[name] = Executable(filepath.Join(dir, name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("programs (-want +got):\n%s", diff)
	}
}
