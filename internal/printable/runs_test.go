package printable

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRuns(t *testing.T) {
	rewrite := Options{Tab: " ", Return: RewriteLine}
	red := Look{FG: Indexed(1)}
	for in, want := range map[string][]Run{
		"":                                    {},
		"plain":                               {{Text: "plain"}},
		"\x1b[31mred\ngoes on\x1b[0m.":        {{"red\ngoes on", red}, {Text: "."}},
		"\x1b[1;92mok\x1b[22m!\x1b[m":         {{"ok", Look{FG: Indexed(10), Bold: true}}, {"!", Look{FG: Indexed(10)}}},
		"\x1b[38;5;208mx\x1b[48;2;1;2;3my":    {{"x", Look{FG: Indexed(208)}}, {"y", Look{FG: Indexed(208), BG: RGB(1, 2, 3)}}},
		"\x1b[38:2::9:8:7mx":                  {{"x", Look{FG: RGB(9, 8, 7)}}},
		"\x1b[38:2:9:8:7mx":                   {{"x", Look{FG: RGB(9, 8, 7)}}},
		"\x1b[38:5:3;1mx":                     {{"x", Look{FG: Indexed(3), Bold: true}}},
		"\x1b[38;5mx":                         {{"x", Look{FG: Indexed(0)}}},
		"\x1b[38mx\x1b[48;9;4my":              {{Text: "x"}, {"y", Look{Underline: true}}},
		"\x1b[58;2;1;2;3;4mx":                 {{"x", Look{Underline: true}}},
		"\x1b[4:3;3;9;7mx\x1b[4:0;23;29;27my": {{"x", Look{Underline: true, Italic: true, Strike: true, Reverse: true}}, {Text: "y"}},
		"\x1b[31m10%\r\x1b[32m100%":           {{"100%", Look{FG: Indexed(2)}}},
		"\x1b[31mab\x1b[0mc\b\bx":             {{"a", red}, {Text: "x"}},
		"\x1b[31mold\x1b[2K\x1b[Gnew":         {{"new", red}},
		"\x1b[>4;1ma\x1b[?25lb\x1b[31 mc":     {{Text: "abc"}},
		"\x1b[31m\x1b[0mx":                    {{Text: "x"}},
		"\x1b[m\x1b[999999999999999999mx":     {{Text: "x"}},
		"\x1b[31mx\x1b[31my":                  {{"xy", red}},
	} {
		if got := Runs(in, rewrite); len(got)+len(want) > 0 {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", in, diff)
			}
		}
	}
	if n := len(Runs(strings.Repeat("\x1b[31ma\x1b[32mb", 100_000), rewrite)); n > maxRuns+1 {
		t.Errorf("%d runs of one text", n)
	}
}

// FuzzRuns holds that the colours change nothing of what is shown, and that no run is empty or
// looks like its neighbour.
func FuzzRuns(f *testing.F) {
	for _, s := range []string{"a", "\x1b[31ma\x1b[mb", "\x1b[38;5;", "\x1b[1mx\ry\b\x1b[2K\x1b[0mz", "\x1b]8;;x\x1b\\\x1b[7m\u202e", "\x1b[38:2::1:2:3mx\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, o := range []Options{{}, {Tab: " ", Return: BreakLine}, {Tab: " ", Return: RewriteLine}} {
			var all strings.Builder
			for i, r := range Runs(in, o) {
				if r.Text == "" {
					t.Fatalf("an empty run of %q", in)
				}
				if i > 0 && Runs(in, o)[i-1].Look == r.Look {
					t.Fatalf("two runs of %q look the same", in)
				}
				all.WriteString(r.Text)
			}
			if want := Text(in, o); all.String() != want {
				t.Fatalf("%q shows %q, not %q", in, all.String(), want)
			}
		}
	})
}

func TestBasic(t *testing.T) {
	for c, want := range map[Colour]int{
		0: 0, Indexed(0): 0, Indexed(1): 1, Indexed(7): 0, Indexed(8): Grey, Indexed(14): 6, Indexed(15): 0,
		Indexed(196): 1, Indexed(208): 3, Indexed(232): 0, Indexed(244): Grey, Indexed(255): 0,
		RGB(0, 0, 250): 4, RGB(200, 0, 180): 5, RGB(20, 20, 20): 0, RGB(120, 130, 125): Grey, RGB(255, 250, 255): 0,
	} {
		if got := c.Basic(); got != want {
			t.Errorf("%x is basic %d, want %d", c, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m\n10%\r20%\r\ndo\bne": "red\n20%\ndne",
		"\xff \u202e":  "\ufffd \u202e",
		"same\ttext\n": "same\ttext\n",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLast(t *testing.T) {
	text := "ab\x1b[31mc漢d\xff"
	for n, want := range map[int]string{
		20: "ab\x1b[31mc漢d\ufffd", 10: "...\n\nb\x1b[31mc漢d\ufffd", 9: "...\n\n\x1b[31mc漢d\ufffd", 7: "...\n\nc漢d\ufffd",
		4: "...\n\nc漢d\ufffd", 3: "...\n\n漢d\ufffd", 0: "...\n\n",
	} {
		if got := Last(text, n, false); got != want {
			t.Errorf("the last %d are %q, want %q", n, got, want)
		}
	}
	if got := Last("x", 9, true); got != "...\n\nx" {
		t.Errorf("the end of a longer text is %q", got)
	}
}
