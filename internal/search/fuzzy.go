package search

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Paths are paths that a person searches by parts of their names, one query
// after another. They are never changed, and safe for concurrent use.
type Paths struct {
	names []string
	masks []uint64 // see maskOf
}

// NewPaths keeps the names, and does not copy them. They are paths with forward
// slashes; a slash at the end marks a directory.
func NewPaths(names []string) *Paths {
	p := &Paths{names, make([]uint64, len(names))}
	for i, name := range names {
		p.masks[i] = maskOf(name)
	}
	return p
}

// Names returns all paths, in the order in which they were given.
func (p *Paths) Names() []string { return p.names }

// Find returns the paths that contain the query's characters in order, best
// first, at most limit of them (0: all). Blanks separate words that must all
// occur. Hits in the last element, at the start of words and in a row count most,
// then short paths. Case counts only where the query has capitals. An empty query
// keeps the order of the paths. What accept refuses is left out; nil accepts all.
func (p *Paths) Find(query string, limit int, accept func(name string) bool) []string {
	if limit <= 0 {
		limit = len(p.names)
	}
	words := strings.Fields(query)
	if len(words) == 0 {
		return p.head(limit, accept)
	}
	q := newQuery(words)
	var mu sync.Mutex
	var hits []hit
	var wg sync.WaitGroup
	for from, part := 0, p.part(); from < len(p.names); from += part {
		wg.Go(func() {
			own := p.search(q, from, min(from+part, len(p.names)), limit, accept)
			mu.Lock()
			defer mu.Unlock()
			hits = append(hits, own...)
		})
	}
	wg.Wait()
	hits = bestHits(hits, p.names, limit)
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = p.names[h.at]
	}
	return out
}

func (p *Paths) head(limit int, accept func(string) bool) []string {
	var out []string
	for _, name := range p.names {
		if len(out) == limit {
			break
		}
		if accept == nil || accept(name) {
			out = append(out, name)
		}
	}
	return out
}

// part is how many paths one goroutine takes.
func (p *Paths) part() int { return max(4096, len(p.names)/runtime.GOMAXPROCS(0)+1) }

// search ranks the paths from one index to another.
func (p *Paths) search(q query, from, to, limit int, accept func(string) bool) []hit {
	var hits []hit
	var worst *hit // of those that are kept, once there are enough
	var buf buffers
	for i := from; i < to; i++ {
		if q.mask&^p.masks[i] != 0 {
			continue
		}
		score, ok := q.rank(p.names[i], p.masks[i], &buf)
		h := hit{score, i}
		if !ok || worst != nil && worse(h, *worst, p.names) > 0 || accept != nil && !accept(p.names[i]) {
			continue
		}
		if hits = append(hits, h); len(hits) >= 2*limit+1024 {
			hits = bestHits(hits, p.names, limit)
			worst = &hit{hits[limit-1].score, hits[limit-1].at}
		}
	}
	return bestHits(hits, p.names, limit)
}

// Fuzzy is [Paths.Find] for paths that are looked at once.
func Fuzzy(query string, candidates []string, limit int) []string {
	return NewPaths(candidates).Find(query, limit, nil)
}

// notASCII is the bit of a mask for other characters.
const notASCII = 1 << 63

// maskOf says which characters a text may contain, as bits: a query whose bits
// are not all among those of a path is not in it. Capitals count as small
// letters. A path with characters that are not ASCII has every bit, because some
// of them become ASCII letters in lower case.
func maskOf(s string) uint64 {
	var mask uint64
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return ^uint64(0)
		}
		mask |= 1 << (lower(s[i]) % 63)
	}
	return mask
}

