package words_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/store/words"
)

func TestQuery(t *testing.T) {
	form := func(text string, prefix bool) string {
		switch {
		case text == "-":
			return ""
		case prefix:
			return text + "*"
		}
		return text
	}
	for query, want := range map[string][]string{
		"":                    nil,
		"one  two":            {"one*", "two*"},
		`"one two" three`:     {"one two", "three*"},
		`open "to the end`:    {"open*", "to the end"},
		"- nothing of it":     {"nothing*", "of*", "it*"},
		"搜索 搜 x搜 y索z":         {"搜索", "搜*", "x搜", "y索z*"},
		`" spaces around " x`: {"spaces around", "x*"},
	} {
		if diff := cmp.Diff(want, words.Query(query, form)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}
