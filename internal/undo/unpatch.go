package undo

import (
	"strings"

	"lathe/internal/diff"
)

// unpatch takes a change of a text back in what the text has become since. With a hunk, counted
// from 1 and without context, only that one. It reports false where the same lines were changed
// again.
func unpatch(now, before, after string, hunk int) (string, bool) {
	lines := strings.SplitAfter(now, "\n")
	since := diff.Hunks(after, now, 0)
	back := diff.Hunks(before, after, 0)
	switch {
	case hunk > len(back), len(back) == 0:
		return now, false
	case hunk > 0:
		back = back[hunk-1 : hunk]
	}
	for i := len(back) - 1; i >= 0; i-- { // from the end, so that earlier lines keep their numbers
		from, ok := moved(since, back[i])
		if !ok {
			return now, false
		}
		var put []string
		for _, l := range back[i].Lines {
			if l.Op == diff.Delete {
				put = append(put, l.Text)
			}
		}
		till := from + back[i].NewLines
		if till > len(lines) {
			return now, false
		}
		lines = append(append(append([]string{}, lines[:from]...), put...), lines[till:]...)
	}
	return strings.Join(lines, ""), true
}

// moved returns the index of the first line that a change made, in a text that changed since; false if the
// change and what came since touch each other.
func moved(since []diff.Hunk, h diff.Hunk) (int, bool) {
	from := index(h.NewStart, h.NewLines)
	till := from + h.NewLines
	shift := 0
	for _, s := range since {
		a := index(s.OldStart, s.OldLines)
		b := a + s.OldLines
		switch {
		case b < from || b == from && s.OldLines > 0 && h.NewLines > 0:
			shift += s.NewLines - s.OldLines
		case a > till || a == till && s.OldLines > 0 && h.NewLines > 0:
		default:
			return 0, false
		}
	}
	return from + shift, true
}

// index is where a stretch of lines begins, counted from 0: one without lines begins after the
// line that it names.
func index(start, lines int) int {
	if lines == 0 {
		return start
	}
	return start - 1
}
