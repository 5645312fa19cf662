// Package typo guesses which name a mistyped one meant.
package typo

import (
	"cmp"
	"slices"
	"strings"

	"lathe/internal/order"
)

// maxWord is the length in bytes up to which words are compared; longer ones
// are as far apart as that.
const maxWord = 100

// Distance counts the bytes to add, drop or change between two words.
func Distance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			prev, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, prev+cost)
		}
	}
	return row[len(b)]
}

// Nearest returns the name that is at most two changes away, whatever the case,
// or "". Among equals the first by alphabet wins.
func Nearest(word string, names []string) string {
	best, bestAt := "", 3
	for _, n := range slices.Sorted(slices.Values(names)) {
		if d := Distance(strings.ToLower(word), strings.ToLower(n)); d < bestAt && d < len(n) {
			best, bestAt = n, d
		}
	}
	return best
}

// Suggest returns up to three names that a wrong one may have meant, likeliest
// first: those that are few changes away, contain the word or stand in it.
func Suggest(word string, names []string) []string {
	type scored struct {
		name  string
		score int
	}
	word = strings.ToLower(word)
	var list []scored
	for _, n := range names {
		low := strings.ToLower(n)
		score := Distance(word, low)
		if strings.Contains(low, word) || strings.Contains(word, low) && len(low) > 3 {
			score = min(score, 2)
		}
		if score <= max(2, len(word)/3) {
			list = append(list, scored{n, score})
		}
	}
	order.Stable(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, s := range list[:min(3, len(list))] {
		out = append(out, s.name)
	}
	return out
}
