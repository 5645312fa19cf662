package builtin

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe/internal/order"
)

// Thresholds of the loose strategies.
const (
	blockSimilarity = 0.65 // inner lines of a block anchored at both ends
	blockMargin     = 0.1  // by which the best of several blocks must win
	contextShare    = 0.5  // inner lines that must be equal
	maxBlocks       = 200  // candidates that are compared at all
	maxDistance     = 4 << 20
)

// span is a stretch of a text.
type span struct{ start, end int }

// match is where an edit applies and what is put there.
type match struct {
	spans []span
	texts []string // one for each span
	loose string   // what had to be ignored to find the text; empty: nothing
}

// strategy finds every place that the search text may mean. A strategy runs
// only if all earlier, stricter ones found nothing.
type strategy struct {
	loose string // what it ignores
	find  func(*source, *needle) []span
	// adapt fits the replacement to what was found, or is nil.
	adapt func(found string, n *needle, replacement string) string
}

// strategies are tried in this order. Comparing blocks by relative indentation
// serves to choose between several line-trimmed matches, since it can match
// nothing else; taking every exact occurrence is the first strategy with
// replaceAll.
func strategies() []strategy {
	return []strategy{
		{"", findExact, nil},
		{"other white space at the ends of lines", findTrimmedLines, reindent},
		{"other lines between the first and the last", findBlocks, reindentBlock},
		{"other white space", findSpaced, reindent},
		{"other escapes", findEscaped, unescapeSame},
		{"no such white space around it", findTrimmed, trimSame},
		{"other lines between the first and the last", findContext, reindentBlock},
	}
}

// locate finds what an edit of text means: where old is, and what to put there.
// Text and strings have LF line ends. With all every place counts, otherwise
// more than one place is an error: an edit is never applied to a guess.
func locate(text, old, replacement string, all bool) (match, error) {
	src, n := newSource(text), newNeedle(old)
	m, err := src.find(n, replacement, all)
	if err != nil || len(m.spans) > 0 {
		return m, err
	}
	if m, ok := src.numbered(n, replacement, all); ok {
		return m, nil
	}
	return match{}, src.notFound(n)
}

// find tries the strategies; no spans and no error means that none found anything.
func (s *source) find(n *needle, replacement string, all bool) (match, error) {
	for _, st := range strategies() {
		if st.loose != "" && n.blank {
			break
		}
		spans := st.find(s, n)
		if len(spans) == 0 {
			continue
		}
		if !all && len(spans) > 1 {
			return match{}, s.ambiguous(spans)
		}
		m := match{spans: disjoint(spans), loose: st.loose}
		for _, sp := range m.spans {
			found := s.text[sp.start:sp.end]
			if err := n.guard(found); err != nil {
				return match{}, err
			}
			put := replacement
			if st.adapt != nil {
				put = st.adapt(found, n, replacement)
			}
			m.texts = append(m.texts, put)
		}
		return m, nil
	}
	return match{}, nil
}

