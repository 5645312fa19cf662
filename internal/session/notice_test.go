package session

import (
	"strings"
	"testing"

	"lathe/internal/config"
)

// TestNoticeNamesSettings holds that the first few settings left out are named.
func TestNoticeNamesSettings(t *testing.T) {
	left := []config.LeftOut{{Path: "permission.edit"}, {Path: "provider"}, {Path: "mcp"}, {Path: "plugin"}, {Path: "model"}}
	for n, want := range map[int]string{
		1: "so 1 setting of its configuration takes no effect (permission.edit);",
		2: "so 2 settings of its configuration take no effect (permission.edit, provider);",
		5: "so 5 settings of its configuration take no effect (permission.edit, provider, mcp, and 2 more);",
	} {
		if got := (Trust{}).notice(left[:n]); !strings.Contains(got, want) {
			t.Errorf("%d left out: %q, want %q", n, got, want)
		}
	}
}
