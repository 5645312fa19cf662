package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxAnalyzed = 256 << 10 // bytes of a script
	maxDepth    = 12        // scripts within scripts, calls of functions
	maxSteps    = 50000     // words and statements examined, and anything as costly
	maxNesting  = 400       // open brackets
)

// Analyze lists what a script would do. It runs nothing and opens no file. Its
// time is bounded: what is too long or too deep is not judged, and the result
// says so.
func Analyze(script string, env Env) Analysis {
	w := &walker{
		findings: findings{out: &Analysis{}, steps: new(int)},
		made:     made{written: map[string]input{}, names: map[string]string{}, links: &[]link{}},
		env:      env,
	}
	s := &scope{steps: w.steps, env: &w.env, vars: map[string]value{}, funcs: map[string][]function{}}
	if env.Dir != "" {
		s.dirs = []string{env.Dir}
	}
	if err := w.script(script, s); err != nil {
		w.out.Unparsed = err
		w.dynamic(script, err.Error())
		w.pieces(script)
	}
	w.uncalled()
	w.spend(0) // reports it if the end was not reached
	w.out.Reasons = w.reasons.items
	return *w.out
}

// walker goes through a script in the order in which it would run.
type walker struct {
	findings
	made
	env   Env
	depth int
	stdin input
	funcs []*declared
}

// declared is a function, to be judged at the end if nothing called it.
type declared struct {
	function
	called bool
	scope  *scope
}

// input is what a command can read from standard input.
type input struct {
	text  string
	known bool
	piped bool // there is some
}

var errNUL = errors.New("the script has a NUL character")

// script parses and walks a script in the scope.
func (w *walker) script(src string, s *scope) error {
	file, err := parse(src)
	if err != nil {
		return err
	}
	if w.depth == 0 {
		w.out.Pipelines = lastPipelines(src, file.Stmts)
	}
	w.out.RunsFetched = w.out.RunsFetched || runsFetched(src, file)
	outer := w.src
	w.src = src
	w.depth++
	w.checkControls(src)
	w.stmts(file.Stmts, s)
	w.depth--
	w.src = outer
	return nil
}

func parse(src string) (*syntax.File, error) {
	switch {
	case strings.ContainsRune(src, 0):
		return nil, errNUL
	case len(src) > maxAnalyzed:
		return nil, fmt.Errorf("the script has %d bytes, too many to judge", len(src))
	case nesting(src) > maxNesting:
		return nil, errors.New("the script is nested too deeply to judge")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		return nil, fmt.Errorf("not a shell script that can be judged: %w", err)
	}
	return file, nil
}

// nesting is an upper bound for how deep the parser recurses, except over quoted
// and here-document text, where it may be too high.
func nesting(src string) int {
	depth, most := 0, 0
	for i := range len(src) {
		switch src[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		case '!', '`', '-', '~', '+':
			if i > 0 && src[i-1] == src[i] {
				depth++
			}
		case '\n':
			if most > maxNesting {
				return most
			}
		}
		most = max(most, depth)
	}
	return most
}

// quiet returns a walker whose findings are discarded.
func (w *walker) quiet() *walker {
	q := *w
	q.out, q.reasons, q.funcs, q.spent = &Analysis{}, list{}, nil, true
	return &q
}

func (w *walker) stmts(list []*syntax.Stmt, s *scope) {
	for _, stmt := range list {
		w.stmt(stmt, s)
		s.settle()
	}
}

func (w *walker) inSubshell(list []*syntax.Stmt, s *scope) { w.stmts(list, s.clone()) }

func (w *walker) stmt(stmt *syntax.Stmt, s *scope) {
	if w.spend(1) {
		return
	}
	outer := w.stdin
	defer func() { w.stdin = outer }()
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		s = s.clone()
	}
	w.redirects(stmt.Redirs, s)
	if keepsInput(stmt) {
		outer = w.stdin
	}
	w.command(stmt, s)
	w.remember(stmt, s)
}

func (w *walker) command(stmt *syntax.Stmt, s *scope) {
	switch c := stmt.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.call(c, s)
	case *syntax.BinaryCmd:
		w.binary(c, s)
	case *syntax.Block:
		w.stmts(c.Stmts, s)
	case *syntax.Subshell:
		w.inSubshell(c.Stmts, s)
	case *syntax.IfClause:
		w.ifClause(c, s)
	case *syntax.WhileClause:
		w.loop(s, append(append([]*syntax.Stmt(nil), c.Cond...), c.Do...))
	case *syntax.ForClause:
		w.forClause(c, s)
	case *syntax.CaseClause:
		w.caseClause(c, s)
	case *syntax.FuncDecl:
		w.declare(c, s)
	case *syntax.DeclClause:
		w.declClause(c, s)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			evaluation{w, s}.arithm(x)
		}
	case *syntax.ArithmCmd:
		evaluation{w, s}.arithm(c.X)
	case *syntax.TestClause:
		evaluation{w, s}.test(c.X)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt, s)
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			w.assign(w.single(c.Name, s).text, field{}, s, w.source(c))
		}
		w.stmt(c.Stmt, s.clone())
	default:
		w.dynamic(w.source(stmt), "the script uses a form that cannot be judged")
	}
}

