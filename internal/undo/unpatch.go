package undo

import (
	"strings"

	"lathe/internal/diff"
)

// reviewContext is how many lines stand around a change that people review; it decides which
// changes are one hunk.
const reviewContext = 3

// unpatch takes a change of a text back in what the text has become since. With a hunk, counted
// from 1, only that one. It reports false where the same lines were changed again.
func unpatch(now, before, after string, hunk int) (string, bool) {
	lines := strings.SplitAfter(now, "\n")
	since := diff.Hunks(after, now, 0)
	back := within(diff.Hunks(after, before, 0), before, after, hunk)
	if len(back) == 0 {
		return now, false
	}
	for i := len(back) - 1; i >= 0; i-- { // from the end, so that earlier lines keep their numbers
		from, ok := moved(since, back[i])
		if !ok {
			return now, false
		}
		var put []string
		for _, l := range back[i].Lines {
			if l.Op == diff.Insert {
				put = append(put, l.Text)
			}
		}
		till := from + back[i].OldLines
		if till > len(lines) {
			return now, false
		}
		lines = append(append(append([]string{}, lines[:from]...), put...), lines[till:]...)
	}
	return strings.Join(lines, ""), true
}

// within returns those of the smallest changes that lie in a hunk as people see it.
func within(small []diff.Hunk, before, after string, hunk int) []diff.Hunk {
	if hunk == 0 {
		return small
	}
	shown := diff.Hunks(before, after, reviewContext)
	if hunk < 1 || hunk > len(shown) {
		return nil
	}
	first, last := shown[hunk-1].NewStart, shown[hunk-1].NewStart+shown[hunk-1].NewLines
	var out []diff.Hunk
	for _, h := range small {
		if h.OldStart >= first && h.OldStart <= last || h.OldLines == 0 && h.OldStart >= first-1 && h.OldStart < last {
			out = append(out, h)
		}
	}
	return out
}

// moved returns the index of a change's first line in a text that changed since; false if the
// change and what came since touch each other.
func moved(since []diff.Hunk, h diff.Hunk) (int, bool) {
	from := index(h.OldStart, h.OldLines)
	till := from + h.OldLines
	shift := 0
	for _, s := range since {
		a := index(s.OldStart, s.OldLines)
		b := a + s.OldLines
		switch {
		case b < from || b == from && s.OldLines > 0 && h.OldLines > 0:
			shift += s.NewLines - s.OldLines
		case a > till || a == till && s.OldLines > 0 && h.OldLines > 0:
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
