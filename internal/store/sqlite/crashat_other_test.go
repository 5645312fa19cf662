//go:build !linux

package sqlite

import (
	"testing"

	"lathe/internal/store/storetest"
)

func traceStoring() error { return nil }

// crash cannot be told where to strike here.
func crash(t testing.TB, _ storetest.Place, _ int) ([]string, bool) {
	t.Skip("a process is not traced on this system")
	return nil, false
}
