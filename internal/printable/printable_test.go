package printable

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	broken := Options{Tab: "    ", Return: BreakLine}
	rewrite := Options{Tab: " ", Return: RewriteLine}
	stops := Options{Stops: 4, Return: RewriteLine}
	for _, tt := range []struct {
		in   string
		o    Options
		want string
	}{
		{"plain\ntext", broken, "plain\ntext"},
		{"a\tb", broken, "a    b"},
		{"a\tb", Options{}, "a\tb"},
		{"9:\tx\n10:\tx\n漢\t\tx", stops, "9:  x\n10: x\n漢      x"},
		{"50%\tx\r1234\ty\nab\bc\td", stops, "1234    y\nac  d"},
		{"\x1b[31mred\x1b[0m", broken, "red"},
		{"\x1b]0;title\x07x", broken, "x"},
		{"\x1b]8;;http://x\x1b\\y", broken, "y"},
		{"\x1bP1;2q####\x1b\\z", broken, "z"},
		{"\x1b[2", broken, ""},
		{"\x1b]0;never ends\nnext", broken, "\nnext"},
		{"a\u202eb\u2066c\u200bd\u061c\ufeffe", broken, "abcde"},
		{"one\r\ntwo\rthree", broken, "one\ntwo\nthree"},
		{"one\r\ntwo\rthree", Options{}, "one\ntwothree"},
		{"bad \xff byte", broken, "bad \ufffd byte"},
		{"\u009b31mred", broken, "31mred"},
		{"👩\u200d👧 e\u0301 ❤\ufe0f", broken, "👩\u200d👧 e\u0301 ❤\ufe0f"},
		{"tag\U000e0041\U000e0042end", broken, "tagend"},
		{"a\u2028b\u2029c", Options{}, "a\nb\nc"},
		{"\x1b", broken, ""},
		{"\x1bcreset", broken, "reset"},
		{"\x1b(\x1b[2J", broken, ""},
		{"10%\r50%\r100%\nnext", rewrite, "100%\nnext"},
		{"10%\r50%\r\nnext", rewrite, "50%\nnext"},
		{"still there\r", rewrite, "still there"},
		{"abc\b\b\bx", rewrite, "x"},
		{"\n\bx", rewrite, "\nx"},
		{"old\x1b[2K\x1b[1Gnew", rewrite, "new"},
		{"old\r\x1b[K", rewrite, ""},
	} {
		if got := Text(tt.in, tt.o); got != tt.want {
			t.Errorf("Text(%q, %+v) = %q, want %q", tt.in, tt.o, got, tt.want)
		}
	}
	if got := Line(" a\tb\r\nc\rd \x1b[1me "); got != "a b c d e" {
		t.Errorf("line %q", got)
	}
}

// FuzzText holds that nothing that steers a terminal is left, whatever the
// options, and that cleaning twice changes nothing.
func FuzzText(f *testing.F) {
	for _, s := range []string{"a", "\x1b[31m", "\x1b]0;x\a", "\x1b\x1b[", "\u202e", "\xff\xfe", "\x1bP\x1b\\", "a\rb\b\x1b[2K", "\xc2\x9b1m", "\x1b(\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, o := range []Options{{}, {Tab: "  ", Return: BreakLine}, {Tab: " ", Return: RewriteLine}, {Stops: 4, Return: RewriteLine}} {
			out := Text(in, o)
			if !utf8.ValidString(out) {
				t.Fatalf("%q is not valid", out)
			}
			if i := strings.IndexFunc(out, func(r rune) bool { return Harmful(r) || r == '\t' && (o.Tab != "" || o.Stops > 0) }); i >= 0 {
				t.Fatalf("%q holds %q", out, out[i:])
			}
			if again := Text(out, o); again != out {
				t.Fatalf("again changes %q to %q", out, again)
			}
		}
		if line := Line(in); strings.ContainsAny(line, "\n\r\t") {
			t.Fatalf("%q is not a line", line)
		}
	})
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("some output with 漢字 and a bar 100%\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text, Options{Tab: " ", Return: RewriteLine})
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string][2]string{
		"plain":         {"plain", ""},
		"a\x1b[31":      {"a", "\x1b[31"},
		"a\x1b[31m":     {"a", "\x1b[31m"},
		"a\x1b[31mb":    {"a\x1b[31mb", ""},
		"a\x1b]0;title": {"a", "\x1b]0;title"},
		"a\x1b":         {"a", "\x1b"},
	} {
		if show, hold := Split(in); show != want[0] || hold != want[1] {
			t.Errorf("Split(%q) = %q, %q, want %q", in, show, hold, want)
		}
	}
}
