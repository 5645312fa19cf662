package lsp

import (
	"bytes"
	"os"
	"testing"

	"lathe/internal/lsp/lsptest"
)

// TestMain is also the server that the tests start: LSP_FAKE says how it behaves.
func TestMain(m *testing.M) {
	if how := os.Getenv("LSP_FAKE"); how != "" {
		lsptest.Serve(how)
		return
	}
	os.Exit(m.Run())
}

func readLog(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(data))
}
