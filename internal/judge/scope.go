package judge

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxDirs = 8 // directories a script may be in at one point, before that is unknown

// value is what a shell variable holds: a text, some number, or something unknown.
type value struct {
	known bool
	num   bool // a plain number, even if not known which
	text  string
	shape string // of one that is not known; see field
	// pinned is set if later assignments say nothing about what it holds: it is
	// read-only, changes case, or a trap sets it.
	pinned bool
}

// function is one body that a function name may have.
type function struct {
	body *syntax.Stmt
	src  string
}

// scope is what is known at one point of a script about its shell.
type scope struct {
	vars  map[string]value
	wild  bool     // variables that are not in vars may have been changed
	dirs  []string // where it may be; empty when that is not known
	alt   []string // where it is if the last cd failed
	args  []field  // positional parameters
	blind bool     // args are not known
	ifs   bool     // words are split at other characters than usual
	funcs map[string][]function
	steps *int // the walker's count of work
	env   *Env // the walker's
}

// first returns the directory where it is most likely, or "".
func (s *scope) first() string {
	if len(s.dirs) == 0 {
		return ""
	}
	return s.dirs[0]
}

func (s *scope) clone() *scope {
	*s.steps += (len(s.vars) + len(s.funcs)) / 16
	c := *s
	c.vars = make(map[string]value, len(s.vars))
	for k, v := range s.vars {
		c.vars[k] = v
	}
	c.funcs = make(map[string][]function, len(s.funcs))
	for k, v := range s.funcs {
		c.funcs[k] = v
	}
	return &c
}

// settle ends a statement: whether its last cd worked is no longer known.
func (s *scope) settle() {
	if s.alt != nil {
		s.dirs = unionDirs(s.dirs, s.alt)
		s.alt = nil
	}
}

func unionDirs(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}

// merge makes s what is known when either s or one of the others happened.
func (s *scope) merge(others ...*scope) {
	for _, o := range others {
		*s.steps += (len(s.vars) + len(o.vars)) / 16
		o.settle()
		s.settle()
		for name := range o.vars {
			if _, ok := s.vars[name]; !ok {
				s.vars[name] = value{pinned: o.vars[name].pinned}
			}
		}
		for name, v := range s.vars {
			if ov := o.vars[name]; ov != v {
				s.vars[name] = value{num: v.num && ov.num, pinned: v.pinned || ov.pinned}
			}
		}
		for name, bodies := range o.funcs {
			for _, b := range bodies {
				if !slices.Contains(s.funcs[name], b) {
					s.funcs[name] = append(slices.Clip(s.funcs[name]), b)
				}
			}
		}
		s.wild = s.wild || o.wild
		s.ifs = s.ifs || o.ifs
		s.blind = s.blind || o.blind || !slices.EqualFunc(s.args, o.args, func(a, b field) bool { return a == b })
		s.dirs = unionDirs(s.dirs, o.dirs)
	}
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > 18 {
		return false
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// resolve makes a path absolute for each directory the script may be in.
func (s *scope) resolve(path string) []string {
	if filepath.IsAbs(path) {
		return []string{filepath.Clean(path)}
	}
	out := make([]string, 0, len(s.dirs))
	for _, dir := range s.dirs {
		out = append(out, filepath.Join(dir, path))
	}
	return out
}

// enter changes the directory as cd would.
func (s *scope) enter(dir field, home string) {
	old := s.dirs
	switch path, through := processFile(dir.shape + "/."); {
	case !dir.known && through:
		s.dirs = s.resolve(path)
	case !dir.known || dir.glob || dir.text == "-":
		s.dirs = nil
	default:
		s.dirs = s.resolve(dir.text)
	}
	if s.alt = old; old == nil {
		s.alt = []string{} // if it fails, nobody knows where it is
	}
}

func isArithmetic(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	_, ok := word.Parts[0].(*syntax.ArithmExp)
	return ok
}

// get returns what a variable holds.
func (s *scope) get(name string) value {
	if variableOf(name).is("set-by-shell") {
		return value{}
	}
	if v, ok := s.vars[name]; ok {
		return v
	}
	if s.wild {
		return value{}
	}
	switch {
	case name == "PWD" && len(s.dirs) == 1:
		return value{known: true, text: s.dirs[0]}
	case name == "PWD", name == "OLDPWD":
		return value{}
	case name == "HOME" && s.env.Home != "":
		return value{known: true, text: s.env.Home}
	case variableOf(name).is("number"):
		return value{num: true}
	}
	if s.env.Lookup != nil {
		if text, ok := s.env.Lookup(name); ok {
			return value{known: true, text: text, num: isNumber(text)}
		}
	}
	return value{}
}

// fresh reports whether a variable is unset as far as is known: counters often are.
func (s *scope) fresh(name string) bool {
	_, set := s.vars[name]
	if set || s.wild || s.env.Lookup == nil {
		return false
	}
	_, set = s.env.Lookup(name)
	return !set
}

// taint forgets what a loop body or a function may change.
func (s *scope) taint(g *findings, nodes []*syntax.Stmt, depth int) {
	for _, stmt := range nodes {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if g.spend(1) {
				return false
			}
			s.taintNode(g, n, depth)
			return true
		})
	}
}

func (s *scope) taintNode(g *findings, n syntax.Node, depth int) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			s.forget(n.Name.Value, n.Value != nil && isArithmetic(n.Value))
		}
	case *syntax.WordIter:
		s.forget(n.Name.Value, false)
	case *syntax.BinaryArithm:
		if word, ok := n.X.(*syntax.Word); ok && word.Lit() != "" {
			s.forget(word.Lit(), true)
		}
	case *syntax.UnaryArithm:
		if word, ok := n.X.(*syntax.Word); ok && word.Lit() != "" {
			s.forget(word.Lit(), true)
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			s.forget(n.Param.Value, false)
		}
	case *syntax.CallExpr:
		s.taintCall(g, n, depth)
	}
}

func (s *scope) taintCall(g *findings, n *syntax.CallExpr, depth int) {
	if len(n.Args) == 0 {
		return
	}
	name := n.Args[0].Lit()
	switch name {
	case "cd", "chdir", "pushd", "popd":
		s.dirs = nil
	case "set", "shift":
		s.blind = true
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "let", "wait":
		for _, arg := range n.Args[1:] {
			s.forget(arg.Lit(), false)
		}
	case "", "eval", "source", ".", "command", "builtin", "export", "declare", "typeset", "local", "readonly":
		s.wild, s.dirs = true, nil
		for k := range s.vars {
			s.put(k, value{})
		}
	}
	for _, f := range s.funcs[name] {
		if depth < maxDepth {
			s.taint(g, []*syntax.Stmt{f.body}, depth+1)
		}
	}
}

// taintArithm forgets what an arithmetic expression may change.
func (s *scope) taintArithm(g *findings, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		s.taintNode(g, n, 0)
		return true
	})
}

func (s *scope) forget(name string, number bool) {
	if name == "" {
		return
	}
	old := s.get(name)
	s.put(name, value{num: number && (old.num || isNumber(old.text))})
}
