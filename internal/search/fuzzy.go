package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fuzzy returns the candidates that contain the query's characters in order,
// best first, at most limit of them (0: all). Candidates are paths with forward
// slashes; a slash at the end marks a directory. Blanks separate words that must
// all occur. Hits in the last element, at the start of words and in a row count
// most, then short paths. Case counts only where the query has capitals. An
// empty query keeps the order of the candidates.
func Fuzzy(query string, candidates []string, limit int) []string {
	words := strings.Fields(query)
	if limit <= 0 {
		limit = len(candidates)
	}
	if len(words) == 0 {
		return slices.Clone(candidates[:min(limit, len(candidates))])
	}
	needles := make([]needle, len(words))
	for i, w := range words {
		needles[i] = needle{[]rune(w), strings.IndexFunc(w, unicode.IsUpper) < 0}
	}
	var hits []hit
	var buf []rune
	for i, c := range candidates {
		buf = buf[:0]
		for _, r := range c {
			buf = append(buf, r)
		}
		if score, ok := rank(needles, buf); ok {
			hits = append(hits, hit{score, i})
			if len(hits) >= 2*limit+1024 {
				hits = bestHits(hits, candidates, limit)
			}
		}
	}
	hits = bestHits(hits, candidates, limit)
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = candidates[h.at]
	}
	return out
}

type needle struct {
	runes []rune
	fold  bool
}

type hit struct{ score, at int }

func bestHits(hits []hit, candidates []string, limit int) []hit {
	slices.SortFunc(hits, func(a, b hit) int {
		if a.score != b.score {
			return b.score - a.score
		}
		x, y := candidates[a.at], candidates[b.at]
		if n := utf8.RuneCountInString(x) - utf8.RuneCountInString(y); n != 0 {
			return n
		}
		return strings.Compare(x, y)
	})
	return hits[:min(limit, len(hits))]
}

// rank scores a path against all words.
func rank(needles []needle, path []rune) (score int, ok bool) {
	base := 0
	for i := len(path) - 2; i >= 0; i-- {
		if path[i] == '/' {
			base = i + 1
			break
		}
	}
	for _, n := range needles {
		s, ok := n.score(path, base)
		if !ok {
			return 0, false
		}
		score += s
	}
	return score - len(path)/8, true
}

// score looks in the last element first, then in the whole path.
func (n needle) score(path []rune, base int) (score int, ok bool) {
	if s, ok := n.within(path, base); ok {
		return s + 40 + 8*len(n.runes), true
	}
	return n.within(path, 0)
}

// within finds the tightest occurrence that ends last: forwards to see that
// there is one, backwards to make it short.
func (n needle) within(path []rune, from int) (score int, ok bool) {
	at := len(path)
	for i := len(n.runes) - 1; i >= 0; i-- {
		at--
		for at >= from && !n.same(path[at], n.runes[i]) {
			at--
		}
		if at < from {
			return 0, false
		}
	}
	return max(n.points(path, at, from), n.points(path, n.first(path, from), from)), true
}

// first is where the first possible occurrence starts: at a run of the whole
// word if there is one.
func (n needle) first(path []rune, from int) int {
	first := -1
	for i := from; i+len(n.runes) <= len(path); i++ {
		j := 0
		for j < len(n.runes) && n.same(path[i+j], n.runes[j]) {
			j++
		}
		if j == len(n.runes) && (first < 0 || boundary(path, i) && !boundary(path, first)) {
			first = i
		}
	}
	if first >= 0 {
		return first
	}
	for first = from; !n.same(path[first], n.runes[0]); first++ {
	}
	return first
}

// points adds up what the occurrence that starts at a place is worth.
func (n needle) points(path []rune, at, from int) int {
	total, run := 0, 0
	for i, r := range n.runes {
		for at < len(path) && !n.same(path[at], r) {
			at++
			run = 0
			if i > 0 {
				total--
			}
		}
		if at == len(path) {
			return -1 << 20
		}
		total += 4 + 4*min(run, 4)
		if boundary(path, at) {
			total += 8
		}
		if at == from && i == 0 {
			total += 8
		}
		run++
		at++
	}
	if at == len(path) || path[at] == '.' || path[at] == '/' {
		total += 6 // up to the end of a name
	}
	return total
}

func (n needle) same(c, want rune) bool {
	if c == want {
		return true
	}
	return n.fold && (c <= unicode.MaxASCII && c >= 'A' && c <= 'Z' && c+'a'-'A' == want || c > unicode.MaxASCII && unicode.ToLower(c) == want)
}

// boundary reports whether a word starts here.
func boundary(path []rune, at int) bool {
	if at == 0 {
		return true
	}
	prev := path[at-1]
	return strings.ContainsRune("/._- ", prev) || unicode.IsUpper(path[at]) && unicode.IsLower(prev)
}
