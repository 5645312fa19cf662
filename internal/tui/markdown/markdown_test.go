package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

func styles(unicode bool) *Styles {
	t, _ := theme.Lookup("lathe")
	return NewStyles(t, unicode)
}

func plain(lines []styled.Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l.Text(), " "))
	}
	return strings.Join(out, "\n")
}

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"paragraphs", "one\ntwo\n\nthree", "one two\n\nthree"},
		{"headings", "# Top\ntext\n### Deep ###\nUnder\n-----", "Top\ntext\n### Deep\nUnder"},
		{"emphasis", "a **b *c* d** ~~e~~ __f__ snake_case_name 2 * 3 * 4", "a b c d e f snake_case_name 2 * 3 * 4"},
		{"code spans", "run `go  test` and ``a ` b`` and `open", "run go  test and a ` b and `open"},
		{"links", "[docs](https://a.b/c_d) and https://x.y/z). <http://q.r> ![img](i.png)", "docs (https://a.b/c_d) and\nhttps://x.y/z). http://q.r img (i.png)"},
		{"list", "- one\n- two\n  more\n  - deep\n1. first\n2. second", "• one\n• two more\n  • deep\n1. first\n2. second"},
		{"tasks", "- [ ] open\n- [x] done", "☐ open\n☑ done"},
		{"loose list", "1. a\n\n   para\n\n2. b", "1. a\n\n   para\n\n2. b"},
		{"code in a list", "- a\n\n  ```go\n  x := 1\n  ```\n- b", "• a\n\n  │ x := 1\n• b"},
		{"fence", "```go\nfunc f() {\n\n}\n```\nafter", "│ func f() {\n│\n│ }\nafter"},
		{"open fence", "text\n\n```\ncode", "text\n\n│ code"},
		{"quote", "> a\n> > b\nafter", "│ a\n│ │ b\nafter"},
		{"table", "| a | bb |\n|---|:-:|\n| 1 | `x|y` |\n| long | 2 |", "a    │ bb\n─────┼────\n1    │ x|y\nlong │  2"},
		{"table that is too narrow", "|a|b|c|d|e|f|\n|-|-|-|-|-|-|\n|1|2|3|4|5|6|\n|漢|y|z|u|v|w|", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n────────\na: 漢\nb: y\nc: z\nd: u\ne: v\nf: w"},
		{"table with ideographs", "|名|値|\n|:-|-:|\n|漢字|1|\n|a|22|", "名   │ 値\n─────┼───\n漢字 │  1\na    │ 22"},
		{"ordered in unordered", "- a\n  1. b\n  2. c\n     - [ ] d\n- e", "• a\n  1. b\n  2. c\n     ☐ d\n• e"},
		{"unordered in ordered", "1. a\n   - b\n   - c\n2. d", "1. a\n   • b\n   • c\n2. d"},
		{"formulas", "so $x^2$ and \\(\\frac{1}{2}\\), not $5 or $HOME", "so x² and ½, not $5 or $HOME"},
		{"formula by itself", "thus\n$$\n\\sum_{i=1}^n i = \\frac{n(n+1)}{2}\n$$\nend", "thus\n  ∑ᵢ₌₁ⁿ i = (n(n+1))/2\nend"},
		{"formula in brackets", "\\[ a \\le b \\]", "  a ≤ b"},
		{"unknown formula", "see $\\nosuch{x}$ and\n\n$$\\nosuch$$", "see $\\nosuch{x}$ and\n\n$$\\nosuch$$"},
		{"diagram", "```mermaid\ngraph TD\nA[Go] --> B\n```", "│ Go\n│ └─▶ B"},
		{"diagram that is not there yet", "```mermaid\ngraph TD\nA[Go] --> B", "│ graph TD\n│ A[Go] --> B"},
		{"unknown diagram", "```mermaid\ngitGraph\n```", "│ gitGraph"},
		{"rule", "a\n\n---\n\nb", "a\n\n" + strings.Repeat("─", 40) + "\n\nb"},
		{"hard breaks", "a  \nb\\\nc", "a\nb\nc"},
		{"entities and escapes", `\*a\* &lt;b&gt; &amp; &nosuch;`, "*a* <b> & &nosuch;"},
		{"html stays", "<div>x</div>", "<div>x</div>"},
		{"wraps wide", strings.Repeat("漢", 30), strings.Repeat("漢", 20) + "\n" + strings.Repeat("漢", 10)},
	} {
		if diff := cmp.Diff(tt.want, plain(Render(tt.in, 40, styles(true), styled.WcWidth))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestStyles(t *testing.T) {
	st := &Styles{Strong: "1", Emph: "3", Code: "36", Link: "4", Heading: "35", Bullet: "*", Bar: "|", Dash: "-"}
	got := Render("a **b** `c` [d](http://e)", 80, st, styled.WcWidth)
	want := []styled.Line{{
		{Text: "a "}, {Text: "b", Style: "1"}, {Text: " "}, {Text: "c", Style: "36"}, {Text: " "},
		{Text: "d", Style: "4", Link: "http://e"}, {Text: " (http://e)"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

func TestHighlight(t *testing.T) {
	st := &Styles{Keyword: "k", String: "s", Comment: "c", Number: "n", Function: "f", Type: "t"}
	got := Highlight("go", []string{"func main() { // hi", "x := \"a\\\"b\" + `raw", "end` /* c", "*/ 0x1f"}, st)
	want := []styled.Line{
		{{Text: "func", Style: "k"}, {Text: " "}, {Text: "main", Style: "f"}, {Text: "() { "}, {Text: "// hi", Style: "c"}},
		{{Text: "x := "}, {Text: `"a\"b"`, Style: "s"}, {Text: " + "}, {Text: "`raw", Style: "s"}},
		{{Text: "end`", Style: "s"}, {Text: " "}, {Text: "/* c", Style: "c"}},
		{{Text: "*/", Style: "c"}, {Text: " "}, {Text: "0x1f", Style: "n"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

const sample = "# Title\n\nSome *text* with `code`.\n\n- a\n\n  b\n- c\n\n```go\nfunc f() {}\n\n// x\n```\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n\n   ```\n   y\n   ```\n\nend\n"

// TestStreaming holds that a text drawn as it grows looks as when drawn at once.
func TestStreaming(t *testing.T) {
	st := styles(true)
	rapid.Check(t, func(t *rapid.T) {
		text := sample
		if rapid.Bool().Draw(t, "wild") {
			text = rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\n\n#*_`~|-1.>[]()漢$\\x^{}")), 0, 120, -1).Draw(t, "text")
		}
		var s Stream
		for at := 0; at < len(text); {
			at = min(len(text), at+rapid.IntRange(1, 30).Draw(t, "step"))
			s.Lines(text[:at], 30, st, styled.WcWidth)
		}
		got, want := s.Lines(text, 30, st, styled.WcWidth), Render(text, 30, st, styled.WcWidth)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-at once +streamed):\n%s", text, diff)
		}
	})
}

func FuzzRender(f *testing.F) {
	f.Add(sample, 40)
	f.Add("- - - > > 1. a\n\t\n```\n~~~", 5)
	f.Add("***a** _b_* [[x](y)](z) `` ` ``", 10)
	f.Add("|a|\n|-|\n|\\||", 4)
	st := styles(false)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = max(8, width%200)
		for _, l := range Render(styled.Clean(text), width, st, styled.WcWidth) {
			if strings.ContainsAny(l.Text(), "\n\x1b") {
				t.Fatalf("line %q", l.Text())
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	text := strings.Repeat(sample+"\n", 20)
	st := styles(true)
	b.ReportAllocs()
	for b.Loop() {
		var s Stream
		for at := 0; at < len(text); at += 100 {
			s.Lines(text[:at], 78, st, styled.WcWidth)
		}
	}
}
