package events

import (
	"encoding/binary"
	"sort"
)

// marks remember how long a text was after each event. A long answer has as many as
// the model has tokens, so they are packed: how much further each is than the one
// before, in number and length, with a full one every so often.
type marks struct {
	full   []fullMark
	packed []byte
	seq    uint64 // of the newest
	end    int
	since  int // how many follow the newest full one
}

// fullMark says how long the text was after an event, and where in packed those
// after it begin.
type fullMark struct {
	seq     uint64
	end, at int
}

// markEvery is how many marks are looked through at most.
const markEvery = 256

// add notes how long the text is after an event, which is newer than the others.
func (m *marks) add(seq uint64, end int) {
	if len(m.full) == 0 || m.since == markEvery {
		m.full = append(m.full, fullMark{seq, end, len(m.packed)})
		m.since = 0
	} else {
		m.packed = binary.AppendUvarint(m.packed, seq-m.seq)
		m.packed = binary.AppendVarint(m.packed, int64(end-m.end))
		m.since++
	}
	m.seq, m.end = seq, end
}

// at returns how long the text was after an event. It reports false for one before
// the first.
func (m *marks) at(seq uint64) (end int, ok bool) {
	if len(m.full) > 0 && seq >= m.seq {
		return m.end, true
	}
	i := sort.Search(len(m.full), func(i int) bool { return m.full[i].seq > seq })
	if i == 0 {
		return 0, false
	}
	f, stop := m.full[i-1], len(m.packed)
	if i < len(m.full) {
		stop = m.full[i].at
	}
	for f.at < stop {
		ahead, n := binary.Uvarint(m.packed[f.at:])
		more, k := binary.Varint(m.packed[f.at+n:])
		if f.seq += ahead; f.seq > seq {
			break
		}
		f.end += int(more)
		f.at += n + k
	}
	return f.end, true
}
