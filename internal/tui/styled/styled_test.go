package styled

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func texts(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text())
	}
	return out
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"ab cdefgh", 3, []string{"ab", "cde", "fgh"}},
		{"  in", 10, []string{"  in"}},
		{"漢字かな混じり文", 6, []string{"漢字か", "な混じ", "り文"}},
		{"漢字。次", 6, []string{"漢字。", "次"}},
		{"see 漢字", 5, []string{"see", "漢字"}},
		{"👩‍👩‍👧 family", 4, []string{"👩‍👩‍👧", "fami", "ly"}},
	} {
		if diff := cmp.Diff(tt.want, texts(Wrap(Plain(tt.in), tt.width, Grapheme))); diff != "" {
			t.Errorf("%q at %d (-want +got):\n%s", tt.in, tt.width, diff)
		}
	}
}

func TestWrapKeepsStyles(t *testing.T) {
	in := Line{{Text: "red ", Style: "31"}, {Text: "li", Link: "http://a"}, {Text: "nk", Style: "1", Link: "http://a"}}
	want := []Line{{{Text: "red", Style: "31"}}, {{Text: "li", Link: "http://a"}, {Text: "nk", Style: "1", Link: "http://a"}}}
	if diff := cmp.Diff(want, Wrap(in, 5, Grapheme)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func wild() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.OneOf(
		rapid.RuneFrom([]rune("ab \n漢字👩🏽\u200d\u0301é-。\x1b[]m;")), rapid.Rune()), 0, 60, -1)
}

func TestWrapFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := Clean(wild().Draw(t, "text"))
		width := rapid.IntRange(2, 20).Draw(t, "width")
		m := rapid.SampledFrom([]Method{WcWidth, Grapheme}).Draw(t, "method")
		for _, lines := range [][]Line{Wrap(Plain(text), width, m), Hard(Plain(strings.ReplaceAll(text, "\n", "")), width, m)} {
			for _, l := range lines {
				if w := l.Width(m); w > width && !single(l.Text(), m) {
					t.Fatalf("line %q is %d wide, more than %d", l.Text(), w, width)
				}
				if strings.ContainsRune(l.Text(), '\n') {
					t.Fatalf("line %q holds a line break", l.Text())
				}
			}
		}
		squash := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if got := squash(strings.Join(texts(Wrap(Plain(text), width, m)), "")); got != squash(text) {
			t.Fatalf("wrapping %q lost text: %q", text, got)
		}
		if w := Plain(strings.ReplaceAll(text, "\n", "")).Cut(width, m).Width(m); w > width {
			t.Fatalf("cut is %d wide, more than %d", w, width)
		}
	})
}

// single reports text that is one cluster, which no width can break.
func single(s string, m Method) bool {
	c, _ := cluster(s, m)
	return c == s
}

func BenchmarkWrap(b *testing.B) {
	text := Plain(strings.Repeat("the quick brown fox jumps over the lazy dog ", 200))
	b.ReportAllocs()
	for b.Loop() {
		Wrap(text, 78, WcWidth)
	}
}
