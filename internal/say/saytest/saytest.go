// Package saytest finds the texts in the source that people read, and says which of them
// are English alone.
package saytest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lathe/internal/say"
)

var (
	verbs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%(?:\[\d+\])?[-+#0]*[\d.]*[a-zA-Z%]`) })
	prose = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[A-Za-z]{2,}['’]?[,;:.…]* [A-Za-z%(]|%[ds] [a-z]{3,}|[a-z]{3,} %`)
	})
)

// Prose calls found with each text of more than a word that stands in the Go files below a
// directory, tests left out, and where it stands. Texts that are put together count as one,
// with %s for what is put in; those that count something are told with one of it, too.
func Prose(t *testing.T, root string, found func(text, at string)) {
	t.Helper()
	Walk(t, root, func(n ast.Node, at func(ast.Node) string) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case ast.Expr:
			text, ok := Written(n)
			if ok && prose().MatchString(text) {
				found(text, at(n))
			}
			if one, _ := written(n, true); one != text && prose().MatchString(one) {
				found(one, at(n))
			}
			return !ok
		}
		return true
	})
}

// Walk visits the Go files below a directory, tests left out.
func Walk(t *testing.T, root string, visit func(n ast.Node, at func(ast.Node) string) bool) {
	t.Helper()
	files := token.NewFileSet()
	at := func(n ast.Node) string { return files.Position(n.Pos()).String() }
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool { return visit(n, at) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Written returns a text as it stands in the source, with %s for what is put in.
func Written(e ast.Expr) (string, bool) { return written(e, false) }

// written is [Written] with one or several of what is counted.
func written(e ast.Expr, one bool) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		return written(e.X, one)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		a, known := written(e.X, one)
		b, also := written(e.Y, one)
		if !known {
			a = "%s"
		}
		if !also {
			b = "%s"
		}
		return a + b, known || also
	case *ast.CallExpr:
		return made(e, one)
	}
	return "", false
}

// made returns what a call makes, if that is a text with something put in.
func made(call *ast.CallExpr, one bool) (string, bool) {
	s, ok := call.Fun.(*ast.SelectorExpr)
	switch {
	case !ok || len(call.Args) == 0:
		return "", false
	case s.Sel.Name == "Sprintf" || s.Sel.Name == "T":
		return written(call.Args[0], one)
	case s.Sel.Name == "Plural" && len(call.Args) == 2, s.Sel.Name == "Several" && len(call.Args) == 2:
		word, ok := written(call.Args[1], one)
		if one && s.Sel.Name == "Plural" {
			return "1 " + word, ok
		}
		return "%d " + word + "s", ok
	}
	return "", false
}

// Known reports whether a text is in the catalogue: as a whole, or each of several that
// stand side by side. How it is joined to what stands before it does not matter.
func Known(text string) bool {
	for piece := range strings.SplitSeq(text, " · ") {
		piece = strings.TrimSpace(piece)
		alone := strings.TrimLeft(piece, ",;. ")
		if !known(piece) && !known(alone) && !known(joined().ReplaceAllString(alone, "")) {
			return false
		}
	}
	return true
}

// joined is what a text was put together with that is said by itself.
var joined = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(%s ?)+|( ?%s)+$`) })

func known(text string) bool {
	return !strings.Contains(strings.TrimSpace(verbs().ReplaceAllString(text, "")), " ") || say.Chinese.Text(text) != text
}

// Tell reports texts that are English alone.
func Tell(t *testing.T, missing []string) {
	t.Helper()
	slices.Sort(missing)
	for _, m := range slices.Compact(missing) {
		t.Errorf("not in the catalogue (internal/say/zh-CN): %s", m)
	}
}
