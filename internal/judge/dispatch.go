package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dispatch judges what a command runs or changes by its nature.
func (x *invocation) dispatch() {
	if spec, ok := wrapper(x.base); ok {
		x.wrap(spec)
		return
	}
	switch x.base {
	case "bash", "sh", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "yash", "oksh":
		x.shell()
	case "fish", "nu", "tcsh", "csh", "pwsh", "powershell", "cmd", "elvish", "xonsh", "rc", "es":
		x.opaque(x.base + " speaks another language")
	case "env":
		x.environment()
	case "xargs":
		x.xargs()
	case "find", "gfind", "bfs":
		x.find()
	case "git":
		x.git()
	case "sed", "gsed":
		x.sed()
	case "awk", "gawk", "mawk", "nawk", "original-awk", "busybox-awk":
		x.awk()
	case "command":
		x.commandBuiltin()
	default:
		if !x.builtin() {
			x.program()
		}
	}
}

// spec says how a wrapper's command line leads to the command it runs.
type spec struct {
	valued string // options with a value
	skip   int    // operands before the command
	script string // options whose value is a script
}

// wrapper returns the spec of commands that run the command given to them.
func wrapper(name string) (spec, bool) {
	switch name {
	case "nohup", "builtin", "noglob", "nocorrect", "setsid", "unbuffer", "busybox", "toybox", "linux32", "linux64", "catchsegv", "eatmydata", "torsocks":
		return spec{}, true
	case "caffeinate", "dbus-run-session", "fakeroot", "proxychains", "proxychains4", "setarch", "pkexec", "cgexec", "firejail", "bwrap":
		return spec{valued: "g f p w t"}, true
	case "nice":
		return spec{valued: "n adjustment"}, true
	case "ionice":
		return spec{valued: "c n p P u class classdata"}, true
	case "timeout", "gtimeout":
		return spec{valued: "s k signal kill-after", skip: 1}, true
	case "time", "gtime":
		return spec{valued: "f o format output"}, true
	case "stdbuf":
		return spec{valued: "i o e input output error"}, true
	case "chrt", "taskset", "repeat":
		return spec{skip: 1}, true
	case "sudo", "doas":
		return spec{valued: "u g h p C r t U D R T a c user group host prompt chdir chroot close-from role type other-user"}, true
	case "exec":
		return spec{valued: "a"}, true
	case "strace", "ltrace", "perf", "valgrind":
		return spec{valued: "o e p u s a E I P S X"}, true
	case "flock":
		return spec{valued: "w E timeout conflict-exit-code", skip: 1, script: "c command"}, true
	case "chroot":
		return spec{valued: "userspec groups", skip: 1}, true
	case "unshare", "nsenter", "setpriv", "systemd-run", "systemd-inhibit", "prlimit", "numactl", "xvfb-run", "capsh":
		return spec{valued: "t S G w p u M C n s e a M slice unit setenv property"}, true
	case "su", "runuser":
		return spec{valued: "g G s w u shell group supp-group user whitelist-environment", skip: 1 << 20, script: "c command session-command"}, true
	case "script":
		return spec{valued: "E I O B T m o log-out log-in", skip: 1 << 20, script: "c command"}, true
	case "watch":
		return spec{valued: "n q interval equexit"}, true
	case "entr", "gdb", "lldb", "rlwrap", "hyperfine", "chpst", "softlimit", "envdir", "setuidgid", "direnv", "dotenv", "op", "aws-vault", "parallel", "ssh-agent", "start-stop-daemon", "daemon", "daemonize", "at", "batch", "crontab", "expect", "tmux", "screen", "zellij":
		return spec{valued: "n d e u f"}, true
	}
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || name == "ld.so" {
		return spec{valued: "library-path preload inhibit-rpath argv0 audit"}, true
	}
	return spec{}, false
}

func (x *invocation) wrap(sp spec) {
	opts, rest := options(x.args(), sp.valued+" "+sp.script)
	if in(x.base, "su runuser script") { // take options after the user or file, too
		opts, rest = permuted(x.args(), sp.valued+" "+sp.script)
	}
	for _, o := range opts {
		if o.given && in(strings.TrimLeft(o.name, "-"), sp.script) {
			x.innerScript(o.value, nil)
		}
	}
	switch x.base {
	case "watch", "hyperfine":
		x.words2script(opts, rest)
		return
	case "time", "gtime":
		if o, ok := find(opts, "-o", "--output"); ok {
			x.writes(o.value, PathUse{})
		}
	case "parallel", "entr", "gdb", "lldb", "direnv", "ssh-agent", "at", "batch", "crontab", "expect", "tmux", "screen", "zellij", "strace", "ltrace", "perf":
		if !slices.ContainsFunc(opts, func(o option) bool { return o.name == "--version" }) && len(x.words) > 1 {
			x.opaque(x.base + " runs commands in ways that are not followed")
		}
	case "exec":
		if len(rest) == 0 {
			return
		}
	case "unshare", "nsenter", "setpriv", "systemd-run", "prlimit", "numactl", "xvfb-run", "capsh", "setarch", "firejail", "bwrap", "cgexec", "dbus-run-session", "pkexec",
		"op", "dotenv", "aws-vault", "chpst", "setuidgid", "envdir", "softlimit":
		x.anyOf(x.args())
	case "runuser":
		if _, ok := find(opts, "-u", "--user"); ok {
			x.inner(rest)
		}
	}
	if in(x.base, "su runuser at batch") && x.stdin.piped {
		x.opaque(x.base + " runs what it reads")
	}
	for len(rest) > 0 && sp.skip == 0 && assignment(rest[0].text) && x.base != "nohup" { // sudo X=1 cmd
		x.assigned(rest[0])
		rest = rest[1:]
	}
	switch {
	case sp.skip >= len(rest):
	case in(x.base, "builtin exec noglob nocorrect"): // cd and the like work on this shell
		x.here(rest)
	default:
		x.inner(rest[sp.skip:])
	}
}

// anyOf notes that the command may begin at any of the words: which option takes a
// value is not known of every version.
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

func (x *invocation) environment() {
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

func (x *invocation) commandBuiltin() {
	opts, rest := options(x.args(), "")
	if _, ok := find(opts, "-v", "-V"); !ok && len(rest) > 0 {
		x.here(rest)
	}
}

// here judges a command that runs in this shell. A function of its name is judged
// as well, which may be more than runs.
func (x *invocation) here(words []field) {
	x.depth++
	x.run(words, x.scope, joinWords(words))
	x.depth--
}

// shell judges a call of a shell: a script in a word, in standard input or in a file.
func (x *invocation) shell() {
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
			x.shellScript(words)
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
		x.shellFile(words[0])
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
func (x *invocation) shellScript(words []field) {
	for len(words) > 0 && len(words[0].text) > 1 && (words[0].text[0] == '-' || words[0].text[0] == '+') {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	x.innerScript(words[0], words[min(2, len(words)):])
}

func (x *invocation) shellFile(f field) {
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

func (x *invocation) xargs() {
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

func (x *invocation) find() {
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
			i = x.findExec(args, i+1, starts)
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
func (x *invocation) findExec(args []field, from int, starts []field) int {
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
