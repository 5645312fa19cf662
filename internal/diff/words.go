package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWordBytes is the longest pair of texts that Words looks into.
const maxWordBytes = 64 << 10

// wordSteps limits the work of one call to Words.
const wordSteps = 1_000_000

// Span is a range of bytes, end excluded.
type Span struct{ Start, End int }

// Words returns which parts of a were removed and which parts of b were added,
// by words, runs of blanks, and single other characters. Texts that have no
// word in common, or are too long to compare, are changed as a whole.
func Words(a, b string) (removed, added []Span) {
	if a == b {
		return nil, nil
	}
	if len(a)+len(b) > maxWordBytes {
		return whole(a), whole(b)
	}
	as, bs := tokens(a), tokens(b)
	ids := map[string]uint32{}
	an, bn := numbers(a, as, ids), numbers(b, bs, ids)
	gone, fresh := flags(an, bn, wordSteps)
	if !keepsWord(a, as, gone) {
		return whole(a), whole(b)
	}
	return marked(as, gone), marked(bs, fresh)
}

func whole(s string) []Span {
	if s == "" {
		return nil
	}
	return []Span{{0, len(s)}}
}

func tokens(s string) []Span {
	var out []Span
	last := 0
	for i, r := range s {
		k := kind(r)
		if n := len(out); n > 0 && k != 0 && k == last {
			out[n-1].End = i + size(s[i:])
		} else {
			out = append(out, Span{i, i + size(s[i:])})
		}
		last = k
	}
	return out
}

func size(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// kind is 1 for word characters, 2 for blanks, and 0 for what stands alone.
func kind(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return 0 // written without blanks, so each is a word
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 0
}

func numbers(s string, spans []Span, ids map[string]uint32) []uint32 {
	out := make([]uint32, len(spans))
	for i, sp := range spans {
		id, ok := ids[s[sp.Start:sp.End]]
		if !ok {
			id = uint32(len(ids))
			ids[s[sp.Start:sp.End]] = id
		}
		out[i] = id
	}
	return out
}

func keepsWord(s string, spans []Span, changed []bool) bool {
	for i, sp := range spans {
		if !changed[i] && strings.TrimSpace(s[sp.Start:sp.End]) != "" {
			return true
		}
	}
	return false
}

func marked(spans []Span, changed []bool) []Span {
	var out []Span
	for i, sp := range spans {
		if !changed[i] {
			continue
		}
		if n := len(out); n > 0 && out[n-1].End == sp.Start {
			out[n-1].End = sp.End
		} else {
			out = append(out, sp)
		}
	}
	return out
}
