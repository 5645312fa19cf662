package builtin

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProposed holds that an ask to leave the project says which file is meant and
// what would be written, before the file is looked at.
func TestProposed(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.env.Home, "outside.txt")
	edited := "--- " + file + "\n+++ " + file + "\n@@ -1 +1 @@\n-a\n+b\n"
	meta := func(more m) m {
		out := m{"filepath": file, "parentDir": r.env.Home}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	for name, tt := range map[string]struct{ in, want m }{
		"write": {m{"filePath": file, "content": "a\n"}, meta(m{"content": "a\n"})},
		"edit":  {m{"filePath": file, "oldString": "a\n", "newString": "b\n"}, meta(m{"diff": edited})},
		"multiedit": {m{"filePath": file, "edits": []m{{"oldString": "a\n", "newString": "b\n"}, {"oldString": "a\n", "newString": "b\n"}}},
			meta(m{"diff": edited + edited})},
		"read": {m{"filePath": file}, meta(nil)},
	} {
		r.asks, r.deny = nil, denies("external_directory")
		_, _ = r.run(name, tt.in)
		if diff := cmp.Diff(tt.want, m(r.asks[0].Metadata)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
