package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/cli/console"
	"lathe/internal/config"
)

func TestOldScratchIsRemoved(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	a := &App{Env: &console.Env{Now: func() time.Time { return now }}, Paths: config.Paths{Cache: cache}}
	put := func(name string, age time.Duration) string {
		path := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, fresh, other := put("scratch/a/deep/old", 8*24*time.Hour), put("scratch/a/new", time.Hour), put("models.json", 8*24*time.Hour)
	a.removeOldScratch(t.Context())
	for path, want := range map[string]bool{old: false, fresh: true, other: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", path, err == nil, want)
		}
	}
}
