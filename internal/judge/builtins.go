package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin returns the function of one of the shell's own commands, which change how
// later words are read.
func builtin(name string) func(*invocation) {
	switch name {
	case "cd":
		return judgeCd
	case "eval":
		return judgeEval
	case "source":
		return judgeSource
	case "trap":
		return judgeTrap
	case "alias":
		return judgeAlias
	case "declare":
		return judgeDeclare
	case "read":
		return judgeRead
	case "printf":
		return judgePrintf
	case "let":
		return judgeLet
	case "test":
		return judgeTest
	case "set":
		return judgeSet
	case "shift":
		return judgeShift
	case "shopt":
		return judgeShopt
	case "setup":
		return judgeSetup
	case "history":
		return judgeHistory
	case "names":
		return judgeSubscripts
	}
	return nil
}

func judgeSource(x *invocation) {
	x.opaque("the commands of another file run in this shell")
	if len(x.words) > 1 {
		x.reads(x.words[1], PathUse{})
		x.wrote(x.words[1])
	}
}

func judgeAlias(x *invocation) {
	for _, f := range x.args() {
		if strings.Contains(f.text, "=") || !f.known {
			x.opaque("an alias changes what later commands do")
		}
	}
}

func judgeShift(x *invocation) { x.scope.blind = true }

// judgeSetup judges commands that change what names, keys and words mean afterwards.
func judgeSetup(x *invocation) {
	if len(x.words) > 1 && !in(x.words[1].text, "-r -l -L") {
		x.opaque(x.base + " changes what later commands do")
	}
}

func judgeHistory(x *invocation) {
	if len(x.words) > 1 && strings.HasPrefix(x.words[1].text, "-") {
		x.opaque("history reads or writes a file")
	}
}

func judgeCd(x *invocation) {
	_, rest := options(x.args(), "")
	if x.words[0].text == "popd" || x.words[0].text == "pushd" && len(rest) == 0 {
		x.scope.enter(field{}, "")
		return
	}
	dir := field{text: x.env.Home, known: x.env.Home != ""}
	if len(rest) > 0 {
		dir = rest[len(rest)-1]
	}
	if dir.text != "-" {
		x.reads(dir, PathUse{Dir: true})
	}
	if !dir.known {
		x.opaque("which directory the script goes to is not known")
	}
	x.scope.enter(dir, x.env.Home)
}

func judgeEval(x *invocation) {
	for _, f := range x.args() {
		if !f.plain() || f.glob {
			x.opaque("eval runs a text that is not known")
			return
		}
	}
	if len(x.words) > 1 {
		x.evaluate(joinWords(x.args()), x.scope)
	}
}

func judgeTrap(x *invocation) {
	_, rest := options(x.args(), "")
	if len(rest) < 2 || rest[0].text == "-" || rest[0].text == "" {
		return
	}
	if !rest[0].known {
		x.opaque("a trap runs a text that is not known")
		return
	}
	after := x.scope.clone()
	x.evaluate(rest[0].text, after)
	pinTrapped(x, after, rest[1:])
}

func judgeDeclare(x *invocation) {
	for _, f := range x.args() {
		switch {
		case !f.known:
			x.opaque("a variable is set whose name is not known")
		case strings.HasPrefix(f.text, "-"):
			if strings.ContainsAny(f.text, "nfiluc") && f.text != "-p" {
				x.opaque("a variable or function changes what later commands do")
			}
		default:
			name, text, given := strings.Cut(f.text, "=")
			if given {
				x.assignText(name, text, x.scope, x.source)
			}
			if x.base == "readonly" || slices.ContainsFunc(x.args(), func(f field) bool { return hasLetter(f.text, "r") }) {
				x.scope.pin(strings.TrimSuffix(name, "+"), true)
			}
		}
	}
}

// judgeSubscripts reports names with an index among the words.
func judgeSubscripts(x *invocation) {
	for _, f := range x.args() {
		if i := strings.IndexByte(f.text, '['); i > 0 && strings.ContainsAny(f.text[i:], "$`") {
			x.opaque("a name with an index is evaluated, which can run commands")
		}
	}
}

func judgeRead(x *invocation) {
	judgeSubscripts(x)
	valued := "a d i n N p t u"
	if in(x.base, "mapfile readarray") {
		valued = "d n O s u C c"
	}
	opts, rest := options(x.args(), valued)
	if _, ok := find(opts, "-C"); ok {
		x.opaque("a text is run for each line read")
	}
	if o, ok := find(opts, "-a"); ok && o.given {
		rest = append(rest, o.value)
	}
	if x.base == "getopts" && len(rest) > 0 {
		rest = rest[1:min(2, len(rest))]
	}
	for _, f := range rest {
		if !f.known {
			x.opaque("a variable is set whose name is not known")
			continue
		}
		if syntax.ValidName(f.text) {
			x.assign(f.text, field{}, x.scope, x.source)
		}
	}
}

func judgePrintf(x *invocation) {
	opts, _ := options(x.args(), "v")
	o, ok := find(opts, "-v")
	if len(x.words) > 1 && !x.words[1].known && strings.HasPrefix(strings.TrimLeft(x.words[1].text, `"`), "$") {
		x.opaque("printf may set a variable")
	}
	if !ok {
		return
	}
	if !o.value.known || !syntax.ValidName(o.value.text) {
		x.opaque("a variable is set whose name is not known")
		return
	}
	x.assign(o.value.text, field{}, x.scope, x.source)
}

func judgeLet(x *invocation) {
	for _, f := range x.args() {
		if !f.known || strings.ContainsAny(f.text, "[$`") {
			x.opaque("arithmetic on a text that is not known")
		}
	}
	x.scope.wild = true
}

func judgeTest(x *invocation) {
	words := x.args()
	for i, f := range words {
		if i+1 < len(words) && !f.plain() && !words[i+1].plain() {
			x.opaque("test may be given an operator that evaluates a name")
		}
		if i+1 < len(words) && in(f.text, "-v -R") {
			if next := words[i+1]; !next.known || strings.Contains(next.text, "[") {
				x.opaque("a name with an index is evaluated, which can run commands")
			}
		}
	}
}

func judgeSet(x *invocation) {
	words := x.args()
	if setsKeywords(words) {
		x.opaque("words with \"=\" become variables of later commands")
	}
	for i, f := range words {
		switch {
		case !f.known:
			x.opaque("the options of the shell are not known")
			x.scope.blind = true
			return
		case f.text == "--":
			x.scope.args, x.scope.blind = words[i+1:], false
			return
		case in(f.text, "-o +o"):
			continue
		case !strings.HasPrefix(f.text, "-") && !strings.HasPrefix(f.text, "+"):
			if i > 0 && takesName(words[i-1].text) {
				continue
			}
			x.scope.args, x.scope.blind = words[i:], false
			return
		}
	}
}

func judgeShopt(x *invocation) {
	for _, f := range x.args() {
		if !in(f.text, "-s -u -q -p globstar nullglob dotglob extglob failglob nocaseglob inherit_errexit lastpipe huponexit") {
			x.opaque("an option of the shell changes how words are read")
		}
	}
}
