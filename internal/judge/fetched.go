package judge

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	fetchers     = []string{"curl", "wget", "fetch", "aria2c", "http", "https", "xh"}
	interpreters = []string{
		"sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "eval", "source", ".",
		"python", "python2", "python3", "node", "bun", "deno", "perl", "ruby", "php", "lua", "osascript", "pwsh",
	}
	// wrappers run the program that their arguments name.
	wrappers = []string{"sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "time", "timeout", "xargs", "busybox", "setsid"}
)

// runsFetched reports whether a script seems to run what it fetches from the network: through
// a pipe, a substitution, a variable or a file. It goes by the words as they stand, for a
// remark to people; nothing is allowed or denied by it.
func runsFetched(src string, file *syntax.File) bool {
	if !slices.ContainsFunc(fetchers, func(name string) bool { return strings.Contains(src, name) }) {
		return false
	}
	f := fetching{vars: map[string]bool{}, files: map[string]bool{}}
	syntax.Walk(file, f.visit)
	return f.runs
}

// fetching is what a script has fetched so far, in the order in which it is written.
type fetching struct {
	vars, files map[string]bool
	runs        bool
}

func (f *fetching) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			f.runs = f.runs || fetches(n.X) && interprets(n.Y)
		}
	case *syntax.Stmt:
		f.statement(n)
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil && f.fetched(n.Value) {
			f.vars[n.Name.Value] = true
		}
	}
	return !f.runs
}

func (f *fetching) statement(s *syntax.Stmt) {
	call, _ := s.Cmd.(*syntax.CallExpr)
	if call != nil && f.interpreted(call) {
		f.runs = f.runs || slices.ContainsFunc(call.Args, f.fetched)
		for _, r := range s.Redirs {
			f.runs = f.runs || r.Word != nil && r.Op != syntax.RdrOut && r.Op != syntax.AppOut && f.fetched(r.Word)
		}
	}
	if !fetches(s) {
		return
	}
	for _, r := range s.Redirs {
		if r.Op == syntax.RdrOut || r.Op == syntax.RdrClob || r.Op == syntax.AppOut {
			f.save(literal(r.Word))
		}
	}
	if call != nil {
		f.saved(call.Args)
	}
}

// saved notes the files that a fetching command names.
func (f *fetching) saved(args []*syntax.Word) {
	for i, arg := range args {
		word := literal(arg)
		name, value, _ := strings.Cut(word, "=")
		switch {
		case (word == "-o" || word == "--output" || word == "--output-document") && i+1 < len(args):
			f.save(literal(args[i+1]))
		case word == "-O" && i+1 < len(args): // wget's name for it; of curl the address follows
			f.save(literal(args[i+1]))
			f.save(path.Base(literal(args[i+1])))
		case name == "--output" || name == "--output-document":
			f.save(value)
		case strings.HasPrefix(word, "-o") && len(word) > 2 && word[1] != '-':
			f.save(word[2:])
		case strings.Contains(word, "://"):
			f.save(path.Base(word))
		}
	}
}

func (f *fetching) save(file string) {
	if file != "" && file != "-" && file != "/dev/null" {
		f.files[path.Clean(file)] = true
	}
}

// interpreted reports whether a call runs code that its words or its input hold, or a file
// that was fetched.
func (f *fetching) interpreted(call *syntax.CallExpr) bool {
	return interpreter(call) || len(call.Args) > 0 && f.files[path.Clean(literal(call.Args[0]))]
}

// fetched reports whether a word is, or names, something from the network.
func (f *fetching) fetched(w *syntax.Word) bool {
	if text := literal(w); text != "" {
		return f.files[path.Clean(text)]
	}
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			found = found || n.Param != nil && f.vars[n.Param.Value]
		case *syntax.CallExpr:
			found = found || fetcher(n)
		}
		return !found
	})
	return found
}

// fetches and interprets report whether a statement has a call of that kind in it.
func fetches(s *syntax.Stmt) bool    { return calls(s, fetcher) }
func interprets(s *syntax.Stmt) bool { return calls(s, interpreter) }

func calls(s *syntax.Stmt, is func(*syntax.CallExpr) bool) (found bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			found = found || is(c)
		}
		return !found
	})
	return found
}

func fetcher(c *syntax.CallExpr) bool     { return runs(c, fetchers) }
func interpreter(c *syntax.CallExpr) bool { return runs(c, interpreters) }

// runs reports whether a call is of one of the programs, itself or through another program.
func runs(c *syntax.CallExpr, programs []string) bool {
	for i, arg := range c.Args {
		name := path.Base(literal(arg))
		switch {
		case slices.Contains(programs, name):
			return true
		case i == 0 && !slices.Contains(wrappers, name):
			return false
		}
	}
	return false
}

// literal returns the text of a word in which nothing is expanded; else "".
func literal(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, in := range part.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}
