package search

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLongPatterns has ignore rules of the greatest size. They are compiled to no
// more than a few times their text, and no path is compared with what is too long
// for it.
func TestLongPatterns(t *testing.T) {
	const n = 300_000
	for _, unit := range []string{"?", "a*", "**/", "a?", "**/a/"} {
		p, ok := parsePattern("x/" + strings.Repeat(unit, n))
		if !ok {
			t.Fatalf("%q is no pattern", unit)
		}
		sets := map[*byteSet]bool{}
		for _, tok := range p.rest.tokens {
			if tok.set != nil {
				sets[tok.set] = true
			}
		}
		if len(sets) > 1 {
			t.Errorf("%q: %d sets are kept for the same", unit, len(sets))
		}
		if unit == "**/" && len(p.rest.tokens) > 4 {
			t.Errorf("%q again and again is %d tokens", unit, len(p.rest.tokens))
		}
		if unit != "**/" && p.rest.least < n-1 {
			t.Errorf("%q: paths of %d bytes are compared", unit, p.rest.least)
		}
	}
}

// TestUnfinishedClasses has a bracket expression in which names of classes begin,
// again and again, and none ends.
func TestUnfinishedClasses(t *testing.T) {
	p, ok := parsePattern("[" + strings.Repeat("[:", maxIgnoreFile/2-8) + "x]y")
	if !ok || len(p.rest.tokens) != 2 {
		t.Fatalf("%d tokens", len(p.rest.tokens))
	}
	for name, want := range map[string]bool{"[y": true, ":y": true, "xy": true, "ay": false, "[:y": false} {
		if p.match(name, name, false) != want {
			t.Errorf("%q matches: %v", name, !want)
		}
	}
}

// TestRepeatedStars compares what was folded with what it stands for.
func TestRepeatedStars(t *testing.T) {
	for _, glob := range []string{"**/**/**/a", "b/**/**/a", "b/**/**", "{**/**/a,c/**/**/}x"} {
		folded, err := NewMatcher(glob)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.ReplaceAll(strings.ReplaceAll(glob, "**/**/", "**/"), "**/**/", "**/")
		want, err := NewMatcher(plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b/a", "b/c/a", "b/c/d/a", "b", "b/c", "ax", "c/x", "c/d/x", "d/ax"} {
			if folded.Match(name) != want.Match(name) {
				t.Errorf("%s and %s differ about %q", glob, plain, name)
			}
		}
	}
	long, err := NewMatcher(strings.Repeat("**/", maxGlob/3-1) + "a*")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := syntax.Parse(long.re.String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	if len(prog.Inst) > 50 {
		t.Errorf("stars again and again are a program of %d instructions", len(prog.Inst))
	}
}

// TestTooManyRules has more ignore files than rules fit. What is over has none, and
// the rest goes on.
func TestTooManyRules(t *testing.T) {
	dir := t.TempDir()
	full := strings.Repeat("*?\n", maxIgnoreFile/3)
	rules := parsePatterns(full)
	fit := int(maxRules / weigh([]byte(full), rules))
	name := ""
	for i := range fit + 2 {
		name = filepath.Join(name, fmt.Sprintf("d%d", i))
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, ".gitignore"), []byte(full), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ig := NewIgnore(dir, "")
	held, at := 0, ""
	for i := range fit + 2 {
		at = filepath.ToSlash(filepath.Join(at, fmt.Sprintf("d%d", i)))
		held += len(ig.level(at).git)
		if ig.level(at).base != at+"/" { // no rules of its own: that of a directory above
			held -= len(ig.level(at).git)
		}
	}
	if want := fit * len(rules); held > want || held == 0 {
		t.Errorf("%d rules are held, want at most %d", held, want)
	}
	if !ig.Match("secret", false) || ig.Match("other", false) {
		t.Error("the rules that fit do not count")
	}
}

// TestManyCharacters searches text of all sorts of characters: the automaton keeps
// a bounded number of steps.
func TestManyCharacters(t *testing.T) {
	e, err := compile(GrepOptions{Pattern: `(x.{0,30}y|[^a]{3}z)\p{Han}q`})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for r := rune(0x4e00); r < 0x9f00; r++ {
		fmt.Fprintf(&text, "x%c%c\n", r, r*7%0x9000+0x80)
		text.WriteString(strings.Repeat("x", int(r%29)) + string(r) + string(r+1) + "\n")
	}
	a := newAutomaton(e.prog)
	if a == nil {
		t.Fatal("the program is too large")
	}
	for range 20 {
		if _, ok := a.find([]byte(text.String())); !ok {
			break
		}
	}
	kept := 0
	for _, s := range a.states {
		kept += len(s.wide)
	}
	if kept > maxWide || a.wide > maxWide || kept == 0 {
		t.Errorf("%d steps are kept, %d counted", kept, a.wide)
	}
}

// TestWordsAgain holds that a word counts once in a query.
func TestWordsAgain(t *testing.T) {
	names := []string{"cmd/main.go", "internal/main/doc.go", "README.md"}
	once := NewPaths(names).Find("main go", 0, nil)
	if diff := cmp.Diff(once, NewPaths(names).Find(strings.Repeat("main go ", 500), 0, nil)); diff != "" {
		t.Errorf("found (-once +often):\n%s", diff)
	}
	if q := newQuery(strings.Fields(strings.Repeat("main go ", 500))); len(q.ascii) != 2 || len(q.runes) != 2 {
		t.Errorf("%d words are looked for", len(q.ascii))
	}
}
