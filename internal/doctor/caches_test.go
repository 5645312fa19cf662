package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/sandbox"
)

// TestSharedCacheIsNamedOnce holds that a cache which several programs share is named once, and
// the others stay in their order.
func TestSharedCacheIsNamedOnce(t *testing.T) {
	got := paths([]sandbox.Cache{{Program: "pip", Path: "/c/pip"}, {Program: "go", Path: "/c/go"}, {Program: "uv", Path: "/c/pip"}, {Program: "npm", Path: "/c/npm"}, {Program: "gofmt", Path: "/c/go"}})
	if diff := cmp.Diff([]string{"/c/pip", "/c/go", "/c/npm"}, got); diff != "" {
		t.Errorf("caches (-want +got):\n%s", diff)
	}
	if got := paths(nil); got != nil {
		t.Errorf("of none: %q", got)
	}
}
