package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dispatch judges what a command runs or changes by its nature.
func (x *invocation) dispatch() {
	judge := exception(x.prog.judge)
	if judge == nil && x.words[0].text == x.base { // a program in a directory is not the shell's own
		judge = builtin(x.prog.judge)
	}
	switch {
	case x.prog.wraps.how != "":
		x.wrap(x.prog.wraps)
	case judge != nil:
		judge(x)
	default:
		x.program()
	}
}

// exception returns the function for programs whose command line no row can
// describe: they take other commands, or programs in some language, among their
// words.
func exception(name string) func(*invocation) {
	switch name {
	case "shell":
		return judgeShell
	case "foreign":
		return judgeForeign
	case "env":
		return judgeEnv
	case "xargs":
		return judgeXargs
	case "find":
		return judgeFind
	case "git":
		return judgeGit
	case "sed":
		return judgeSed
	case "awk":
		return judgeAwk
	case "command":
		return judgeCommand
	}
	return nil
}

func judgeForeign(x *invocation) { x.opaque(x.base + " speaks another language") }

// wrap judges programs that run the command given to them.
func (x *invocation) wrap(how wrapping) {
	valued := x.prog.values + " " + how.script
	opts, rest := options(x.args(), valued)
	if how.how == "script" { // they take options after the user or file too
		opts, rest = permuted(x.args(), valued)
	}
	for _, o := range opts {
		if o.given && in(strings.TrimLeft(o.name, "-"), how.script) {
			x.innerScript(o.value, nil)
		}
	}
	if how.how == "words" {
		x.words2script(opts, rest)
		return
	}
	x.wrapped(how, opts, rest)
	for len(rest) > 0 && how.skip == 0 && how.how != "script" && assignment(rest[0].text) && x.base != "nohup" { // sudo X=1 cmd; nohup would run it
		x.assigned(rest[0])
		rest = rest[1:]
	}
	switch {
	case how.how == "script" || how.skip >= len(rest):
	case how.how == "here": // cd and the like work on this shell
		x.here(rest)
	default:
		x.inner(rest[how.skip:])
	}
}

// wrapped judges what programs do besides running the command given to them.
func (x *invocation) wrapped(how wrapping, opts []option, rest []field) {
	if in("unfollowed", how.marks) && len(x.words) > 1 && !has(opts, "--version") {
		x.opaque(x.base + " runs commands in ways that are not followed")
	}
	if in("loose", how.marks) {
		x.anyOf(x.args())
	}
	if o, ok := find(opts, "-o", "--output"); ok && in(x.base, "time gtime") { // what follows the command is not theirs
		x.writes(o.value, PathUse{})
	}
	if x.base == "runuser" && has(opts, "-u", "--user") { // it takes a command then
		x.inner(rest)
	}
	if x.prog.is("runs-input") && x.stdin.piped {
		x.opaque(x.base + " runs what it reads")
	}
}

// anyOf notes that the command may begin at any of the words: which options take a
// value differs between versions.
func (x *invocation) anyOf(words []field) {
	for i := range min(len(words), 6) {
		if x.named(words[i]) {
			x.runs(joinWords(words[i:]))
		}
	}
}

// words2script judges words that are joined and given to a shell.
func (x *invocation) words2script(opts []option, rest []field) {
	if _, ok := find(opts, "-x", "--exec"); ok {
		x.inner(rest)
		return
	}
	for _, f := range rest {
		if !f.known {
			x.opaque(x.base + " runs a script that is not known")
			return
		}
	}
	if len(rest) > 0 {
		x.innerScript(field{text: joinWords(rest), known: true}, nil)
	}
}

func assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && syntax.ValidName(name)
}

func (x *invocation) assigned(f field) {
	name, text, _ := strings.Cut(f.text, "=")
	if steers(name, field{text: text, known: f.known}) {
		x.opaque("the variable " + name + " changes what later commands do")
	}
}

func judgeEnv(x *invocation) {
	opts, rest := options(x.args(), "u C S unset chdir split-string")
	if o, ok := find(opts, "-S", "--split-string"); ok {
		words := []field{}
		for _, word := range strings.Fields(o.value.text) {
			words = append(words, field{text: word, known: o.value.known && !strings.ContainsAny(word, `$\'"`)})
		}
		x.opaque("env splits a text into words")
		rest = append(words, rest...)
	}
	if o, ok := find(opts, "-C", "--chdir"); ok {
		x.reads(o.value, PathUse{Dir: true})
		x.scope = x.scope.clone()
		x.scope.enter(o.value, x.env.Home)
	}
	for len(rest) > 0 && (strings.Contains(rest[0].text, "=") || rest[0].text == "-") {
		x.assigned(rest[0])
		rest = rest[1:]
	}
	if len(rest) > 0 {
		x.inner(rest)
	}
}

