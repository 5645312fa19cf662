// Package order sorts short lists without growing the program.
package order

import "sort"

// Stable sorts s and keeps the order of what compares as equal, like
// [slices.SortStableFunc]. The compiler makes that anew for each type of element, some
// 15 KiB of the program each, where this needs a few hundred bytes. It takes four times the
// time, so use package slices for strings, and for what may have thousands of elements.
func Stable[S ~[]E, E any](s S, compare func(a, b E) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