// disjoint sorts the spans and drops each that overlaps one before it.
func disjoint(spans []span) []span {
	order.Stable(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	out := spans[:0]
	for _, sp := range spans {
		if len(out) == 0 || sp.start >= out[len(out)-1].end {
			out = append(out, sp)
		}
	}
	return out
}

// source is a text and its lines.
type source struct {
	text    string
	lines   []string
	starts  []int
	trimmed []string
}

func newSource(text string) *source {
	return &source{text: text}
}

// split fills the lines; the exact strategy does without.
func (s *source) split() {
	if s.lines != nil {
		return
	}
	s.lines = strings.Split(s.text, "\n")
	s.starts = make([]int, len(s.lines))
	s.trimmed = make([]string, len(s.lines))
	at := 0
	for i, line := range s.lines {
		s.starts[i] = at
		s.trimmed[i] = strings.TrimSpace(line)
		at += len(line) + 1
	}
}

// block is the span of count lines from line i; with newline it includes the
// line end after them, where there is one.
func (s *source) block(i, count int, newline bool) span {
	last := i + count - 1
	end := s.starts[last] + len(s.lines[last])
	if newline && end < len(s.text) {
		end++
	}
	return span{s.starts[i], end}
}

// line returns the number of the line, from 1, that holds the offset.
func (s *source) line(offset int) int {
	return strings.Count(s.text[:offset], "\n") + 1
}

// needle is the text to find.
type needle struct {
	text    string
	lines   []string // without an empty one at the end
	trimmed []string
	newline bool // the text ends with a line end
	blank   bool // only white space, which nothing but the exact strategy may match
	spaced  string
}

func newNeedle(old string) *needle {
	n := &needle{text: old, lines: strings.Split(old, "\n")}
	if k := len(n.lines); k > 1 && n.lines[k-1] == "" {
		n.lines, n.newline = n.lines[:k-1], true
	}
	for _, line := range n.lines {
		n.trimmed = append(n.trimmed, strings.TrimSpace(line))
	}
	n.spaced = collapse(old)
	n.blank = n.spaced == ""
	return n
}

// guard refuses a match that is much larger than what was asked for.
func (n *needle) guard(found string) error {
	want, got := len(n.lines), strings.Count(strings.TrimSuffix(found, "\n"), "\n")+1
	a, b := len(strings.TrimSpace(n.text)), len(strings.TrimSpace(found))
	if got >= max(want+3, 2*want) || (want > 1 && b > max(a+500, 4*a)) {
		return failf("The text found for oldString is much larger than oldString (%d lines for %d): "+
			"read the file again and give the full exact text to replace", got, want)
	}
	return nil
}

// findExact finds the text itself.
func findExact(s *source, n *needle) []span {
	return occurrences(s.text, n.text)
}

// occurrences finds a text from left to right. One that only overlaps itself
// ("aa" in "aaa") counts as two.
func occurrences(text, sub string) []span {
	var out []span
	for at := 0; sub != ""; {
		i := strings.Index(text[at:], sub)
		if i < 0 {
			break
		}
		out = append(out, span{at + i, at + i + len(sub)})
		at += i + len(sub)
	}
	if len(out) == 1 {
		if next := out[0].start + 1; strings.Contains(text[next:], sub) {
			next += strings.Index(text[next:], sub)
			out = append(out, span{next, next + len(sub)})
		}
	}
	return out
}

// findTrimmedLines compares line by line without the white space at both ends.
// Among several matches, one with the same relative indentation is taken.
func findTrimmedLines(s *source, n *needle) []span {
	s.split()
	var found, alike []span
	for i := 0; i+len(n.lines) <= len(s.lines); {
		if !slices.Equal(s.trimmed[i:i+len(n.lines)], n.trimmed) {
			i++
			continue
		}
		sp := s.block(i, len(n.lines), n.newline)
		found = append(found, sp)
		if sameIndent(s.lines[i:i+len(n.lines)], n.lines) {
			alike = append(alike, sp)
		}
		i += len(n.lines)
	}
	if len(alike) == 1 && len(n.lines) > 1 {
		return alike
	}
	return found
}

// sameIndent reports whether two blocks of lines, equal but for white space at
// the ends, are equal after the indentation common to each is removed.
func sameIndent(a, b []string) bool {
	ia, ib := commonIndent(a), commonIndent(b)
	for i := range a {
		if strings.TrimSpace(a[i]) == "" {
			continue
		}
		if strings.TrimRightFunc(a[i][ia:], unicode.IsSpace) != strings.TrimRightFunc(b[i][ib:], unicode.IsSpace) {
			return false
		}
	}
	return true
}

func commonIndent(lines []string) int {
	least := -1
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if k := len(indent(line)); least < 0 || k < least {
			least = k
		}
	}
	return max(least, 0)
}

