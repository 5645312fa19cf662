package jsonc

// indexFrom is how many members an object has before it gets an index: looking
// through fewer is faster than keeping one.
const indexFrom = 32

// index finds the members of a large object by their keys, so that merging objects
// takes time in proportion to their size. It is only made and changed together
// with the object: reading a value stays safe for concurrent use.
type index struct {
	at    map[string]int
	first *Member // of the members it was made of, whose number is that of its keys
}

// fits reports whether the index is of these members, which others may have
// replaced in the meantime.
func (x *index) fits(members []Member) bool {
	return x != nil && len(members) == len(x.at) && len(members) > 0 && &members[0] == x.first
}

// find returns the place of a key, or -1.
func (v *Value) find(key string) int {
	if v == nil || v.Kind != Object {
		return -1
	}
	if v.index.fits(v.Members) {
		if i, ok := v.index.at[key]; ok {
			return i
		}
		return -1
	}
	for i := range v.Members {
		if v.Members[i].Key == key {
			return i
		}
	}
	return -1
}

// reindex makes an index where a large object has none that fits.
func (v *Value) reindex() {
	if len(v.Members) < indexFrom || v.index.fits(v.Members) {
		return
	}
	at := make(map[string]int, len(v.Members))
	for i, m := range v.Members {
		at[m.Key] = i
	}
	v.index = &index{at, &v.Members[0]}
}

// add appends a member whose key is new.
func (v *Value) add(m Member) {
	fits := v.index.fits(v.Members)
	v.Members = append(v.Members, m)
	if fits {
		v.index.at[m.Key], v.index.first = len(v.Members)-1, &v.Members[0]
	}
}
