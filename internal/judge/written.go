package judge

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// made is what is known about the files that the script has made so far.
type made struct {
	written map[string]input
	links   *[]link
	names   map[string]string // files that it copied, moved or linked, and their earlier names
}

// link is one that a script makes.
type link struct{ at, to string }

// through returns where a path may lead through links that the script made.
func (m *made) through(name string) []string {
	var out []string
	for _, l := range *m.links {
		if rest, ok := strings.CutPrefix(name, l.at); ok && (rest == "" || rest[0] == '/') {
			out = append(out, l.to+rest)
		}
	}
	return out
}

func (m *made) wroteFile(f field, s *scope, text string, known, more bool) {
	if !f.known || f.glob {
		return
	}
	for _, file := range s.resolve(f.text) {
		if have, ok := m.written[file]; ok && more {
			text, known = have.text+text, have.known && known
		}
		m.written[file] = input{text: text, known: known}
	}
}

// remember notes what a statement writes into files, in case the script runs one
// of them later.
func (w *walker) remember(stmt *syntax.Stmt, s *scope) {
	for _, r := range stmt.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		default:
			continue
		}
		f := w.quiet().single(r.Word, s.clone())
		if !f.known || harmless(f.text) || r.N != nil && r.N.Value == "2" {
			continue
		}
		bare := *stmt
		bare.Redirs = nil
		for _, other := range stmt.Redirs {
			if other.Op == syntax.Hdoc || other.Op == syntax.DashHdoc || other.Op == syntax.WordHdoc {
				bare.Redirs = append(bare.Redirs, other)
			}
		}
		text, known := w.output([]*syntax.Stmt{&bare}, s)
		w.wroteFile(f, s, text, known, r.Op == syntax.AppOut || r.Op == syntax.AppAll)
	}
}

// wrote judges a file that is run as a script, if the script wrote it earlier.
func (x *invocation) wrote(f field) {
	if !f.known {
		return
	}
	for _, file := range x.scope.resolve(f.text) {
		in, ok := x.written[file]
		switch {
		case !ok:
		case !in.known:
			x.opaque(x.base + " runs what was written before, which is not known")
		case in.text != "":
			delete(x.written, file) // only once: it may run itself
			x.innerScript(field{text: in.text, known: true}, nil)
			x.written[file] = in
		}
	}
}

// fetched notes the files that programs fill with unknown content.
func (x *invocation) fetched() {
	switch x.prog.content {
	case "unknown", "input":
		for _, u := range x.out.Writes[x.wroteFrom:] {
			if !u.Dynamic && !u.Tree {
				x.written[u.Path] = x.teed()
			}
		}
	case "copied":
		x.renamed()
	}
}

// teed is what a program writes, if that is known.
func (x *invocation) teed() input {
	if x.prog.content == "input" {
		return input{text: x.stdin.text, known: x.stdin.known}
	}
	return input{}
}

// renamed notes that a program has been given another name.
func (x *invocation) renamed() {
	_, operands := permuted(x.args(), "t S m o g target-directory suffix mode owner group")
	if len(operands) != 2 || !operands[0].known || !operands[1].known {
		return
	}
	from, to := operands[0].text, operands[1].text
	for _, file := range x.scope.resolve(to) {
		if in, ok := x.written[path.Join(x.scope.first(), from)]; ok {
			x.written[file] = in
		}
		x.names[file] = path.Base(from)
		x.names[path.Join(file, path.Base(from))] = path.Base(from)
	}
}

// runsFile judges a command named by its path, if the script wrote or renamed
// that file earlier.
func (x *invocation) runsFile() {
	name := x.words[0]
	if !strings.Contains(name.text, "/") {
		return
	}
	for _, file := range x.scope.resolve(name.text) {
		if real := x.names[file]; real != "" && real != x.base {
			x.runs(strings.TrimSpace(real + " " + joinWords(x.args())))
		}
		if in := x.written[file]; !in.known || !strings.HasPrefix(in.text, "#!") || shebang(in.text) {
			x.wrote(name)
			return
		}
		if words := interpreterOf(x.written[file].text); len(words) > 0 {
			x.runs(path.Base(words[0]) + strings.TrimSuffix(" "+strings.Join(words[1:], " "), " "))
			x.code(field{text: x.written[file].text, known: true})
		}
	}
}

// shebang reports whether a script is for a shell.
func shebang(text string) bool {
	words := interpreterOf(text)
	return len(words) > 0 && strings.HasSuffix(programs().canonical(path.Base(words[0])), "sh")
}

// interpreterOf returns the words of a script's first line, without env.
func interpreterOf(text string) []string {
	line, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if ok && len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 1 && words[0] == "-S" {
			words = words[1:]
		}
	}
	if !ok {
		return nil
	}
	return words
}

// keepsInput reports whether a statement is an "exec" that gives the shell itself
// another standard input.
func keepsInput(stmt *syntax.Stmt) bool {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "exec" {
		return false
	}
	return slices.ContainsFunc(stmt.Redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return r.N == nil || r.N.Value == "0"
		}
		return false
	})
}
