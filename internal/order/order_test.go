package order

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type pair struct{ Key, Place int }

func byKey(a, b pair) int { return cmp.Compare(a.Key, b.Key) }

func TestStableSortsLikeSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got []pair
		for i, key := range rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "keys") {
			got = append(got, pair{key, i})
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, byKey)
		Stable(got, byKey)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("sorted (-want +got):\n%s", diff)
		}
	})
}

func BenchmarkStable(b *testing.B) {
	list := make([]pair, 200)
	for i := range list {
		list[i] = pair{i * 7919 % 200, i}
	}
	for name, sort := range map[string]func([]pair, func(a, b pair) int){"order": Stable[[]pair], "slices": slices.SortStableFunc[[]pair]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sort(slices.Clone(list), byKey)
			}
		})
	}
}
