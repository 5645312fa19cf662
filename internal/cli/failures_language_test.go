package cli

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/internal/say/saytest"
)

// notTold are texts that no person meets: of scripts for tests, of replays, and for models.
var notTold = regexp.MustCompile(`llmtest/|mcptest/|/script/|turn/replay\.go|^the script |^A plugin does not allow`)

// TestFailuresAreSaidInEachLanguage holds that why a turn failed, why an ask wants a
// second look, and why a setting of a repository has no effect, is not said in English alone.
func TestFailuresAreSaidInEachLanguage(t *testing.T) {
	var missing []string
	for _, root := range []string{"../turn", "../llm", "../builtin", "../mcp", "../config", "../instance"} {
		saytest.Walk(t, root, func(n ast.Node, at func(ast.Node) string) bool {
			for _, e := range whys(n) {
				text, ok := saytest.Written(e)
				if ok && len(text) > 3 && !saytest.Known(text) && !notTold.MatchString(text) && !notTold.MatchString(at(e)) {
					missing = append(missing, fmt.Sprintf("%s: %q", at(e), text))
				}
			}
			return true
		})
	}
	saytest.Tell(t, missing)
}

// whys returns what of a node is told to a person: the message of a failure, the reason of
// an ask, or why a setting was left out.
func whys(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if name, ok := n.Type.(*ast.Ident); ok && name.Name == "LeftOut" && len(n.Elts) == 3 {
			return n.Elts[2:]
		}
	case *ast.ValueSpec:
		switch name := n.Names[0].Name; {
		case strings.HasSuffix(name, "Reason"):
			return n.Values
		case name == "blocked":
			var out []ast.Expr
			for _, e := range n.Values[0].(*ast.CompositeLit).Elts {
				out = append(out, e.(*ast.KeyValueExpr).Value)
			}
			return out
		}
	case *ast.KeyValueExpr:
		if name, ok := n.Key.(*ast.Ident); ok && (name.Name == "Message" || name.Name == "Reason") || isReason(n.Key) {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		if i := slices.IndexFunc(n.Lhs, func(e ast.Expr) bool {
			x, ok := e.(*ast.IndexExpr)
			return ok && isReason(x.Index)
		}); i >= 0 && i < len(n.Rhs) {
			return []ast.Expr{n.Rhs[i]}
		}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "protect" {
			return n.Args[2:]
		}
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "out" && len(n.Args) == 3 {
			return n.Args[2:]
		}
	}
	return nil
}

func isReason(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Value == `"reason"`
}
