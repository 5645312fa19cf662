package instance

import (
	"testing"

	"lathe"
	"lathe/internal/provider"
)

// What is known of a model is known where only a person has a key for it, too.
func TestDescribedWithoutAKey(t *testing.T) {
	r, err := provider.New(provider.Options{Local: []provider.LocalServer{}})
	if err != nil {
		t.Fatal(err)
	}
	m := newModels(r, nil)
	all := r.Provider("anthropic", true).Models
	want := all[0].Ref
	if got := m.Described(want); got == nil || got.Ref != want || got.Limit.Context == 0 {
		t.Errorf("%s is described as %+v", want, got)
	}
	for _, ref := range []lathe.ModelRef{{Provider: "anthropic", Model: "none"}, {Provider: "none", Model: "none"}, {}} {
		if got := m.Described(ref); got != nil {
			t.Errorf("%s is described as %+v", ref, got)
		}
	}
}
