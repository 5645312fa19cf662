package undo

import (
	"slices"
	"strings"

	"lathe/internal/diff"
)

// unpatch takes a change of a text back in what the text has become since. With a hunk, counted
// from 1 and without context, only that one; without, those hunks that are not taken back yet. It
// reports false where the same lines were changed again, and where nothing is left to take back.
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
	some := false
	for i := len(back) - 1; i >= 0; i-- { // from the end, so that earlier lines keep their numbers
		if isBack(since, back[i]) {
			continue
		}
		some = true
		from, ok := moved(since, back[i])
		if !ok {
			return now, false
		}
		put := texts(back[i].Lines, diff.Delete)
		till := from + back[i].NewLines
		if till > len(lines) {
			return now, false
		}
		lines = append(append(append([]string{}, lines[:from]...), put...), lines[till:]...)
	}
	return strings.Join(lines, ""), some
}

// undone reports whether a text is without a change already; with a hunk, as in [unpatch],
// without that one.
func undone(now, before, after string, hunk int) bool {
	if hunk == 0 {
		return now == before
	}
	made := diff.Hunks(before, after, 0)
	return hunk <= len(made) && isBack(diff.Hunks(after, now, 0), made[hunk-1])
}

// isBack reports whether what changed since a hunk includes the opposite of it.
func isBack(since []diff.Hunk, h diff.Hunk) bool {
	return slices.ContainsFunc(since, func(s diff.Hunk) bool {
		return s.OldStart == h.NewStart && s.OldLines == h.NewLines && s.NewLines == h.OldLines &&
			slices.Equal(texts(s.Lines, diff.Insert), texts(h.Lines, diff.Delete))
	})
}

// texts returns the lines that were inserted, or deleted.
func texts(lines []diff.Line, op diff.Op) (out []string) {
	for _, l := range lines {
		if l.Op == op {
			out = append(out, l.Text)
		}
	}
	return out
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
