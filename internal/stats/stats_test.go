package stats

import (
	"testing"

	"lathe"
	"lathe/internal/catalog"
)

func TestMissPrice(t *testing.T) {
	models := catalog.New([]catalog.Provider{{ID: "p", Models: []catalog.Model{
		{ID: "cached", Cost: catalog.Cost{Prices: lathe.Prices{Input: 3_000_000, CacheRead: 300_000}}},
		{ID: "plain", Cost: catalog.Cost{Prices: lathe.Prices{Input: 3_000_000}}},
	}}})
	for _, tt := range []struct {
		ref  lathe.ModelRef
		want string
	}{
		{lathe.ModelRef{Provider: "p", Model: "cached"}, "$2.70"},
		{lathe.ModelRef{Provider: "p", Model: "plain"}, "$0.00"},
		{lathe.ModelRef{Provider: "p", Model: "unknown"}, "$0.00"},
		{lathe.ModelRef{Provider: "nobody", Model: "x"}, "$0.00"},
	} {
		if got := missPrice(models, tt.ref, 1_000_000).String(); got != tt.want {
			t.Errorf("%s: a million missed tokens cost %s more, want %s", tt.ref, got, tt.want)
		}
	}
}