func judgeCommand(x *invocation) {
	opts, rest := options(x.args(), "")
	if _, ok := find(opts, "-v", "-V"); !ok && len(rest) > 0 {
		x.here(rest)
	}
}

// here judges a command that runs in this shell. A function with its name is
// judged as well, which may be more than runs.
func (x *invocation) here(words []field) {
	x.depth++
	x.run(words, x.scope, joinWords(words))
	x.depth--
}

// judgeShell judges a call of a shell: a script in a word, in standard input or in a file.
func judgeShell(x *invocation) {
	words := x.args()
	if setsKeywords(words) {
		x.opaque("words with \"=\" become variables of later commands")
	}
	for len(words) > 0 {
		text := words[0].text
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		words = words[1:]
		switch {
		case text == "--":
		case in(text, "--rcfile --init-file"):
			x.opaque("a shell reads its setup from another file")
			words = words[min(1, len(words)):]
			continue
		case strings.HasPrefix(text, "--"):
			continue
		case strings.Contains(text, "c") && text[0] == '-':
			shellScript(x, words)
			return
		case strings.HasSuffix(text, "o"), strings.HasSuffix(text, "O"):
			words = words[min(1, len(words)):]
			continue
		case strings.Contains(text, "s"):
			words = nil
		default:
			continue
		}
		break
	}
	if len(words) > 0 {
		shellFile(x, words[0])
		return
	}
	switch {
	case !x.stdin.piped:
	case x.stdin.known:
		x.innerScript(field{text: x.stdin.text, known: true}, nil)
	default:
		x.opaque("a shell runs what it reads, which is not known")
	}
}

// shellScript takes the words after -c.
func shellScript(x *invocation, words []field) {
	for len(words) > 0 && len(words[0].text) > 1 && (words[0].text[0] == '-' || words[0].text[0] == '+') {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	x.innerScript(words[0], words[min(2, len(words)):])
}

func shellFile(x *invocation, f field) {
	if f.proc || !f.known || strings.HasPrefix(f.text, "/dev/") || strings.HasPrefix(f.text, "/proc/") || f.text == "-" {
		x.opaque("a shell runs what it reads, which is not known")
		return
	}
	x.reads(f, PathUse{})
	x.wrote(f)
	if f.glob && len(x.written) > 0 {
		x.opaque("a shell runs a file that may have been written before")
	}
}

func judgeXargs(x *invocation) {
	opts, rest := options(x.args(), "a d E I L n P s arg-file delimiter max-args max-procs max-chars max-lines process-slot-var replace")
	if len(rest) == 0 {
		return
	}
	words := slices.Clone(rest)
	holder := ""
	if o, ok := find(opts, "-I", "--replace"); ok && o.given {
		holder = o.value.text
	} else if _, ok := find(opts, "-i"); ok {
		holder = "{}"
	}
	replaced := false
	for i, f := range words {
		if holder != "" && strings.Contains(f.text, holder) {
			words[i].known, words[i].safe, words[i].multi, replaced = false, false, false, true
		}
	}
	if !replaced {
		words = append(words, field{text: "<input>", multi: true})
	}
	x.inner(words)
}

func judgeFind(x *invocation) {
	args := x.args()
	var starts []field
	for len(args) > 0 && in(args[0].text, "-H -L -P") {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && !in(args[0].text, "( ! )") {
		starts, args = append(starts, args[0]), args[1:]
	}
	if len(starts) == 0 {
		starts = []field{{text: ".", known: true}}
	}
	for _, f := range starts {
		x.reads(f, PathUse{Dir: true})
	}
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; text {
		case "-exec", "-execdir", "-ok", "-okdir":
			i = findExec(x, args, i+1, starts)
		case "-delete":
			for _, f := range starts {
				x.writes(f, PathUse{Tree: true})
			}
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			if i+1 < len(args) {
				x.writes(args[i+1], PathUse{})
			}
		case "-files0-from":
			x.opaque("find reads its starting points")
		}
	}
}

// findExec judges the command of an action and returns where it ends. What is
// found takes the place of "{}".
func findExec(x *invocation, args []field, from int, starts []field) int {
	to := from
	for to < len(args) && args[to].text != ";" && (args[to].text != "+" || args[to-1].text != "{}") {
		to++
	}
	words := slices.Clone(args[from:to])
	for i, f := range words {
		if strings.Contains(f.text, "{}") {
			words[i] = field{text: f.text, safe: f.text == "{}" && allKnown(starts) && !leadingDash(starts)}
		}
	}
	if len(words) > 0 {
		x.inner(words)
	}
	return to
}

// leadingDash: what find prints begins with its starting point, so it is no
// option unless that is one.
func leadingDash(starts []field) bool {
	return slices.ContainsFunc(starts, func(f field) bool { return strings.HasPrefix(f.text, "-") })
}
