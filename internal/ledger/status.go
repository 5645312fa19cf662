package ledger

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// certain reports whether the exit code 0 of a script says that all of it went well.
// A pipeline ends with the status of its last part, and a list with that of its last
// command, so a test that failed before "| tail" does not show.
func certain(script string) bool {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	return err == nil && allCertain(file.Stmts)
}

func allCertain(stmts []*syntax.Stmt) bool {
	for i, s := range stmts {
		if !certainStmt(s) || i < len(stmts)-1 && !cannotFail(s) {
			return false
		}
	}
	return len(stmts) > 0
}

func certainStmt(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.TestClause, *syntax.TimeClause, nil:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && certainStmt(c.X) && certainStmt(c.Y)
	case *syntax.Block:
		return allCertain(c.Stmts)
	case *syntax.Subshell:
		return allCertain(c.Stmts)
	}
	return false
}

// cannotFail reports whether a statement only sets something.
func cannotFail(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.DeclClause:
		return true
	case *syntax.CallExpr:
		return len(c.Args) == 0 || c.Args[0].Lit() == "export" || c.Args[0].Lit() == "set"
	}
	return false
}
