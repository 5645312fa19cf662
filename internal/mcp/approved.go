package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// A tool counts as approved with the definition in which it was first offered. When that
// changes, the tool's next call is asked about, whatever the rules allow.

// compare notes which tools differ from what was approved, and reports whether anything
// on offer differs.
func (k *Known) compare(before *Known) (changed bool) {
	if before == nil {
		return true
	}
	approved := before.approved()
	k.Changed, k.Approved = nil, map[string]string{}
	for _, t := range k.Tools {
		was, known := approved[t.Name]
		delete(approved, t.Name)
		if known && was != t.digest() {
			k.Changed = append(k.Changed, t.Name)
			k.Approved[t.Name] = was
		}
	}
	for _, name := range slices.Sorted(maps.Keys(approved)) { // these are gone, and may come back as something else
		if len(k.Approved) < maxTools {
			k.Approved[name] = approved[name]
		}
	}
	return !sameOffer(k, before)
}

// approved returns the digests of the definitions that were approved, by tool.
func (k *Known) approved() map[string]string {
	out := make(map[string]string, len(k.Tools)+len(k.Approved))
	for _, t := range k.Tools {
		out[t.Name] = t.digest()
	}
	maps.Copy(out, k.Approved)
	return out
}

// accept returns a copy with the current definitions of the named tools approved;
// without names, of all.
func (k *Known) accept(names ...string) *Known {
	out := *k
	out.Approved = maps.Clone(k.Approved)
	out.Changed = slices.DeleteFunc(slices.Clone(k.Changed), func(name string) bool {
		ok := len(names) == 0 || slices.Contains(names, name)
		if ok {
			delete(out.Approved, name)
		}
		return ok
	})
	return &out
}

// digest identifies a tool's definition.
func (t Tool) digest() string {
	raw, _ := json.Marshal(t) // it always encodes
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12])
}

func sameOffer(a, b *Known) bool {
	x, y := *a, *b
	x.Changed, y.Changed = nil, nil
	x.Approved, y.Approved = nil, nil
	one, _ := json.Marshal(x) // they always encode
	two, _ := json.Marshal(y)
	return bytes.Equal(one, two)
}

// changed reports whether a tool's definition is not the approved one.
func (s *server) changed(name string) bool {
	k := s.known()
	return k != nil && slices.Contains(k.Changed, name)
}

// accept notes that a person has seen the current definitions of some tools; without
// names, of all.
func (s *server) accept(names ...string) error {
	k := s.known()
	if k == nil || len(k.Changed) == 0 {
		return nil
	}
	now := k.accept(names...)
	s.mu.Lock()
	s.memo = now
	s.mu.Unlock()
	return s.set.cache.put(s.conf, now)
}
