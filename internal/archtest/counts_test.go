package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"testing"

	"lathe/internal/say/saytest"
)

// forPeople are the directories whose texts people read. What models read stays as it is.
var forPeople = []string{"acp", "cli", "doctor", "importer", "instance", "job", "llm/guide", "mcpjson", "retention", "session", "share", "transcript", "tui", "undo", "worktree"}

// counted is a number and the noun that it counts.
var counted = regexp.MustCompile(`%[0-9]*d (?:[a-z]+ )?([a-z]+s)\b`)

// bound is what stands before a number that is a limit, of which there are many.
var bound = regexp.MustCompile(`(than|most|of|to|from|limit is|up to|last|after|may have|may define|found in|staged|runs|×) $`)

// TestCounts holds that no text counts with a fixed plural, as in "1 files": say.Plural counts.
func TestCounts(t *testing.T) {
	notNouns := map[string]bool{
		"is": true, "was": true, "has": true, "comes": true, "does": true, "less": true, "times": true,
		"bytes": true, // told of what is too large
	}
	for _, dir := range forPeople {
		saytest.Walk(t, "../"+dir, func(n ast.Node, at func(ast.Node) string) bool {
			if sum, ok := n.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
				if noun := behindNumber(sum); noun != "" && !notNouns[noun] {
					t.Errorf("%s: %q behind a number is wrong where there is one: use say.Plural or say.Noun", at(n), noun)
				}
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			for _, m := range counted.FindAllStringSubmatchIndex(text, -1) {
				if noun := text[m[2]:m[3]]; !notNouns[noun] && !bound.MatchString(text[:m[0]]) {
					t.Errorf("%s: %q is wrong where there is one: use %%s and say.Plural", at(n), text[m[0]:m[1]])
				}
			}
			return true
		})
	}
}

// behind is a noun that a text begins with.
var behind = regexp.MustCompile(`^ (?:[a-z]+ )?([a-z]+s)\b`)

// behindNumber returns the plural that a sum puts behind a number, as in strconv.Itoa(n) + " files".
func behindNumber(sum *ast.BinaryExpr) string {
	lit, ok := sum.Y.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	left := sum.X
	if b, ok := left.(*ast.BinaryExpr); ok {
		left = b.Y
	}
	call, ok := left.(*ast.CallExpr)
	if !ok {
		return ""
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	text, err := strconv.Unquote(lit.Value)
	if m := behind.FindStringSubmatch(text); err == nil && m != nil && (name == "number" || name == "Itoa" || name == "FormatInt") {
		return m[1]
	}
	return ""
}
