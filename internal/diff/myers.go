package diff

import "strings"

const (
	// maxLines is how many differing lines (of both texts together) are compared
	// one by one; more are shown as one replaced block.
	maxLines = 1 << 20
	// maxSteps limits the search for the shortest diff; about 0.2 s.
	maxSteps = 40_000_000
	// shallow is how far one search goes once maxSteps is used up.
	shallow = 32
)

// text is a string and where its lines start.
type text struct {
	s      string
	starts []uint32 // one per line, then len(s)
}

func split(s string) text {
	n := strings.Count(s, "\n")
	starts := make([]uint32, 0, n+2)
	for at := 0; at < len(s); {
		starts = append(starts, uint32(at))
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return text{s, append(starts, uint32(len(s)))}
}

func (t text) len() int          { return len(t.starts) - 1 }
func (t text) line(i int) string { return t.s[t.starts[i]:t.starts[i+1]] }

// edit says that lines a0..a1 were replaced with lines b0..b1.
type edit struct{ a0, a1, b0, b1 int }

// compare returns the edits that turn a into b, in order, with at least one
// unchanged line between two of them.
func compare(a, b text) []edit {
	if a.s == b.s {
		return nil
	}
	lo := 0
	for lo < a.len() && lo < b.len() && a.line(lo) == b.line(lo) {
		lo++
	}
	aHi, bHi := a.len(), b.len()
	for aHi > lo && bHi > lo && a.line(aHi-1) == b.line(bHi-1) {
		aHi--
		bHi--
	}
	if aHi == lo || bHi == lo || aHi-lo+bHi-lo > maxLines {
		return slide(a, b, []edit{{lo, aHi, lo, bHi}})
	}
	as, bs := intern(a, b, lo, aHi, bHi)
	aGone, bNew := flags(as, bs, maxSteps)
	return slide(a, b, collect(aGone, bNew, lo))
}

// intern numbers the lines lo..aHi of a and lo..bHi of b: equal lines, equal numbers.
func intern(a, b text, lo, aHi, bHi int) (as, bs []uint32) {
	ids := make(map[string]uint32, aHi-lo)
	number := func(t text, hi int) []uint32 {
		out := make([]uint32, 0, hi-lo)
		for i := lo; i < hi; i++ {
			id, ok := ids[t.line(i)]
			if !ok {
				id = uint32(len(ids))
				ids[t.line(i)] = id
			}
			out = append(out, id)
		}
		return out
	}
	return number(a, aHi), number(b, bHi)
}

// flags returns which elements of a were removed and which of b were added.
func flags(a, b []uint32, steps int) (gone, added []bool) {
	m := newMatcher(a, b, steps)
	m.run(0, len(m.a), 0, len(m.b))
	return m.gone, m.added
}

func newMatcher(a, b []uint32, steps int) *matcher {
	m := &matcher{steps: steps, gone: make([]bool, len(a)), added: make([]bool, len(b))}
	m.a, m.aAt = shared(a, b, m.gone)
	m.b, m.bAt = shared(b, a, m.added)
	size := len(m.a) + len(m.b) + 3
	m.fwd, m.back = make([]int32, size), make([]int32, size)
	return m
}

// shared returns the elements of s that also occur in other, with their places,
// and marks the rest as changed.
func shared(s, other []uint32, changed []bool) (kept []uint32, at []int) {
	in := make(map[uint32]bool, len(other))
	for _, id := range other {
		in[id] = true
	}
	for i, id := range s {
		if in[id] {
			kept, at = append(kept, id), append(at, i)
		} else {
			changed[i] = true
		}
	}
	return kept, at
}

// matcher finds a shortest edit script by divide and conquer.
type matcher struct {
	a, b        []uint32
	aAt, bAt    []int // places of a and b in gone and added
	gone, added []bool
	fwd, back   []int32 // furthest reach on each diagonal, reused by every search
	steps       int     // work left
}

// run compares a[a0:a1] with b[b0:b1]. It recurses into the smaller half and
// loops on the larger one, so the depth stays logarithmic.
func (m *matcher) run(a0, a1, b0, b1 int) {
	for {
		for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
			a0++
			b0++
		}
		for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
			a1--
			b1--
		}
		if a0 == a1 || b0 == b1 {
			break
		}
		x, y := m.middle(a0, a1, b0, b1)
		if x-a0+y-b0 < a1-x+b1-y {
			m.run(a0, x, b0, y)
			a0, b0 = x, y
		} else {
			m.run(x, a1, y, b1)
			a1, b1 = x, y
		}
	}
	for ; a0 < a1; a0++ {
		m.gone[m.aAt[a0]] = true
	}
	for ; b0 < b1; b0++ {
		m.added[m.bAt[b0]] = true
	}
}