func (w *walker) binary(c *syntax.BinaryCmd, s *scope) {
	switch c.Op {
	case syntax.AndStmt:
		w.and(c, s)
	case syntax.OrStmt:
		w.stmt(c.X, s)
		worked := s.clone()
		worked.alt = nil
		if s.alt != nil {
			s.dirs, s.alt = s.alt, nil
		}
		w.stmt(c.Y, s)
		if leaves(c.Y) {
			*s = *worked
			return
		}
		s.merge(worked)
	default:
		w.pipe(c, s)
	}
}

// and walks "x && y". Y only runs if x succeeded, which matters after cd.
func (w *walker) and(c *syntax.BinaryCmd, s *scope) {
	w.stmt(c.X, s)
	skipped := s.clone()
	if skipped.alt = nil; s.alt != nil {
		skipped.dirs = s.alt
	}
	s.alt = nil
	w.stmt(c.Y, s)
	dirs, alt := s.dirs, skipped.dirs
	if s.alt != nil {
		alt = unionDirs(alt, s.alt)
	}
	s.alt = nil
	s.merge(skipped)
	if s.dirs = dirs; !slices.Equal(dirs, alt) {
		s.alt = append([]string{}, alt...)
	}
}

// leaves reports whether a statement surely ends the script or function.
func leaves(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "exit" || c.Args[0].Lit() == "return") && !stmt.Background
	case *syntax.Block:
		return len(c.Stmts) > 0 && leaves(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

func (w *walker) pipe(c *syntax.BinaryCmd, s *scope) {
	text, known := w.output([]*syntax.Stmt{c.X}, s)
	w.stmt(c.X, s.clone())
	outer := w.stdin
	w.stdin = input{text: text, known: known, piped: true}
	last := s.clone() // some shells run the last part in the shell itself
	w.stmt(c.Y, last)
	w.stdin = outer
	s.merge(last)
}

func (w *walker) ifClause(c *syntax.IfClause, s *scope) {
	if c == nil {
		return
	}
	w.stmts(c.Cond, s)
	then := s.clone()
	w.stmts(c.Then, then)
	if c.Else != nil {
		w.ifClause(c.Else, s)
	}
	s.merge(then)
}

// loop walks a body that runs any number of times.
func (w *walker) loop(s *scope, body []*syntax.Stmt) {
	s.taint(&w.findings, body, 0)
	once := s.clone()
	w.stmts(body, once)
	s.merge(once)
}

func (w *walker) forClause(c *syntax.ForClause, s *scope) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
			evaluation{w, s}.arithm(loop.Init)
			s.taintArithm(&w.findings, loop)
			evaluation{w, s}.arithm(loop.Cond)
			evaluation{w, s}.arithm(loop.Post)
		}
		w.loop(s, c.Do)
		return
	}
	items := w.fields(iter.Items, s)
	w.assign(iter.Name.Value, field{}, s, w.source(iter))
	if c.Select || !iter.InPos.IsValid() || len(items) > 16 || len(items) == 0 || !allKnown(items) {
		if allSafe(items) && len(items) > 0 {
			s.vars[iter.Name.Value] = value{num: true}
		}
		num := s.vars[iter.Name.Value]
		s.taint(&w.findings, c.Do, 0)
		s.vars[iter.Name.Value] = num
		once := s.clone()
		w.stmts(c.Do, once)
		s.merge(once)
		return
	}
	s.taint(&w.findings, c.Do, 0)
	start := s.clone()
	for _, item := range items {
		once := start.clone()
		once.put(iter.Name.Value, value{known: true, text: item.text, num: isNumber(item.text)})
		w.stmts(c.Do, once)
		s.merge(once)
	}
}

func allKnown(items []field) bool {
	for _, f := range items {
		if !f.known || f.glob {
			return false
		}
	}
	return true
}

func allSafe(items []field) bool {
	for _, f := range items {
		if !f.safe || f.glob || f.known && !isNumber(f.text) {
			return false
		}
	}
	return true
}

func (w *walker) caseClause(c *syntax.CaseClause, s *scope) {
	w.single(c.Word, s)
	start := s.clone()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.single(p, s)
		}
		branch := start.clone()
		if item.Op != syntax.Break {
			branch = s.clone() // may be entered from the one before
		}
		w.stmts(item.Stmts, branch)
		s.merge(branch)
	}
}

