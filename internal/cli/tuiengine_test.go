package cli

import (
	"strings"
	"testing"

	"lathe/internal/client"
)

// TestLeftAlone holds that an undo which left files alone names them.
func TestLeftAlone(t *testing.T) {
	for want, out := range map[string]client.Reverted{
		"a.go":                        {Conflicts: 1, Files: []string{"a.go"}},
		"a.go, 文.md, c.go and 2 more": {Conflicts: 5, Files: []string{"a.go", "文.md", "c.go", "d.go"}},
		"3 of the files":              {Conflicts: 3},
	} {
		if err := notTakenBack(out, nil); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%+v: %v, want %q", out, err, want)
		}
	}
}
