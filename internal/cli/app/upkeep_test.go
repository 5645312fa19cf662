package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/store/local"
	"lathe/internal/store/sqlite"
)

func TestUpkeep(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a := &App{Env: &console.Env{Now: func() time.Time { return now }}, Paths: config.Paths{Data: dir}, Store: db.Store(), Log: slog.New(slog.DiscardHandler)}
	old := filepath.Join(dir, local.OutputsDir, "tool_old")
	fresh := filepath.Join(dir, local.OutputsDir, "tool_new")
	for path, age := range map[string]time.Duration{old: 8 * 24 * time.Hour, fresh: time.Hour} {
		write(t, path, now.Add(-age))
	}
	for day := 1; day <= 12; day++ {
		write(t, filepath.Join(dir, "log", time.Date(2026, 10, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)+".log"), now)
	}
	if !a.upkeepDue() || a.upkeepDue() {
		t.Error("upkeep is due once, then not for an hour")
	}
	a.upkeep(t.Context())
	if _, err := os.Stat(old); err == nil {
		t.Error("an old output is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a fresh output is gone")
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "log", "*.log")); len(logs) != keptLogs || filepath.Base(logs[0]) != "2026-10-03.log" {
		t.Errorf("logs left: %v", logs)
	}
	now = now.Add(2 * time.Hour)
	if !a.upkeepDue() {
		t.Error("upkeep is not due after two hours")
	}
}

func write(t *testing.T, path string, mod time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, mod, mod); err != nil {
		t.Fatal(err)
	}
}
