package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestLogsAreBounded(t *testing.T) {
	dir := t.TempDir()
	l, err := openLogFile(filepath.Join(dir, "2026-01-01.log"))
	if err != nil {
		t.Fatal(err)
	}
	record := bytes.Repeat([]byte("x"), 1<<20)
	for range 3*maxLog>>20 + 1 {
		if _, err := l.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(record); err == nil {
		t.Error("a closed log takes records")
	}
	var sizes []int64
	for _, name := range []string{"2026-01-01.log", "2026-01-01.1.log"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size()>>20)
	}
	if sizes[0] != 1 || sizes[1] != maxLog>>20 {
		t.Errorf("the logs have %v MiB", sizes)
	}
}
