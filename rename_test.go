package lathe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// TestRenames holds that a file that only got another name is found, and that nothing is
// guessed.
func TestRenames(t *testing.T) {
	gone := func(name, text string) lathe.FileDiff {
		return lathe.FileDiff{File: name, Before: text, Status: "deleted", Deletions: 1}
	}
	added := func(name, text string) lathe.FileDiff {
		return lathe.FileDiff{File: name, After: text, Status: "added", Additions: 1}
	}
	changed := lathe.FileDiff{File: "c", Before: "x", After: "y\ny", Status: "modified", Additions: 2, Deletions: 1}
	for name, tt := range map[string]struct {
		files          []lathe.FileDiff
		want           map[string]string
		added, removed int
	}{
		"another name":      {[]lathe.FileDiff{gone("a", "x"), added("b", "x"), changed}, map[string]string{"a": "b", "b": "a"}, 2, 1},
		"other text":        {[]lathe.FileDiff{gone("a", "x"), added("b", "y")}, map[string]string{}, 1, 1},
		"two it could be":   {[]lathe.FileDiff{gone("a", "x"), added("b", "x"), added("c", "x")}, map[string]string{}, 2, 1},
		"two it could have": {[]lathe.FileDiff{gone("a", "x"), gone("b", "x"), added("c", "x")}, map[string]string{}, 1, 2},
		"no text is known":  {[]lathe.FileDiff{gone("a", ""), added("b", "")}, map[string]string{}, 1, 1},
	} {
		if diff := cmp.Diff(tt.want, lathe.Renames(tt.files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if a, r := lathe.CountLines(tt.files); a != tt.added || r != tt.removed {
			t.Errorf("%s: +%d −%d, want +%d −%d", name, a, r, tt.added, tt.removed)
		}
	}
}
