package cli

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"testing"

	"lathe/internal/say/saytest"
)

// notTold are texts that no person meets: of scripts for tests, and of replays.
var notTold = regexp.MustCompile(`llmtest/|mcptest/|/script/|turn/replay\.go|^the script `)

// TestFailuresAreSaidInEachLanguage holds that why a turn failed, and why an ask wants a
// second look, is not said in English alone.
func TestFailuresAreSaidInEachLanguage(t *testing.T) {
	var missing []string
	for _, root := range []string{"../turn", "../llm", "../builtin", "../mcp"} {
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
// an ask.
func whys(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Message" || isReason(n.Key) {
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
	}
	return nil
}

func isReason(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Value == `"reason"`
}
