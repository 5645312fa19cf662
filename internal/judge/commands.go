package judge

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects handles what a statement reads and writes, and its standard input.
func (w *walker) redirects(redirs []*syntax.Redirect, s *scope) {
	for _, r := range redirs {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			w.assign(strings.Trim(r.N.Value, "{}"), field{safe: true}, s, w.source(r))
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			text, known := w.document(r, s)
			w.stdin = input{text: text, known: known, piped: true}
			continue
		}
		f := w.single(r.Word, s)
		w.redirect(r, f, s)
	}
}

func (w *walker) redirect(r *syntax.Redirect, f field, s *scope) {
	source := w.source(r)
	in := r.Op == syntax.RdrIn || r.Op == syntax.DplIn || r.Op == syntax.RdrInOut
	if in {
		w.stdin = input{piped: true}
	}
	if (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && (f.text == "-" || isNumber(strings.TrimSuffix(f.text, "-")) || f.safe && !f.known) {
		return
	}
	switch {
	case f.proc, f.known && harmless(f.text):
		return
	case strings.HasPrefix(f.text, "/dev/tcp/"), strings.HasPrefix(f.text, "/dev/udp/"):
		w.dynamic(source, "the script opens a network connection")
		w.reaches(f.text)
		return
	case strings.HasPrefix(f.text, "!"):
		w.dynamic(source, "shells disagree about the target of this redirection")
	}
	if r.Op == syntax.RdrIn || r.Op == syntax.DplIn {
		w.use(&w.out.Reads, f, s, PathUse{By: source})
		return
	}
	if r.Op == syntax.RdrInOut {
		w.use(&w.out.Reads, f, s, PathUse{By: source})
	}
	w.use(&w.out.Writes, f, s, PathUse{By: source})
}

// harmless are targets that are no files.
func harmless(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/") && isNumber(p[len("/dev/fd/"):])
}

// use records a path; one with ".." after a name goes where links lead, so it
// counts as dynamic as well.
func (w *walker) use(list *[]PathUse, f field, s *scope, u PathUse) {
	switch {
	case f.proc || f.known && (f.text == "" || harmless(f.text)):
		return
	case !f.known:
		u.Path, u.Dynamic = f.text, true
		if path, ok := processFile(f.shape); ok {
			u.Path, u.Dynamic = filepath.Clean(path), false
		} else if throughProcess(f.shape) {
			u.Within = "/proc"
		}
		w.addUse(list, u)
		return
	case f.glob:
		w.useGlob(list, f.text, s, u)
		return
	}
	paths := s.resolve(f.text)
	if len(paths) == 0 {
		u.Path, u.Dynamic = f.text, true
		w.addUse(list, u)
	}
	for _, p := range paths {
		u.Path = p
		w.addUse(list, u)
		for _, u.Path = range w.through(p) {
			w.addUse(list, u)
		}
	}
	if before, ok := climbs(f.text); ok {
		for _, p := range s.resolve(before) {
			w.addUse(list, PathUse{Path: p, Dir: true, By: u.By})
		}
		w.addUse(list, PathUse{Path: f.text, Dynamic: true, By: u.By})
	}
}

// climbs returns what comes before a ".." that follows a name.
func climbs(p string) (string, bool) {
	parts := strings.Split(p, "/")
	named := false
	for i, part := range parts {
		switch part {
		case "", ".":
		case "..":
			if named {
				return strings.Join(parts[:i], "/"), true
			}
		default:
			named = true
		}
	}
	return "", false
}

// call handles a simple command of the script.
func (w *walker) call(c *syntax.CallExpr, s *scope) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assignNode(a, s)
		}
		return
	}
	words := w.fields(c.Args, s)
	inner := s
	if len(c.Assigns) > 0 {
		inner = s.clone()
		for _, a := range c.Assigns {
			w.assignNode(a, inner)
		}
	}
	w.run(words, inner, w.source(c))
	if inner != s {
		s.merge(inner)
		s.dirs, s.alt = inner.dirs, inner.alt
	}
}

