package sqlite

import (
	"testing"
	"unicode/utf8"

	"lathe/internal/store"
	"lathe/internal/store/words"
)

func FuzzMatchExpr(f *testing.F) {
	for _, q := range []string{"a b", `"x y" z`, "搜索", "\x00", `a" OR b`, "NEAR(a b)", "-x:*^"} {
		f.Add(q)
	}
	s, err := openTest(f.Context(), Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	f.Fuzz(func(t *testing.T, q string) {
		if !utf8.ValidString(q) || matchExpr(q) == "" {
			return
		}
		if _, err := s.Search(t.Context(), q, store.SearchFilter{}); err != nil {
			t.Errorf("%q becomes %q: %v", q, matchExpr(q), err)
		}
		words.Snippet(q, q)
	})
}
