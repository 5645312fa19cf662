package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/search"
)

// A search that takes too long ends with a reason that tells what to do.
func TestSearchThatTakesTooLong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patient(t.Context(), -1)
	defer cancel()
	_, err := search.Grep(ctx, dir, search.GrepOptions{Pattern: "text"})
	if err == nil || !strings.Contains(err.Error(), "search a directory below") {
		t.Errorf("grep: %v", err)
	}
	_, err = search.Glob(ctx, dir, "*", 10, search.FileOptions{})
	if err == nil || !strings.Contains(err.Error(), "search a directory below") {
		t.Errorf("glob: %v", err)
	}
}
