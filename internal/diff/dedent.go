package diff

import (
	"strconv"
	"strings"
)

// Dedent removes the indentation that all lines of a unified diff's hunks have
// in common, so that deeply nested code reads well in a narrow view. The result
// is for reading: it no longer applies. Blank lines do not count. The header and
// the "@@" lines stay as they are.
func Dedent(diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	body := bodyLines(lines)
	least := -1
	for i, l := range lines {
		if !body[i] || strings.TrimSpace(l[1:]) == "" {
			continue
		}
		indent := len(l) - 1 - len(strings.TrimLeft(l[1:], " \t"))
		if least < 0 || indent < least {
			least = indent
		}
	}
	if least <= 0 {
		return diff
	}
	var out strings.Builder
	out.Grow(len(diff))
	for i, l := range lines {
		if !body[i] {
			out.WriteString(l)
			continue
		}
		text := strings.TrimRight(l[1:], "\r\n")
		out.WriteByte(l[0])
		out.WriteString(l[1+min(least, len(text)):])
	}
	return out.String()
}

// bodyLines says which lines are hunk content. It counts lines by the hunk's
// header, since a removed "-- x" looks just like a file header.
func bodyLines(lines []string) []bool {
	out := make([]bool, len(lines))
	before, after := 0, 0
	for i, l := range lines {
		if before <= 0 && after <= 0 {
			before, after = hunkSize(l)
			continue
		}
		if l == "" || !strings.ContainsRune(" +-", rune(l[0])) {
			continue
		}
		out[i] = true
		if l[0] != '+' {
			before--
		}
		if l[0] != '-' {
			after--
		}
	}
	return out
}

// hunkSize reads the two line counts of "@@ -1,2 +3,4 @@", or gives zeros.
func hunkSize(l string) (before, after int) {
	f := strings.Fields(l)
	if len(f) < 3 || f[0] != "@@" {
		return 0, 0
	}
	count := func(s string) int {
		_, n, ok := strings.Cut(s, ",")
		if !ok {
			return 1
		}
		v, err := strconv.Atoi(n)
		if err != nil {
			return 0
		}
		return v
	}
	return count(f[1]), count(f[2])
}
