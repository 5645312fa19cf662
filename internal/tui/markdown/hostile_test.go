package markdown

import (
	"strings"
	"testing"

	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// hostile are texts that are built to cost more than their length.
func hostile(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	half := strings.Repeat
	return map[string]string{
		"open brackets": rep("["), "images": rep("!["), "closed brackets": half("[", n/2) + half("]", n/2), "links without end": rep("[a]("), "nested links": rep("[a](b "),
		"parentheses": "[a]" + rep("("), "angles": rep("<"), "angles and letters": rep("<a"), "stars": rep("*a "), "runs of stars": rep("*a**b***c "),
		"underscores": rep("_a _b"), "tildes": rep("~~a "), "ticks": rep("`a``b```c "), "address and parentheses": "http://a/" + rep(")"), "address and balanced": "http://a/" + half("(", n/2) + half(")", n/2),
		"addresses": rep("http://a."), "entities": rep("&a"), "backslashes": rep("\\"), "quotes": rep(">"), "nested quotes": rep("> "), "quote lines": rep(">\n"),
		"lists": rep("- "), "list lines": rep("- a\n"), "deep list": rep("- a\n  "), "numbers": rep("1. a\n\n"), "rules": rep("---\n"), "hashes": rep("#"), "headings": rep("# a\n"),
		"a wide table": half("|a", n/4) + "|\n" + half("|-", n/4) + "|\n" + half("|\n", n/8), "a long table": "|a|\n|-|\n" + rep("|b|\n"), "bars": rep("|"), "rows": rep("a|b\n-|-\n"),
		"fences": rep("```\n"), "an open fence": "```go\n" + rep("x := 1\n"), "comments": "```c\n" + rep("/*"), "strings": "```js\n" + rep("'\"`"), "code of one line": "```go\n" + rep("a("),
		"marks": "a" + rep("\u0301"), "joiners": rep("👩\u200d"), "flags": rep("🇩"), "one word": rep("x"), "ideographs": rep("漢"), "blanks": rep(" "), "lines": rep("\n"), "indents": rep("    a\n\n"), "tabs": rep("\t"),
		"dollars": rep("$a"), "open formulas": rep(`\(`), "formulas": rep(`\(x^2\)`), "deep formulas": "$" + rep("{") + "$", "scripts": rep("$x^{y_{z}}$ "), "display": rep("$$\nx\n"), "diagrams": rep("```mermaid\ngraph TD\na-->b\n```\n"),
		"a long diagram": "```mermaid\ngraph TD\n" + rep("a-->b\n") + "```\n", "a wide diagram": "```mermaid\ngraph TD\na[" + rep("x") + "]\n```\n", "a deep diagram": "```mermaid\nmindmap\n" + rep("  a\n   b\n    c\n") + "```\n",
		"mixed": rep("*[<`_(http://a)~~|"),
	}
}

// TestHostileText draws texts that are built to be slow, in both ways to measure
// them. One that costs the square of its length would not end within the test's time.
func TestHostileText(t *testing.T) {
	th, _ := theme.Lookup("lathe")
	st := NewStyles(th, true)
	for name, text := range hostile(200_000) {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			for _, m := range []styled.Method{styled.WcWidth, styled.Grapheme} {
				for _, line := range Render(styled.Clean(text), 76, st, m) {
					if strings.ContainsAny(line.Text(), "\x1b\n\r") {
						t.Fatal("a line holds what steers the terminal")
					}
				}
			}
		})
	}
}
