package show

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/theme"
)

const answer = "# Done\n\nThe **store** reads `rows` one by one, and that is what takes so long that nobody would wait for it; see [the docs](https://x.example).\n" +
	"- one\n  - two 二\n\n```go\nfunc main() {\n\n\tx := 1 // it\n}\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\nSo $x^2$ costs $5.\n\n$$\n\\frac{1}{2}\n$$\n\n```mermaid\ngraph TD\nA[Go] --> B\n```\n\nSetext\n---\nlast line"

// TestProseIsTheSameInPieces holds that however a text comes, what is printed in the end is
// the same, and that it is printed once.
func TestProseIsTheSameInPieces(t *testing.T) {
	whole := newProse(60, colours{theme.Terminal()})
	want := whole.add(answer) + whole.end()
	for size := 1; size < 40; size++ {
		p := newProse(60, colours{theme.Terminal()})
		got := ""
		for rest := answer; rest != ""; {
			n := min(size, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			got += p.add(rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(want, got+p.end()); diff != "" {
			t.Fatalf("in pieces of %d (-whole +pieces):\n%s", size, diff)
		}
	}
	plain := "Done\n\nThe store reads rows one by one, and that is what takes so\nlong that nobody would wait for it; see the docs\n(https://x.example).\n" +
		"• one\n  • two 二\n\n│ func main() {\n│ \n│     x := 1 // it\n│ }\n\na │ b\n──┼──\n1 │ 2\n\nSo x² costs $5.\n\n  ½\n\n│ Go\n│ └─▶ B\n\nSetext\nlast line\n"
	if diff := cmp.Diff(plain, ansi.Strip(want)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// TestProseComesAsItCan holds that nobody waits for the end of a long paragraph or of code.
func TestProseComesAsItCan(t *testing.T) {
	p := newProse(40, colours{})
	if got := p.add("Words that go on and on, past the end of the first line and more"); !strings.HasPrefix(got, "Words that go on and on") {
		t.Errorf("a long paragraph shows %q", got)
	}
	p = newProse(40, colours{})
	p.add("```go\nx := 1\n")
	if got := p.add("y := 2\nz"); ansi.Strip(got) != "│ y := 2\n" {
		t.Errorf("code shows %q", got)
	}
	p = newProse(40, colours{})
	if got := p.add("Some **words that may become strong when their end comes at last"); got != "" {
		t.Errorf("open emphasis shows %q", got)
	}
}

// TestProseKeepsLittle holds that a block which never ends is printed all the same, and not
// kept.
func TestProseKeepsLittle(t *testing.T) {
	p := newProse(80, colours{})
	printed := 0
	for range 3 << 10 {
		printed += len(p.add(strings.Repeat("*word ", 200)))
	}
	if len(p.buf) > maxBlock+maxBlock/16 || printed < 2<<20 {
		t.Errorf("%d bytes are kept, %d printed", len(p.buf), printed)
	}
}

// seen is what a person sees of a text, leaving colours aside.
func seen(text string) (lines []string) {
	for l := range strings.Lines(ansi.Strip(text)) {
		lines = append(lines, strings.TrimRight(l, " \n"))
	}
	return lines
}

func FuzzProse(f *testing.F) {
	f.Add(answer, 7)
	f.Add("a\n***\n~~~\n> x\n1. y\n", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 || !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\r\t\v") {
			return
		}
		whole := newProse(30, colours{theme.Terminal()})
		want := whole.add(text) + whole.end()
		p := newProse(30, colours{theme.Terminal()})
		got := ""
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			got += p.add(rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(seen(want), seen(got+p.end())); diff != "" {
			t.Errorf("in pieces of %d (-whole +pieces):\n%s", size, diff)
		}
	})
}
