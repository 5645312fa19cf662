package prefs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// TestOldPreferencesAreNotKept holds that a save which comes late does not undo a
// newer one.
func TestOldPreferencesAreNotKept(t *testing.T) {
	var kept []int
	b := NewBook(Prefs{}, func(p Prefs) error { kept = append(kept, len(p.Favorite)); return nil })
	b.Favorite = append(b.Favorite, lathe.ModelRef{Provider: "acme", Model: "big"})
	first := b.Save()
	b.Favorite = append(b.Favorite, lathe.ModelRef{Provider: "acme", Model: "small"})
	second := b.Save()
	second()
	first()
	if diff := cmp.Diff([]int{2}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
