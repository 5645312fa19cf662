package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// apply is what the edit tools do to a text.
func apply(raw, old, replacement string, all bool) (string, error) {
	text := newEOLText(raw)
	m, err := locate(text.lf, toLF(old), toLF(replacement), all)
	if err != nil {
		return "", err
	}
	return text.replace(m.spans, m.texts), nil
}

func TestApply(t *testing.T) {
	const block = "func a() {\n\tx := 1\n\ty := 2\n\treturn x\n}\n"
	tests := []struct {
		name, text, old, new string
		all                  bool
		want                 string // or the error's beginning
		fails                bool
	}{
		{name: "exact", text: "a b c", old: "b", new: "$1 $&", want: "a $1 $& c"},
		{name: "exact twice", text: "b b", old: "b", new: "c", fails: true, want: "Found multiple matches for oldString (at lines 1, 1)"},
		{name: "overlapping itself", text: "aaa", old: "aa", new: "b", fails: true, want: "Found multiple"},
		{name: "all", text: "b b\nb", old: "b", new: "$0", all: true, want: "$0 $0\n$0"},
		{name: "all, overlapping itself", text: "aaaa", old: "aa", new: "b", all: true, want: "bb"},
		{name: "nothing", text: "abc", old: "xyz", new: "", fails: true, want: "Could not find oldString in the file"},
		{name: "nothing, with a hint", text: "one\nalpha beta\n", old: "alpha beta\nno", new: "", fails: true,
			want: notFound + " The nearest lines are (line 2 of oldString is the first that differs):\n1: one\n2: alpha beta"},
		{name: "blank search matches only itself", text: "a\n \nb", old: "\t\t", new: "x", fails: true, want: "Could not"},

		{name: "trimmed lines", text: "  foo  \nbar\n", old: "foo\n bar", new: "foo\n baz", want: "  foo\nbaz\n"},
		{name: "trimmed, last line end goes with it", text: "a\n  foo \nb\n", old: " foo\n", new: "", want: "a\nb\n"},
		{name: "trimmed, twice", text: "  foo \n    foo \n", old: "foo ;\n", new: "x", fails: true, want: "Could not"},
		{name: "trimmed, two places", text: "\tfoo \n\t\tfoo \n", old: " foo", new: " bar", fails: true, want: "Found multiple"},
		{name: "trimmed, two places, one indented alike", text: "if a:\n b\nif a:\nb\n", old: "  if a: \n   b", new: "x", want: "x\nif a:\nb\n"},
		{name: "indentation is kept", text: "class A:\n    def f(self):\n        return 1\n", old: "def f(self):\n    return 1", new: "def f(self):\n    x = 1\n    return x",
			want: "class A:\n    def f(self):\n        x = 1\n        return x\n"},
		{name: "blanks for tabs", text: "\tif a {\n\t\tb()\n\t}\n", old: "    if a {\n        b()\n    }", new: "    if a {\n        c()\n        if d {\n            e()\n        }\n    }",
			want: "\tif a {\n\t\tc()\n\t\tif d {\n\t\t\te()\n\t\t}\n\t}\n"},
		{name: "one line of a tab file becomes a block", text: "\tx()\n", old: "    x()  ", new: "    if a {\n        x()\n    }", want: "\tif a {\n\t\tx()\n\t}\n"},
		{name: "without any indentation", text: "\tx( a)\n", old: "x(  a)\n", new: "if a {\n  x(a)\n}\n", want: "\tif a {\n\t\tx(a)\n\t}\n"},
		{name: "tabs for blanks", text: "  x() \n", old: "\tx()", new: "\tif a {\n\t\tx()\n\t}", want: "  if a {\n    x()\n  }\n"},
		{name: "four blanks for two", text: "  if a:\n    b \n", old: "    if a:\n        b", new: "    if a:\n        if c:\n            b", want: "  if a:\n    if c:\n      b\n"},
		{name: "one level too little stays one level", text: "    if a:\n        b \n", old: "if a:\n    b", new: "if a:\n    if c:\n        b", want: "    if a:\n        if c:\n            b\n"},
		{name: "every place has its own indentation", text: "\tx( 1)\n\t\tx( 1)\n", old: "  x(  1)\n", new: "  x(2)\n", all: true, want: "\tx(2)\n\t\tx(2)\n"},
		{name: "a block found by its ends keeps its indentation", text: "\tfunc a() {\n\t\tx := 1\n\t\treturn x\n\t}\n",
			old: "    func a() {\n        x := 2\n        return x\n    }", new: "    func a() {\n        return 1\n    }", want: "\tfunc a() {\n\t\treturn 1\n\t}\n"},

		{name: "copied line numbers", text: "a\n\tb\nc\n", old: "2: \tb\n3: c", new: "2: \tB\n3: c\n4: d", want: "a\n\tB\nc\nd\n"},
		{name: "copied line numbers, none in the replacement", text: "a\n\tb\nc\n", old: "    2\t\tb\n    3\tc\n", new: "\tB\n", want: "a\n\tB\n"},
		{name: "one copied line number", text: "a\nb\n", old: "2: b", new: "2: B", want: "a\nB\n"},
		{name: "a number that is no line's", text: "a\nb\n", old: "7: b", new: "B", fails: true, want: "Could not"},
		{name: "numbers that do not count up", text: "a\nb\n", old: "1: a\n1: b", new: "B", fails: true, want: "Could not"},

		{name: "block by its ends", text: block, old: "func a() {\n\tx := 1\n\ty := 3\n\treturn x\n}", new: "func b() {}", want: "func b() {}\n"},
		{name: "block, too unlike", text: "func a() {\n\tcompletely()\n\tdifferent(body)\n\tof.text()\n\tzz\n}\n", old: "func a() {\n\tx := 1\n\ty := 3\n\treturn x\n\tqq\n}", new: "", fails: true, want: "Could not"},
		{name: "blocks, none wins", text: "f {\n  return one1\n}\nf {\n  return one2\n}\n", old: "f {\n  return one3\n}", new: "", fails: true, want: "Found multiple"},
		{name: "blocks, one wins", text: "f {\n  return abcdefgh\n}\nf {\n  return zzzzzzzz\n}\n", old: "f {\n  return abcdefgx\n}", new: "g", want: "g\nf {\n  return zzzzzzzz\n}\n"},
		{name: "white space in a line", text: "  foo(a,   b)\nx", old: "foo(a, b)", new: "foo(b)", want: "  foo(b)\nx"},
		{name: "white space in a part of a line", text: "if foo(a,  b) {", old: "foo(a, b)", new: "bar()", want: "if bar() {"},
		{name: "white space, not in a word", text: "xfoo(a,  b) {", old: "foo(a, b)", new: "bar()", fails: true, want: "Could not"},
		{name: "white space over lines", text: "a  b\nc   d\n", old: "a b\nc d\n", new: "e\n", want: "e\n"},
		{name: "escaped once too often", text: "say(\"a\")\nb\n", old: `say(\"a\")\nb`, new: `say(\"c\")`, want: "say(\"c\")\n"},
		{name: "escapes in the file", text: "s := \"a\\tb\"\n", old: "s := \"a\tb\"", new: "s := 1", want: "s := 1\n"},
		{name: "boundary", text: "call(x)\n", old: "\n call(x)\t", new: "\n call(y)\t", want: "call(y)\n"},
		{name: "boundary, not in a word", text: "foobar\n", old: " foo\n", new: "x", fails: true, want: "Could not"},
		{name: "context", text: "begin\n same line here\n other\nend\n", old: "begin\n same line here\n totally unlike that\nend", new: "x", want: "x\n"},
		{name: "escaped line ends", text: "a\n b\n", old: `a\n b\n`, new: "", want: ""},

		{name: "CRLF is kept", text: "a\r\nb\r\nc\r\n", old: "b\nc", new: "x\ny\nz", want: "a\r\nx\r\ny\r\nz\r\n"},
		{name: "CRLF in the search", text: "a\nb\nc\n", old: "a\r\nb", new: "x\r\ny", want: "x\ny\nc\n"},
		{name: "mixed line ends stay as they are", text: "a\r\nb\nc\r\nd\n", old: "c", new: "x\ny", want: "a\r\nb\nx\ny\r\nd\n"},
		{name: "other scripts", text: "日本語\n  テスト \n", old: "テスト", new: "試験", want: "日本語\n  試験 \n"},
		{name: "a lone CR is text", text: "a\rb\n", old: "a\rb", new: "c", want: "c\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(tt.text, tt.old, tt.new, tt.all)
			if tt.fails {
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
					t.Fatalf("got %q, error %v; want error %q", got, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuard(t *testing.T) {
	n := newNeedle("a\nb\nc")
	if err := n.guard("a\nb\nc\nd\ne"); err != nil {
		t.Errorf("five lines for three: %v", err)
	}
	if err := n.guard("a\nb\nc\nd\ne\nf"); err == nil {
		t.Error("six lines for three pass")
	}
	if err := n.guard("a\n" + strings.Repeat("b", 600) + "\nc"); err == nil {
		t.Error("a far longer text passes")
	}
}

// distinct draws lines that differ from each other in their words.
func distinct(t *rapid.T) []string {
	n := rapid.IntRange(3, 14).Draw(t, "lines")
	lines := make([]string, n)
	for i := range lines {
		lines[i] = strings.Repeat(rapid.SampledFrom([]string{"\t", "  ", ""}).Draw(t, "unit"), rapid.IntRange(0, 3).Draw(t, "depth")) +
			fmt.Sprintf("%s%d(%s)", rapid.SampledFrom([]string{"call", "имя", "値", "x_y"}).Draw(t, "word"), i, rapid.StringMatching(`[a-z"\\é ]{0,12}`).Draw(t, "rest"))
	}
	return lines
}

// An edit whose text is in the file once changes exactly that, byte for byte.
func TestApplyExactlyProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		lines := distinct(t)
		i := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		j := rapid.IntRange(i+1, len(lines)).Draw(t, "to")
		replacement := rapid.StringMatching(`[a-z$\\ \t\n]{0,30}`).Draw(t, "new")
		join := func(ls []string) string { return strings.Join(ls, eol) }
		raw := join(lines) + eol
		got, err := apply(raw, strings.Join(lines[i:j], "\n"), replacement, false)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		want := join(append(append([]string{}, lines[:i]...), strings.ReplaceAll(replacement, "\n", eol)))
		if j < len(lines) {
			want += eol + join(lines[j:])
		}
		if want += eol; got != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// An edit whose white space is wrong changes the lines it means or nothing.
func TestApplyNeverElsewhereProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := distinct(t)
		i := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		j := rapid.IntRange(i+1, len(lines)).Draw(t, "to")
		var old []string
		for _, line := range lines[i:j] {
			pad := rapid.SampledFrom([]string{"", " ", "\t", "   "})
			old = append(old, pad.Draw(t, "head")+strings.TrimSpace(line)+pad.Draw(t, "tail"))
		}
		text := strings.Join(lines, "\n") + "\n"
		got, err := apply(text, strings.Join(old, "\n"), "REPLACED", false)
		if err != nil {
			t.Fatalf("refused although only white space differs: %v", err)
		}
		head, tail := strings.Join(lines[:i], "\n"), strings.Join(lines[j:], "\n")
		if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail+"\n") || strings.Count(got, "REPLACED") != 1 {
			t.Fatalf("lines beside %d to %d changed:\n%q\n%q", i, j, text, got)
		}
		middle := strings.TrimSpace(got[len(head) : len(got)-len(tail)-1])
		if middle != "REPLACED" {
			t.Fatalf("lines %d to %d became %q", i, j, middle)
		}
	})
}

// A text that is there twice is never edited, however it is spelled.
func TestApplyAmbiguousProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := distinct(t)
		pad := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "pad")
		var old []string
		for _, line := range block {
			old = append(old, pad+line)
		}
		text := strings.Join(block, "\n") + "\n-- between --\n" + strings.Join(block, "\n") + "\n"
		if got, err := apply(text, strings.Join(old, "\n"), "X", false); err == nil {
			t.Fatalf("edited a guess:\n%q", got)
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add("a\r\nb\r\n", "b", "c", false)
	f.Add("func a() {\n\tx\n\ty\n}\n", "func a() {\n  x\n  z\n}", "q", false)
	f.Add("a\\nb\n", "a\nb", "\\", true)
	f.Add("\n\n\n", " ", "x", true)
	f.Add("aaaa", "aa", "a", true)
	f.Add("x  y\nz", "x y\nz\n", "\n", false)
	f.Add("\xff\xfe{\n}\n", "{\n\xff\n}", "é", false)
	f.Fuzz(func(t *testing.T, text, old, replacement string, all bool) {
		et := newEOLText(text)
		if et.raw(0, len(et.lf)) != text {
			t.Fatalf("the line ends of %q are lost", text)
		}
		m, err := locate(et.lf, toLF(old), toLF(replacement), all)
		if err != nil {
			return
		}
		if len(m.spans) == 0 || !all && len(m.spans) != 1 {
			t.Fatalf("%d places", len(m.spans))
		}
		out := et.replace(m.spans, m.texts)
		first, last := m.spans[0], m.spans[len(m.spans)-1]
		if !strings.HasPrefix(out, et.raw(0, first.start)) || !strings.HasSuffix(out, et.raw(last.end, len(et.lf))) {
			t.Fatalf("text outside %v changed: %q", m.spans, out)
		}
		at := 0
		for _, sp := range m.spans {
			if sp.start < at || sp.end < sp.start || sp.end > len(et.lf) {
				t.Fatalf("spans %v", m.spans)
			}
			at = sp.end
		}
	})
}

func bigText() string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "func f%d(a int) error {\n\tif a > %d {\n\t\treturn nil\n\t}\n\treturn fmt.Errorf(\"n\\t%%d\", a)\n}\n\n", i, i)
	}
	return b.String()
}

func BenchmarkLocate(b *testing.B) {
	text := bigText()
	for name, old := range map[string]string{
		"exact":   "func f9000(a int) error {\n\tif a > 9000 {",
		"trimmed": "func f9000(a int) error {\n    if a > 9000 {",
		"block":   "func f9000(a int) error {\n\tif a > 9000 {\n\t\treturn err\n\t}\n\treturn fmt.Errorf(\"n\\t%d\", b)\n}",
		"nothing": "func f9000(a int) error {\n\tno such\n\ttext\n\tanywhere\n\tat all\n\tin it\n}",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = locate(text, old, "x", false)
			}
		})
	}
}