// run judges one command with its words.
func (w *walker) run(words []field, s *scope, source string) {
	for len(words) > 0 && words[0].known && words[0].text == "" && len(words) > 1 {
		w.dynamic(source, "the name of a command is empty")
		words = words[1:]
	}
	if len(words) == 0 || w.spend(len(words)) {
		return
	}
	if !w.named(words[0]) {
		w.dynamic(source, "which command runs is not known")
		w.out.Commands[len(w.out.Commands)-1].Also = []string{joinWords(words)}
		return
	}
	if w.depth > maxDepth {
		w.dynamic(source, "commands are nested too deeply")
		return
	}
	x := &invocation{walker: w, judgement: judgement{&w.findings, source, len(w.out.Commands)}, words: words, scope: s, base: baseName(words[0].text)}
	x.wroteFrom = len(w.out.Writes)
	w.out.Commands = append(w.out.Commands, x.cmd(w.env))
	x.base = programs().canonical(x.base)
	x.prog = lookup(x.base)
	if bodies := s.funcs[words[0].text]; len(bodies) > 0 {
		w.invoke(bodies, words[1:], s, source)
		return
	}
	if !x.prog.is("inert") {
		x.checkWords()
	}
	x.runsFile()
	x.dispatch()
	x.reach()
	x.files()
	x.fetched()
}

func (w *walker) named(f field) bool {
	return f.known && !f.glob && f.text != "" && !strings.ContainsAny(f.text, " \t\n") && f.text[0] != '=' && f.text[0] != '-'
}

func baseName(name string) string {
	base := path.Base(filepath.ToSlash(name))
	return strings.TrimSuffix(base, ".exe")
}

// invocation is one command being judged. Its methods are what every judge asks about
// a command and says about it; what one program or builtin does is a function that
// takes the invocation.
type invocation struct {
	*walker
	judgement
	words []field
	scope *scope
	base  string   // the name that it is judged by
	prog  *program // the row of that name

	wroteFrom int // index of the first file it writes
}

func (x *invocation) cmd(env Env) Cmd {
	c := Cmd{Text: joinWords(x.words), Args: make([]string, len(x.words)), Always: alwaysPattern(x.words)}
	for i, f := range x.words {
		c.Args[i] = f.text
	}
	if len(x.scope.dirs) == 1 {
		c.Dir = x.scope.dirs[0]
	}
	_, rest, _ := strings.Cut(c.Text, " ")
	if x.base != x.words[0].text {
		c.Also = append(c.Also, strings.TrimSpace(x.base+" "+rest))
	}
	if lower := strings.ToLower(x.base); env.FoldCase && lower != x.base {
		c.Also = append(c.Also, strings.TrimSpace(lower+" "+rest))
		x.base = lower
	}
	c.Spelt = slices.Clone(c.Also)
	return c
}

func joinWords(words []field) string {
	texts := make([]string, len(words))
	for i, f := range words {
		texts[i] = f.text
	}
	return strings.Join(texts, " ")
}

// checkWords checks words that are unknown before the shell runs. They could be
// options.
func (x *invocation) checkWords() {
	unclear := false
	for i, f := range x.words[1:] {
		if !unclear && !f.plain() && !x.isMessage(i+1) {
			unclear = true
			x.unclear("a word of "+x.base+" is not known before it runs", x.known(i+1))
		}
		if f.glob && x.prog.is("wildcard-risk") && strings.ContainsAny(f.text[:1], "*?[") {
			x.opaque("a wildcard of " + x.base + " can turn into an option")
		}
	}
}

// known returns the text before a word, if that word cannot be an option that
// makes the program run another.
func (x *invocation) known(i int) string {
	if x.prog.is("runs-by-option") {
		return ""
	}
	return joinWords(x.words[:i]) + " "
}

