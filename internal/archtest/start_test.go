package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// What stands in a package's variables is made at every start, also of a process that
// prints its version. Compiling a regular expression there is not free: sync.OnceValue
// makes it when it is asked for.
func TestNoPatternIsCompiledAtStart(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/llmtest/") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				compiledIn(t, fset, gen)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// compiledIn complains of patterns that a declaration compiles by itself, outside of
// functions.
func compiledIn(t *testing.T, fset *token.FileSet, decl ast.Node) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "regexp" {
				t.Errorf("%s: a pattern is compiled at every start; use sync.OnceValue", fset.Position(call.Pos()))
			}
		}
		return true
	})
}
