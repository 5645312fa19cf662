package say

import (
	"fmt"
	"strings"
)

// Plural counts in English: "1 file", "2 files", "0 files". One is what a single one is called.
func Plural[N ~int | ~int64](n N, one string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, one))
}

// Noun is what of [Plural] follows the number, for where the number stands in a column of
// its own.
func Noun[N ~int | ~int64](n N, one string) string {
	switch y, isY := strings.CutSuffix(one, "y"); {
	case n == 1:
		return one
	case isY && !strings.ContainsAny(y[max(0, len(y)-1):], "aeiou"):
		return y + "ies"
	case strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "x"), strings.HasSuffix(one, "s"):
		return one + "es"
	case one == "person":
		return "people"
	}
	return one + "s"
}