// isMessage reports whether the word is the text of a commit message or the
// like, which is neither an option nor a name.
func (x *invocation) isMessage(i int) bool {
	if x.base != "git" || x.words[i].multi || !in(x.words[1].text, "commit tag merge") {
		return false
	}
	prev := x.words[i-1].text
	return prev == "-m" || prev == "--message" || prev == "-am" || strings.HasPrefix(x.words[i].text, "--message=")
}

// args returns the words after the name.
func (x *invocation) args() []field { return x.words[1:] }

// inner judges a command that this one runs.
func (x *invocation) inner(words []field) {
	x.depth++
	x.run(words, x.scope.clone(), joinWords(words))
	x.depth--
}

// innerScript judges a script that this command runs in a new shell.
func (x *invocation) innerScript(f field, args []field) {
	if !f.known {
		x.opaque(x.base + " runs a script that is not known")
		return
	}
	s := x.scope.clone()
	for name := range s.vars {
		s.vars[name] = value{} // only exported ones reach it
	}
	s.args, s.blind, s.ifs = args, false, false
	x.evaluate(f.text, s)
}

// evaluate judges text as a script in the scope.
func (x *invocation) evaluate(text string, s *scope) {
	if x.depth >= maxDepth {
		x.opaque("scripts are nested too deeply")
		return
	}
	if err := x.script(text, s); err != nil {
		x.opaque(x.base + " runs a script that cannot be judged: " + err.Error())
	}
}

// options reads leading options. Those in valued take a value: "n" as "-n v" or
// "-nv", "name" as "--name v". It returns the options, as "-n" and "--name" with
// their values, and the words after them.
func options(words []field, valued string) (opts []option, rest []field) {
	valued = " " + valued + " "
	for len(words) > 0 {
		word := words[0]
		text := word.text
		switch {
		case !strings.HasPrefix(text, "-") || text == "-":
			return opts, words
		case text == "--":
			return opts, words[1:]
		}
		words = words[1:]
		var o []option
		o, words = oneOption(word, words, valued)
		opts = append(opts, o...)
	}
	return opts, nil
}

type option struct {
	name  string
	value field
	given bool // has a value
}

func oneOption(word field, next []field, valued string) ([]option, []field) {
	take := func(name string) ([]option, []field) {
		if len(next) == 0 {
			return []option{{name: name}}, nil
		}
		return []option{{name, next[0], true}}, next[1:]
	}
	if long, ok := strings.CutPrefix(word.text, "--"); ok {
		name, v, given := strings.Cut(long, "=")
		if given {
			f := word
			f.text = v
			return []option{{"--" + name, f, true}}, next
		}
		if strings.Contains(valued, " "+name+" ") && len(name) > 1 {
			return take("--" + name)
		}
		return []option{{name: "--" + name}}, next
	}
	var out []option
	letters := word.text[1:]
	for i := 0; i < len(letters); i++ {
		name := "-" + letters[i:i+1]
		if !strings.Contains(valued, " "+letters[i:i+1]+" ") {
			out = append(out, option{name: name})
			continue
		}
		if i+1 < len(letters) {
			f := word
			f.text = letters[i+1:]
			return append(out, option{name, f, true}), next
		}
		o, rest := take(name)
		return append(out, o...), rest
	}
	return out, next
}

// permuted reads options wherever they stand, as GNU programs do.
func permuted(words []field, valued string) (opts []option, operands []field) {
	for len(words) > 0 {
		if words[0].text == "--" {
			return opts, append(operands, words[1:]...)
		}
		o, rest := options(words, valued)
		opts = append(opts, o...)
		if len(rest) > 0 && (len(rest) < len(words) && words[len(words)-len(rest)-1].text == "--") {
			return opts, append(operands, rest...)
		}
		if len(rest) == 0 {
			break
		}
		operands, words = append(operands, rest[0]), rest[1:]
	}
	return opts, operands
}

func find(opts []option, names ...string) (option, bool) {
	for _, o := range opts {
		for _, name := range names {
			if o.name == name {
				return o, true
			}
		}
	}
	return option{}, false
}
