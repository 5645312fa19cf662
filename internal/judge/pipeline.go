package judge

import "mvdan.cc/sh/v3/syntax"

// lastPipelines returns, for each pipeline that may be the last thing that a script
// does, the source of its parts.
func lastPipelines(src string, stmts []*syntax.Stmt) [][]string {
	if len(stmts) == 0 {
		return nil
	}
	var out [][]string
	var last func(*syntax.Stmt)
	lastOf := func(list []*syntax.Stmt) {
		if len(list) > 0 {
			last(list[len(list)-1])
		}
	}
	last = func(s *syntax.Stmt) {
		if s == nil || s.Background || s.Coprocess {
			return
		}
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
				out = append(out, pipeParts(src, s, nil))
				return
			}
			last(c.X)
			last(c.Y)
		case *syntax.Block:
			lastOf(c.Stmts)
		case *syntax.IfClause:
			for c := c; c != nil; c = c.Else {
				lastOf(c.Then)
			}
		case *syntax.ForClause:
			lastOf(c.Do)
		case *syntax.WhileClause:
			lastOf(c.Do)
		case *syntax.TimeClause:
			last(c.Stmt)
		}
	}
	lastOf(stmts)
	return out
}

// pipeParts appends the source of the parts of a pipeline, from left to right.
func pipeParts(src string, s *syntax.Stmt, parts []string) []string {
	if c, ok := s.Cmd.(*syntax.BinaryCmd); ok && (c.Op == syntax.Pipe || c.Op == syntax.PipeAll) {
		return pipeParts(src, c.Y, pipeParts(src, c.X, parts))
	}
	from, to := int(s.Pos().Offset()), int(s.End().Offset())
	if from > to || to > len(src) {
		return append(parts, "")
	}
	return append(parts, src[from:to])
}
