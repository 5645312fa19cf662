package typo

import (
	"cmp"
	"slices"
	"strings"
)

// What a slip of the hand costs when commands are compared. A letter that was left out, came
// twice or came too early is likelier than a wrong one.
const (
	missing   = 2
	swapped   = 2
	wrong     = 3
	most      = 3 // beyond it nothing is suggested: two slips behind the first letter
	sameStart = 1 // what it counts that the first letter is right
)

// Command returns the command that a mistyped word most likely means, or "": one that it
// begins, else the one that the fewest and likeliest slips make of it.
func Command(word string, names []string) string {
	word = strings.ToLower(word)
	if word == "" || len(word) > maxWord {
		return ""
	}
	names = slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, n := range names {
		if len(word) > 1 && strings.HasPrefix(n, word) {
			return n
		}
	}
	best, bestAt := "", most+1
	for _, n := range names {
		score := slips(word, n)
		if n != "" && n[0] == word[0] {
			score -= sameStart
		}
		if score < bestAt && score < 2*min(len(n), len(word)) {
			best, bestAt = n, score
		}
	}
	return best
}

// slips is the cost of the slips that make one word of the other.
func slips(a, b string) int {
	if len(b) > maxWord {
		return maxWord
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j * missing
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = row[0] + missing
		for j := range len(b) {
			cost := wrong
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+missing, next[j]+missing)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+swapped)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