// indent returns the blanks and tabs a line starts with.
func indent(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// findBlocks takes the first and last line as anchors and compares what is
// between them by edit distance. Of several blocks one must win clearly.
func findBlocks(s *source, n *needle) []span {
	if len(n.lines) < 3 {
		return nil
	}
	blocks := anchored(s, n, max(1, len(n.lines)/4))
	if len(blocks) > maxBlocks {
		return nil
	}
	type scored struct {
		span
		similarity float64
	}
	var good []scored
	for _, b := range blocks {
		inner := s.trimmed[b.first+1 : b.last]
		if sim := similarity(inner, n.trimmed[1:len(n.trimmed)-1]); sim >= blockSimilarity {
			good = append(good, scored{s.block(b.first, b.last-b.first+1, n.newline), sim})
		}
	}
	order.Stable(good, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.start, b.start))
	})
	if len(good) > 1 && good[0].similarity-good[1].similarity >= blockMargin {
		good = good[:1]
	}
	var out []span
	for _, g := range good {
		out = append(out, g.span)
	}
	return out
}

type block struct{ first, last int }

// anchored returns the blocks between a line equal to the first search line and
// the first later line equal to the last one, if their length differs from the
// search's by at most slack lines.
func anchored(s *source, n *needle, slack int) []block {
	s.split()
	first, last := n.trimmed[0], n.trimmed[len(n.trimmed)-1]
	if first == "" || last == "" { // an empty line cannot be an anchor
		return nil
	}
	var ends []int
	for i, line := range s.trimmed {
		if line == last {
			ends = append(ends, i)
		}
	}
	var out []block
	for i, line := range s.trimmed {
		if line != first {
			continue
		}
		k, _ := slices.BinarySearch(ends, i+2)
		if k == len(ends) {
			break
		}
		if d := ends[k] - i + 1 - len(n.lines); d <= slack && -d <= slack {
			out = append(out, block{i, ends[k]})
		}
	}
	return out
}

// similarity averages how alike the lines are, 1 being equal. Pairs of empty
// lines do not count.
func similarity(a, b []string) float64 {
	n := min(len(a), len(b))
	if n == 0 {
		return 1
	}
	sum := 0.0
	for i := range n {
		longer := max(utf8.RuneCountInString(a[i]), utf8.RuneCountInString(b[i]))
		if longer > 0 {
			sum += 1 - float64(distance(a[i], b[i]))/float64(longer)
		}
	}
	return sum / float64(n)
}