// middle returns a point on a shortest path through the box, or on a fair one
// when the work limit is reached. Neither the first nor the last element of the
// two ranges may be equal, which keeps the point away from the corners.
func (m *matcher) middle(a0, a1, b0, b1 int) (x, y int) {
	a, b := m.a[a0:a1], m.b[b0:b1]
	n, k := len(a), len(b)
	delta, zero := n-k, k+1 // diagonal x-y lives at index x-y+zero
	fwd, back := m.fwd, m.back
	fwd[zero+1], back[zero+1] = 0, 0
	for d := 0; ; d++ {
		lo, hi := -(d - 2*max(0, d-k)), d-2*max(0, d-n)
		m.steps -= 2*d + 2
		for diag := lo; diag <= hi; diag += 2 {
			px := reach(fwd, zero, diag, d)
			py := px - diag
			from := px
			for px < n && py < k && a[px] == b[py] {
				px++
				py++
			}
			m.steps -= px - from
			fwd[zero+diag] = int32(px)
			if r := delta - diag; delta&1 != 0 && meet(px, py, back, zero, r, d-1, n, k) {
				return a0 + px, b0 + py
			}
		}
		for diag := lo; diag <= hi; diag += 2 {
			px := reach(back, zero, diag, d)
			py := px - diag
			from := px
			for px < n && py < k && a[n-1-px] == b[k-1-py] {
				px++
				py++
			}
			m.steps -= px - from
			back[zero+diag] = int32(px)
			if r := delta - diag; delta&1 == 0 && meet(px, py, fwd, zero, r, d, n, k) {
				return a0 + n - px, b0 + k - py
			}
		}
		if m.steps <= 0 && d >= shallow {
			return m.furthest(a0, a1, b0, b1, lo, hi)
		}
	}
}

// meet reports whether point (x, y) of one search touches what the other search
// reached on the same diagonal, which it calls r, by its round d. Both searches
// may step one over the edge of the box; such points do not count.
func meet(x, y int, other []int32, zero, r, d, n, k int) bool {
	if x > n || y > k || r < -(d-2*max(0, d-k)) || r > d-2*max(0, d-n) {
		return false
	}
	o := int(other[zero+r])
	return o <= n && o-r <= k && x+o >= n
}

// reach is where round d starts on a diagonal: one step on from the better neighbour.
func reach(v []int32, zero, diag, d int) int {
	i := zero + diag
	if diag == -d || (diag != d && v[i-1] < v[i+1]) {
		return int(v[i+1])
	}
	return int(v[i-1]) + 1
}

// furthest returns the point that got furthest, from either end. The work done
// so far is in proportion to that progress, which bounds the total.
func (m *matcher) furthest(a0, a1, b0, b1, lo, hi int) (x, y int) {
	n, k := a1-a0, b1-b0
	best := func(v []int32) (bx, by int) {
		for diag := lo; diag <= hi; diag += 2 {
			px := int(v[k+1+diag])
			py := px - diag
			if px <= n && py <= k && px+py > bx+by {
				bx, by = px, py
			}
		}
		return bx, by
	}
	fx, fy := best(m.fwd)
	bx, by := best(m.back)
	if fx+fy >= bx+by {
		return a0 + fx, b0 + fy
	}
	return a1 - bx, b1 - by
}

// collect turns flags into edits; both texts start at line lo.
func collect(gone, added []bool, lo int) []edit {
	var out []edit
	i, j := 0, 0
	for i < len(gone) || j < len(added) {
		e := edit{a0: lo + i, b0: lo + j}
		for i < len(gone) && gone[i] {
			i++
		}
		for j < len(added) && added[j] {
			j++
		}
		e.a1, e.b1 = lo+i, lo+j
		if e.a0 < e.a1 || e.b0 < e.b1 {
			out = append(out, e)
		}
		i++
		j++
	}
	return out
}

// slide moves pure insertions and deletions down over lines equal to their
// first one, so that a new function is shown with its own closing brace. Edits
// that come to touch are joined.
func slide(a, b text, edits []edit) []edit {
	out := edits[:0]
	for i, e := range edits {
		limit := a.len()
		if i+1 < len(edits) {
			limit = edits[i+1].a0
		}
		if n := len(out); n > 0 && out[n-1].a1 == e.a0 && out[n-1].b1 == e.b0 {
			e.a0, e.b0 = out[n-1].a0, out[n-1].b0
			out = out[:n-1]
		}
		switch {
		case e.a0 == e.a1:
			for e.a1 < limit && b.line(e.b0) == b.line(e.b1) {
				e = edit{e.a0 + 1, e.a1 + 1, e.b0 + 1, e.b1 + 1}
			}
		case e.b0 == e.b1:
			for e.a1 < limit && a.line(e.a0) == a.line(e.a1) {
				e = edit{e.a0 + 1, e.a1 + 1, e.b0 + 1, e.b1 + 1}
			}
		}
		out = append(out, e)
	}
	return out
}
