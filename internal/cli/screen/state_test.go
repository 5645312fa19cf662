package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/prefs"
)

func TestPrefs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if diff := cmp.Diff(prefs.Prefs{}, loadPrefs(dir)); diff != "" {
		t.Errorf("without files (-want +got):\n%s", diff)
	}
	want := prefs.Prefs{
		Recent:   []lathe.ModelRef{{Provider: "acme", Model: "org/big:1"}},
		Favorite: []lathe.ModelRef{{Provider: "acme", Model: "small"}, {Provider: "b", Model: "c"}},
		Variant:  map[string]string{"acme/org/big:1": "high"}, Theme: "nord", Mode: "light", NoTips: true, Times: true, Guided: true, Offered: true,
		NoSidebar: true, Scrollbar: true, Names: true,
	}
	if err := savePrefs(dir, want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, loadPrefs(dir)); diff != "" {
		t.Errorf("prefs (-want +got):\n%s", diff)
	}
	// What others keep in the files stays; what is taken back goes.
	kv := filepath.Join(dir, otherState)
	if err := os.WriteFile(kv, []byte(`{"theme":"nord","theme_mode":"light","animations_enabled":false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want.Mode = ""
	if err := savePrefs(dir, want); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(kv)
	if got := loadPrefs(dir); got.Mode != "" || !strings.Contains(string(data), `"animations_enabled": false`) {
		t.Errorf("mode %q, file %s", got.Mode, data)
	}
	if err := os.WriteFile(kv, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := loadPrefs(dir); len(got.Favorite) != 2 || got.Theme != "" {
		t.Errorf("beside a broken file: %+v", got)
	}
}

func TestWriteNumbered(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []string{"a.md", "a-2.md", "a-3.md"} {
		path, err := writeNumbered(dir, "a.md", []byte{byte('0' + i)})
		if err != nil || filepath.Base(path) != want {
			t.Errorf("%d: %s, %v", i, path, err)
		}
	}
	if _, err := writeNumbered(filepath.Join(dir, "none"), "a.md", nil); err == nil {
		t.Error("a directory that is not there")
	}
}
