package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// lines returns the numbers of the lines that match, by the automaton and by
// package regexp alone.
func lines(t testing.TB, e *expr, text []byte) (fast, slow []int) {
	t.Helper()
	fast = matching(e.clone(), text)
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'}) {
		if len(text) > 0 && e.re.Match(line) {
			slow = append(slow, i)
		}
	}
	return fast, slow
}

func matching(e *expr, text []byte) []int {
	var out []int
	for pos := 0; pos < len(text); {
		start, end, ok := e.next(text, pos)
		if !ok {
			break
		}
		out = append(out, bytes.Count(text[:start], []byte{'\n'}))
		pos = end + 1
	}
	return out
}

// seeds are patterns with each kind of instruction and assertion.
var seeds = []string{
	"a", "(?i)needle", "(?i)Straße", "ſ|k", "(?i)k", "^a", "a$", "^$", `\bfoo\b`, `\Bo`, "x*", "[^a]", ".", "..+", "[a-c]{2,4}z?", "日本|語",
	"[一-龥]+x", `\w+_\w+`, `^\s*$`, "(a|b)*c$", `\Aab`, `b\z`, "a.c", `\x{fffd}`, "[[:upper:]][0-9]{3}", "(?i)[k-s]+ t", "a{40}", "^.{3}$", `\r$`,
}

func TestAutomatonAgreesWithRegexp(t *testing.T) {
	texts := []string{
		"", "\n", "\n\n", "a", "a\n", "abc\nfoo bar\nfoobar\n\nNEEDLE needle NeEdLe\n", "日本語\n語x\nſtraSSe K k \xff\xfe\n_a_b\n\xe6\x97", "a\r\nb\r\n\r\n",
		strings.Repeat("a", 50) + "\nABC123 aac bbz\n",
	}
	for _, pattern := range seeds {
		e, err := compile(GrepOptions{Pattern: pattern})
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		for _, text := range texts {
			if fast, slow := lines(t, e, []byte(text)); fmt.Sprint(fast) != fmt.Sprint(slow) {
				t.Errorf("pattern %q in %q: lines %v, want %v", pattern, text, fast, slow)
			}
		}
	}
}

// A pattern with very many states gives up in the middle and goes on with
// package regexp, without a line lost or told twice.
func TestAutomatonGivesUp(t *testing.T) {
	e, err := compile(GrepOptions{Pattern: "a[ab]{14}[cd]"})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for i := range 100_000 {
		c := "ab"[r.IntN(2)]
		switch {
		case i%1000 == 999:
			c = '\n'
		case i%1500 == 0:
			c = 'c'
		}
		text = append(text, c)
	}
	worker := e.clone()
	fast := matching(worker, text)
	if worker.dfa != nil {
		t.Errorf("the automaton did not give up after %d flushes", worker.dfa.flushes)
	}
	if _, slow := lines(t, e, text); fmt.Sprint(fast) != fmt.Sprint(slow) {
		t.Errorf("%d lines, want %d", len(fast), len(slow))
	}
}

func FuzzAutomaton(f *testing.F) {
	for _, pattern := range seeds {
		f.Add(pattern, []byte("abc foo\nfoo_bar K ſ 日本語\r\n\xff\nx"))
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte) {
		if len(pattern) > 100 || len(text) > 1000 {
			return
		}
		e, err := compile(GrepOptions{Pattern: pattern})
		if err != nil {
			return
		}
		if fast, slow := lines(t, e, text); fmt.Sprint(fast) != fmt.Sprint(slow) {
			t.Errorf("pattern %q in %q: lines %v, want %v", pattern, text, fast, slow)
		}
	})
}