func lower[C char](c C) C {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// query is what a person typed, as bytes for the common path and as runes.
type query struct {
	ascii []needle[byte] // none if the query is not ASCII
	runes []needle[rune]
	mask  uint64
}

func newQuery(words []string) query {
	q := query{}
	for i, w := range words {
		if slices.Contains(words[:i], w) { // the word adds nothing
			continue
		}
		fold := strings.IndexFunc(w, unicode.IsUpper) < 0
		q.ascii = append(q.ascii, needle[byte]{[]byte(w), fold})
		q.runes = append(q.runes, needle[rune]{[]rune(w), fold})
		for _, r := range w {
			if r >= utf8.RuneSelf {
				q.mask |= notASCII
			} else {
				q.mask |= 1 << (lower(byte(r)) % 63)
			}
		}
	}
	return q
}

type buffers struct {
	bytes []byte
	runes []rune
}

func (q query) rank(name string, mask uint64, buf *buffers) (score int, ok bool) {
	if mask&notASCII == 0 { // then the query is ASCII, too
		buf.bytes = append(buf.bytes[:0], name...)
		return rank(q.ascii, buf.bytes)
	}
	buf.runes = buf.runes[:0]
	for _, r := range name {
		buf.runes = append(buf.runes, r)
	}
	return rank(q.runes, buf.runes)
}

type hit struct{ score, at int }

func bestHits(hits []hit, names []string, limit int) []hit {
	slices.SortFunc(hits, func(a, b hit) int { return worse(a, b, names) })
	return hits[:min(limit, len(hits))]
}

// worse is positive if a comes after b.
func worse(a, b hit, names []string) int {
	if a.score != b.score {
		return b.score - a.score
	}
	x, y := names[a.at], names[b.at]
	if n := utf8.RuneCountInString(x) - utf8.RuneCountInString(y); n != 0 {
		return n
	}
	return strings.Compare(x, y)
}

type char interface{ byte | rune }

type needle[C char] struct {
	word []C
	fold bool
}

// rank scores a path against all words.
func rank[C char](needles []needle[C], path []C) (score int, ok bool) {
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
func (n needle[C]) score(path []C, base int) (score int, ok bool) {
	if s, ok := n.within(path, base); ok {
		return s + 40 + 8*len(n.word), true
	}
	return n.within(path, 0)
}

// within finds the tightest occurrence that ends last: forwards to see that
// there is one, backwards to make it short.
func (n needle[C]) within(path []C, from int) (score int, ok bool) {
	at := len(path)
	for i := len(n.word) - 1; i >= 0; i-- {
		at--
		for at >= from && !n.same(path[at], n.word[i]) {
			at--
		}
		if at < from {
			return 0, false
		}
	}
	score = n.points(path, at, from)
	if first := n.first(path, from); first != at {
		score = max(score, n.points(path, first, from))
	}
	return score, true
}

// first is where the first possible occurrence starts: at a run of the whole
// word if there is one.
func (n needle[C]) first(path []C, from int) int {
	first := -1
	for i := from; i+len(n.word) <= len(path); i++ {
		j := 0
		for j < len(n.word) && n.same(path[i+j], n.word[j]) {
			j++
		}
		if j == len(n.word) && (first < 0 || boundary(path, i) && !boundary(path, first)) {
			first = i
		}
	}
	if first >= 0 {
		return first
	}
	for first = from; !n.same(path[first], n.word[0]); first++ {
	}
	return first
}

// points adds up what the occurrence that starts at a place is worth.
func (n needle[C]) points(path []C, at, from int) int {
	total, run := 0, 0
	for i, r := range n.word {
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

func (n needle[C]) same(c, want C) bool {
	if c == want || !n.fold {
		return c == want
	}
	if c <= unicode.MaxASCII {
		return lower(c) == want
	}
	return unicode.ToLower(rune(c)) == rune(want)
}

// boundary reports whether a word starts here.
func boundary[C char](path []C, at int) bool {
	if at == 0 {
		return true
	}
	switch prev := path[at-1]; {
	case prev == '/' || prev == '.' || prev == '_' || prev == '-' || prev == ' ':
		return true
	case path[at] <= unicode.MaxASCII && prev <= unicode.MaxASCII:
		return path[at] >= 'A' && path[at] <= 'Z' && prev >= 'a' && prev <= 'z'
	default:
		return unicode.IsUpper(rune(path[at])) && unicode.IsLower(rune(prev))
	}
}
