package judge

import (
	"slices"
	"strings"
)

// runner notes the program that a package manager or environment runs for its
// caller. A person who allows "npx *" means that program, so only denials count
// for it.
func (x *invocation) runner() {
	args := x.args()
	for _, lead := range x.prog.runs {
		rest, found := after(args, strings.Fields(lead))
		if !found {
			continue
		}
		for i := range min(len(rest), 6) { // which options take a value differs by version
			if x.named(rest[i]) {
				x.runs(joinWords(rest[i:]))
			}
			if name, ok := x.packaged(rest[i].text); ok {
				x.runs(joinWords(append([]field{{text: name, known: true}}, rest[i+1:]...)))
			}
		}
		for i, f := range rest {
			if value, ok := scriptOption(f.text); ok {
				x.runsScript(field{text: value, known: f.known})
			} else if i+1 < len(rest) && (in(f.text, "-c --call --run --command --shell-mode -x --exec") || shellCommand(rest[:i], f.text)) {
				x.runsScript(rest[i+1])
			}
			if f.known && strings.Contains(f.text, " ") && x.prog.is("quoted-scripts") {
				x.runsScript(f)
			}
		}
		return
	}
}

// after returns the words that follow a lead. Options may stand before it, and anything
// before "--".
func after(args []field, lead []string) (rest []field, found bool) {
	for i := range args {
		if i > 0 && !strings.HasPrefix(args[0].text, "-") && !slices.Equal(lead, []string{"--"}) {
			break
		}
		if len(args)-i < len(lead) {
			break
		}
		if startsWith(args[i:], lead) {
			return args[i+len(lead):], true
		}
	}
	return args, len(lead) == 0
}

// packaged returns the program of a package that a word names with its scope, version, or
// for deno registry: "zap" for "npm:@x/zap@1". An address such as git@host:path is none.
func (x *invocation) packaged(word string) (program string, ok bool) {
	name := word
	if x.base == "deno" { // elsewhere "npm:x" is a script of package.json
		name = strings.TrimPrefix(strings.TrimPrefix(word, "npm:"), "jsr:")
	}
	if strings.HasPrefix(name, "@") {
		_, name, _ = strings.Cut(name, "/")
	}
	name, version, _ := strings.Cut(name, "@")
	return name, name != "" && name != word && !strings.ContainsAny(name+version, "/:")
}

// shellCommand reports whether a word is the option of a shell, named in the words
// before, that is followed by a script: "-ec" in "bash -ec".
func shellCommand(before []field, word string) bool {
	return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") &&
		slices.ContainsFunc(before, func(f field) bool {
			return in(programs().canonical(baseName(f.text)), "bash sh dash zsh ksh ash mksh busybox")
		})
}

func scriptOption(word string) (string, bool) {
	for _, name := range []string{"--call=", "--run=", "--command="} {
		if value, ok := strings.CutPrefix(word, name); ok {
			return value, true
		}
	}
	return "", false
}

func startsWith(args []field, want []string) bool {
	for i, word := range want {
		if args[i].text != word {
			return false
		}
	}
	return true
}

// runsScript notes the commands of a script that only denials count for.
func (x *invocation) runsScript(f field) {
	if !f.known || x.depth >= maxDepth {
		x.runs(f.text)
		return
	}
	q := x.quiet()
	q.depth++
	if err := q.script(f.text, x.scope.clone()); err != nil {
		x.runs(f.text)
		return
	}
	for _, c := range q.out.Commands {
		x.runs(c.Text)
		x.runs(c.Also...)
		x.runs(c.Runs...)
	}
}

// code notes what may be commands in a program given as a word, if the program
// looks as if it ran any. Its language is not parsed.
func (x *invocation) code(f field) {
	if len(f.text) > maxText || !slices.ContainsFunc([]string{"system", "exec", "spawn", "popen", "Popen", "subprocess", "child_process", "`", "shell", "Open3", "qx", "%x", "pty", "fork", "import os", `"|`, `|"`, `'|`, `|'`},
		func(sign string) bool { return strings.Contains(f.text, sign) }) {
		return
	}
	for part := range strings.FieldsFuncSeq(f.text, func(r rune) bool { return strings.ContainsRune("\n\"'`;()[]{}|&", r) }) {
		if words := strings.Fields(part); len(words) > 0 {
			x.runs(strings.Join(words, " "))
			if in(words[0], "exec system spawn !") {
				x.runs(strings.Join(words[1:], " "))
			}
		}
	}
}