// distance is the edit distance in characters. For two very long lines it is
// the upper bound that their common ends give.
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	for len(ra) > 0 && len(rb) > 0 && ra[0] == rb[0] {
		ra, rb = ra[1:], rb[1:]
	}
	for len(ra) > 0 && len(rb) > 0 && ra[len(ra)-1] == rb[len(rb)-1] {
		ra, rb = ra[:len(ra)-1], rb[:len(rb)-1]
	}
	if len(ra) == 0 || len(rb) == 0 || len(ra)*len(rb) > maxDistance {
		return max(len(ra), len(rb))
	}
	row := make([]int, len(rb)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range ra {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range rb {
			cost := diagonal
			if ca != cb {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(rb)]
}

// findSpaced compares with every run of white space as one blank: whole lines,
// then parts of a line, then windows of as many lines as the search has.
func findSpaced(s *source, n *needle) []span {
	s.split()
	var whole, parts, windows []span
	words := strings.Fields(n.text)
	spaced := make([]string, len(s.lines))
	for i, line := range s.lines {
		spaced[i] = collapse(line)
		switch {
		case spaced[i] == n.spaced:
			whole = append(whole, s.block(i, 1, n.newline))
		case strings.Contains(spaced[i], n.spaced):
			parts = append(parts, findWords(line, s.starts[i], words)...)
		}
	}
	if k := len(n.lines); k > 1 {
		for i := 0; i+k <= len(s.lines); i++ {
			edges := (spaced[i] == "") == (n.trimmed[0] == "") && (spaced[i+k-1] == "") == (n.trimmed[k-1] == "")
			if edges && strings.HasPrefix(n.spaced, spaced[i]) && joined(spaced[i:i+k]) == n.spaced {
				windows = append(windows, s.block(i, k, n.newline))
			}
		}
	}
	if len(whole)+len(windows) > 0 {
		return disjoint(append(whole, windows...))
	}
	return parts
}

// joined joins collapsed lines the way collapsing their text would.
func joined(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// findWords finds the words in this order, separated by white space only.
func findWords(line string, base int, words []string) []span {
	var out []span
	for at := 0; at < len(line); {
		i := strings.Index(line[at:], words[0])
		if i < 0 {
			break
		}
		start := at + i
		at = start + 1
		end, ok := start+len(words[0]), true
		for _, w := range words[1:] {
			rest := strings.TrimLeftFunc(line[end:], unicode.IsSpace)
			if len(rest) == len(line)-end || !strings.HasPrefix(rest, w) {
				ok = false
				break
			}
			end = len(line) - len(rest) + len(w)
		}
		if ok && onEdge(line, start, end) {
			out = append(out, span{base + start, base + end})
		}
	}
	return out
}

// onEdge reports whether the stretch does not begin or end within a word.
func onEdge(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (start == 0 || !wordRune(before) || !wordRune(first)) && (end == len(text) || !wordRune(last) || !wordRune(after))
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// findEscaped is for a model that escaped its text once too often, or not at
// all. It searches for the text with escape sequences turned into characters,
// then for lines of the file that read the same with theirs converted.
func findEscaped(s *source, n *needle) []span {
	plain := unescape(n.text)
	if plain == "" || strings.TrimSpace(plain) == "" {
		return nil
	}
	if plain != n.text {
		if found := occurrences(s.text, plain); len(found) > 0 {
			return found
		}
	}
	if !strings.Contains(s.text, `\`) {
		return nil
	}
	s.split()
	want := strings.TrimSuffix(plain, "\n")
	lines := strings.Count(strings.TrimSuffix(n.text, "\n"), "\n") + 1
	var out []span
	for i := 0; i+lines <= len(s.lines); i++ {
		head := strings.TrimRight(s.lines[i], `\`)
		if !strings.HasPrefix(want, unescape(head)) {
			continue
		}
		sp := s.block(i, lines, false)
		if found := s.text[sp.start:sp.end]; strings.Contains(found, `\`) && unescape(found) == want {
			out = append(out, s.block(i, lines, n.newline))
		}
	}
	return out
}

// unescape makes the common escape sequences into the characters they stand for.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '\'', '"', '`', '\\', '$', '\n':
			b.WriteByte(s[i])
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// findTrimmed looks for the search without the white space around it, though
// not within a word.
func findTrimmed(s *source, n *needle) []span {
	want := strings.TrimSpace(n.text)
	if want == n.text {
		return nil
	}
	return slices.DeleteFunc(occurrences(s.text, want), func(sp span) bool { return !onEdge(s.text, sp.start, sp.end) })
}

// findContext takes first and last line as anchors of a block of exactly as
// many lines, of which half or more must be equal.
func findContext(s *source, n *needle) []span {
	if len(n.lines) < 3 {
		return nil
	}
	var out []span
	for _, b := range anchored(s, n, 0) {
		equal, all := 0, 0
		for i := 1; i < len(n.lines)-1; i++ {
			have, want := s.trimmed[b.first+i], n.trimmed[i]
			if have == "" && want == "" {
				continue
			}
			all++
			if have == want {
				equal++
			}
		}
		if all == 0 || float64(equal) >= contextShare*float64(all) {
			out = append(out, s.block(b.first, len(n.lines), n.newline))
		}
	}
	return out
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
