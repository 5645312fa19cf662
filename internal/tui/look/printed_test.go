package look

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/printable"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

func TestPrinted(t *testing.T) {
	l := Look{Width: 80, Theme: theme.Default(true)}
	red, bold := l.Theme.Printed(printable.Look{FG: printable.Indexed(1)}), l.Theme.Printed(printable.Look{Bold: true})
	const plain styled.Style = "2"
	for _, test := range []struct {
		text   string
		most   int
		want   []styled.Line
		before int
	}{
		{"\n\nplain\n\n", 8, []styled.Line{{{Text: "plain", Style: plain}}}, 0},
		{"", 8, []styled.Line{nil}, 0},
		{"a\n\x1b[31mb\nc\x1b[m d\n", 8, []styled.Line{{{Text: "a", Style: plain}}, {{Text: "b", Style: red}}, {{Text: "c", Style: red}, {Text: " d", Style: plain}}}, 0},
		{"a\n\x1b[31mb\nc\x1b[m d\n", 1, []styled.Line{{{Text: "c", Style: red}, {Text: " d", Style: plain}}}, 2},
		{"a\n\x1b[1mb\x1b[m\nc\n", 2, []styled.Line{{{Text: "b", Style: bold}}, {{Text: "c", Style: plain}}}, 1},
		{"50%\r\x1b[31m99%\x1b]0;title\a\x1b[2J", 8, []styled.Line{{{Text: "99%", Style: red}}}, 0},
		{"x\n\ny", 2, []styled.Line{nil, {{Text: "y", Style: plain}}}, 1},
	} {
		got, before := l.Printed(test.text, test.most, plain)
		if diff := cmp.Diff(test.want, got); diff != "" || before != test.before {
			t.Errorf("%q: %d lines before, want %d (-want +got):\n%s", test.text, before, test.before, diff)
		}
	}
}

// FuzzPrinted holds that whatever a program prints, a line holds no escape sequence, no line break
// and nothing else that steers a terminal, and that styles are parameters alone.
func FuzzPrinted(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb\nc", "\x1b[38;2;1;2;3m\x1b[48;5;9mx\ry", "\x1b]8;;x\x1b\\y\x1b[m\x1bc", "\u202e\x1b[7m\n\n\x1b[1m"} {
		f.Add(s)
	}
	l := Look{Width: 80, Theme: theme.Default(true)}
	f.Fuzz(func(t *testing.T, in string) {
		lines, _ := l.Printed(in, 5, "2")
		if len(lines) > 5 {
			t.Fatalf("%d lines of %q", len(lines), in)
		}
		for _, line := range lines {
			for _, s := range line {
				if s.Link != "" || strings.Trim(string(s.Style), "0123456789;") != "" || strings.ContainsFunc(s.Text, func(r rune) bool { return r == '\n' || r == '\t' || printable.Harmful(r) }) {
					t.Fatalf("%q is drawn as %+v", in, s)
				}
			}
		}
	})
}
