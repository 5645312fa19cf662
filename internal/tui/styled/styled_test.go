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
		{"漢字。次", 5, []string{"漢", "字。", "次"}},
		{"漢字」。ab", 7, []string{"漢", "字」。", "ab"}},
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
	want := []Line{{{Text: "red", Style: "31"}}, {{Text: "li", Link: "http://a", Cont: Blank}, {Text: "nk", Style: "1", Link: "http://a"}}}
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

// single reports text in which only one cluster takes cells, which no width can
// break.
func single(s string, m Method) bool {
	n := 0
	for s != "" {
		c, w := cluster(s, m)
		if w > 0 {
			n++
		}
		s = s[len(c):]
	}
	return n < 2
}

func BenchmarkWrap(b *testing.B) {
	text := Plain(strings.Repeat("the quick brown fox jumps over the lazy dog ", 200))
	b.ReportAllocs()
	for b.Loop() {
		Wrap(text, 78, WcWidth)
	}
}

func TestBetween(t *testing.T) {
	in := Line{{Text: "ab", Style: "1"}, {Text: "漢字x"}}
	for _, tt := range []struct {
		from, to int
		text     string
		want     Line
	}{
		{0, 1, "a", Line{{Text: "a", Style: "1;7"}, {Text: "b", Style: "1"}, {Text: "漢字x"}}},
		{1, 4, "b漢", Line{{Text: "a", Style: "1"}, {Text: "b", Style: "1;7"}, {Text: "漢", Style: "7"}, {Text: "字x"}}},
		{3, 99, "字x", Line{{Text: "ab", Style: "1"}, {Text: "漢"}, {Text: "字x", Style: "7"}}},
		{5, 5, "", in},
		{9, 12, "", in},
	} {
		got, text := in.Between(tt.from, tt.to, WcWidth, Reverse)
		if diff := cmp.Diff(tt.want, got); diff != "" || text != tt.text {
			t.Errorf("%d to %d: text %q (-want +got):\n%s", tt.from, tt.to, text, diff)
		}
	}
}

func TestSimple(t *testing.T) {
	for in, want := range map[string]struct {
		text  string
		width int
	}{
		"plain 漢字 e\u0301":                     {"plain 漢字 e\u0301", 12},
		"👩\u200d👩\u200d👧!":                     {"👩!", 3},
		"👍🏽":                                   {"👍", 2},
		"❤\ufe0fx":                             {"❤x", 2},
		"\u1112\u1161\u11ab\u1100\u1173\u11af": {"한글", 4},
		"\u1112\u1161":                         {"하", 2},
		"नमस्\u200dते":                         {"नमस्\u200dते", 4},
	} {
		if got := Simple(in); got != want.text {
			t.Errorf("Simple(%q) = %q, want %q", in, got, want.text)
		}
		if w := Width(in, WcWidth); w != want.width || w != Width(Simple(in), WcWidth) {
			t.Errorf("%q is %d wide, %d when simple, want %d", in, w, Width(Simple(in), WcWidth), want.width)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("ab漢👩👍🏽\u200d\ufe0f❤\u1112\u1161\u11abกำ\u0301")), rapid.Rune())).Draw(t, "text")
		text = Clean(text)
		if a, b := Width(strings.ReplaceAll(text, "\n", ""), WcWidth), Width(Simple(strings.ReplaceAll(text, "\n", "")), WcWidth); a != b {
			t.Fatalf("%q is %d wide, %d when simple", text, a, b)
		}
	})
}

// TestBrokenLinesSayHowTheyGoOn holds that what was broken can be put together
// again as it was.
func TestBrokenLinesSayHowTheyGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab漢、\n ")), 0, 40, -1).Draw(t, "text")
		width := rapid.IntRange(2, 9).Draw(t, "width")
		glue := func(lines []Line) (out string) {
			for i, l := range lines {
				switch {
				case i == 0:
				case len(l) == 0 || l[0].Cont == Own:
					out += "\n"
				case l[0].Cont == Blank:
					out += " "
				}
				out += l.Text()
			}
			return out
		}
		squeeze := func(s string) string {
			var out []string
			for _, l := range strings.Split(s, "\n") {
				out = append(out, strings.Join(strings.Fields(l), " "))
			}
			return strings.Join(out, "\n")
		}
		if got := glue(Wrap(Plain(text), width, WcWidth)); squeeze(got) != squeeze(text) {
			t.Fatalf("wrapped %q came back as %q", text, got)
		}
		line := strings.ReplaceAll(text, "\n", "")
		if got := glue(Hard(Plain(line), width, WcWidth)); got != line {
			t.Fatalf("broken %q came back as %q", line, got)
		}
	})
}