func (w *walker) declare(c *syntax.FuncDecl, s *scope) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	f := function{body: c.Body, src: w.src}
	for _, name := range names {
		s.funcs[name.Value] = []function{f}
	}
	w.funcs = append(w.funcs, &declared{function: f, scope: s})
}

// uncalled judges the functions that no command named: something may call them
// in a way that is not visible.
func (w *walker) uncalled() {
	for i := 0; i < len(w.funcs); i++ {
		f := w.funcs[i]
		if f.called {
			continue
		}
		f.called = true
		s := f.scope.clone()
		s.blind = true
		w.body(f.function, s)
	}
}

func (w *walker) body(f function, s *scope) {
	outer := w.src
	w.src = f.src
	w.depth++
	w.stmt(f.body, s)
	w.depth--
	w.src = outer
}

// invoke walks the bodies a function name may have.
func (w *walker) invoke(bodies []function, args []field, s *scope, source string) {
	for _, d := range w.funcs {
		for _, b := range bodies {
			d.called = d.called || d.function == b
		}
	}
	if w.depth >= maxDepth {
		w.dynamic(source, "a function calls itself or others too deeply")
		return
	}
	outerArgs, outerBlind := s.args, s.blind
	start := s.clone()
	for _, b := range bodies {
		once := start.clone()
		once.args, once.blind = args, false
		w.body(b, once)
		once.args, once.blind = outerArgs, outerBlind
		s.merge(once)
	}
}

func (w *walker) declClause(c *syntax.DeclClause, s *scope) {
	for _, a := range c.Args {
		if a.Name == nil || a.Naked && a.Value != nil {
			w.declOption(c, a, s)
			continue
		}
		if a.Naked && c.Variant.Value != "local" {
			continue
		}
		w.assignNode(a, s)
	}
	w.attributes(c, s)
	if c.Variant.Value == "nameref" {
		w.dynamic(w.source(c), "a variable becomes another name for one")
	}
}

func (w *walker) declOption(c *syntax.DeclClause, a *syntax.Assign, s *scope) {
	for _, f := range w.expand(a.Value, s) {
		switch {
		case !f.known:
			w.dynamic(w.source(c), "a variable is set whose name is not known")
		case strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "n"):
			w.dynamic(w.source(c), "a variable becomes another name for one")
		case strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "f") && c.Variant.Value == "export":
			w.dynamic(w.source(c), "a function is passed to other shells")
		case strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "i"):
			w.dynamic(w.source(c), "assignments are evaluated as arithmetic")
		case !strings.HasPrefix(f.text, "-") && !strings.HasPrefix(f.text, "+"):
			name, text, _ := strings.Cut(f.text, "=")
			w.assignText(name, text, s, w.source(c))
		}
	}
}

// assignNode handles one assignment of the script.
func (w *walker) assignNode(a *syntax.Assign, s *scope) {
	if a.Index != nil {
		evaluation{w, s}.arithm(a.Index)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				evaluation{w, s}.arithm(e.Index)
			}
			if e.Value != nil {
				w.expand(e.Value, s)
			}
		}
	}
	f := field{}
	if a.Value != nil && a.Index == nil && !a.Append {
		f = w.single(a.Value, s)
		if isArithmetic(a.Value) {
			f.safe = true
		}
	} else if a.Value != nil {
		w.single(a.Value, s)
	} else if a.Array == nil && !a.Naked {
		f = field{known: true}
	}
	w.assign(a.Name.Value, f, s, w.source(a))
}

// assignText handles NAME=text given to a builtin.
func (w *walker) assignText(name, text string, s *scope, source string) {
	if !syntax.ValidName(strings.TrimSuffix(name, "+")) {
		w.subscript(name, source)
		name, _, _ = strings.Cut(name, "[")
	}
	w.assign(strings.TrimSuffix(name, "+"), field{text: text, known: !strings.HasSuffix(name, "+")}, s, source)
}

// subscript reports an array index in a name given as text: bash evaluates it,
// including any command in it.
func (w *walker) subscript(name, source string) {
	if strings.ContainsAny(name, "[$`") {
		w.dynamic(source, "a name with an index is evaluated, which can run commands")
	}
}

func (w *walker) assign(name string, f field, s *scope, source string) {
	if name == "IFS" {
		s.ifs = true
	}
	if steers(name, f) {
		w.dynamic(source, "the variable "+name+" changes what later commands do")
	}
	if !f.known {
		s.put(name, value{num: f.safe, shape: f.shape})
		return
	}
	s.put(name, value{known: true, text: f.text, num: isNumber(f.text)})
}
