package tool

import (
	"bytes"
	"hash/crc32"
)

// maxSums is how many lines of a file are remembered one by one.
const maxSums = 50_000

// LineSums is a checksum of each line of a text; nil where it has too many.
type LineSums []uint32

// Changed says which lines of a text are others than those of an earlier one. From and
// To count from 1 in the later text and are 0 where that is not known; where lines were
// only removed, From is the line that follows them and To the one before it.
type Changed struct {
	Known    bool // the earlier text is known
	Changed  bool
	From, To int
}

// Lines returns the checksums of a text's lines.
func Lines(data []byte) LineSums {
	n := bytes.Count(data, []byte{'\n'}) + 1
	if n > maxSums {
		return nil
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // made when first needed, not at every start
	out := make(LineSums, 0, n)
	for line := range bytes.Lines(data) {
		out = append(out, crc32.Checksum(line, castagnoli))
	}
	return out
}

// Compare returns the stretch of the later lines outside of which both are equal.
func (l LineSums) Compare(later LineSums) Changed {
	if l == nil || later == nil {
		return Changed{}
	}
	head := 0
	for head < min(len(l), len(later)) && l[head] == later[head] {
		head++
	}
	tail := 0
	for tail < min(len(l), len(later))-head && l[len(l)-1-tail] == later[len(later)-1-tail] {
		tail++
	}
	return Changed{From: head + 1, To: len(later) - tail}
}
