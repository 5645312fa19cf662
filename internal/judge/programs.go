package judge

import (
	"slices"
	"strings"
)

// program judges programs with options that run others, and those that run what
// they read.
func (x *invocation) program() {
	if list := x.prog.executes; list != "" {
		for _, f := range x.args() {
			if hasOption(f.text, list) {
				x.opaque("the option " + f.text + " of " + x.base + " can run or change other things")
			}
		}
	}
	x.runner()
	if more := addition(x.prog.judge); more != nil {
		more(x)
	}
	if len(x.prog.signs) > 0 {
		x.wordsWith(x.prog.because, x.prog.signs...)
	}
}

// addition returns the function of programs about which a row says much, but not all.
func addition(name string) func(*invocation) {
	switch name {
	case "elsewhere":
		return judgeElsewhere
	case "editor":
		return judgeEditor
	case "pager":
		return judgePager
	case "make":
		return judgeMake
	case "cmake":
		return judgeCmake
	case "tar":
		return judgeTar
	case "interpreter":
		return judgeInterpreter
	case "npm", "gh":
		return judgeSettings
	case "duckdb":
		return judgeDuckdb
	case "bus":
		return judgeBus
	case "openssl":
		return judgeOpenssl
	case "exiftool":
		return judgeExiftool
	case "go":
		return judgeGo
	}
	return nil
}

// hasOption reports whether a word gives one of the options: long ones may be
// shortened or carry a value, short ones stand in a cluster or carry a value.
func hasOption(word, list string) bool {
	if !strings.HasPrefix(word, "-") || word == "-" || word == "--" {
		return false
	}
	name, _, _ := strings.Cut(word, "=")
	for o := range strings.FieldsSeq(list) {
		switch {
		case name == o, word == o:
			return true
		case strings.HasPrefix(o, "--"):
			if len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(o, name) {
				return true
			}
		case len(o) == 2 && !strings.HasPrefix(word, "--") && strings.IndexByte(word[1:], o[1]) >= 0:
			return true
		case len(o) > 2 && strings.HasPrefix(word, o):
			return true
		}
	}
	return false
}

// judgeEditor judges programs that run commands given to them in many ways. Nothing
// can be ruled out for them.
func judgeEditor(x *invocation) {
	takesInput(x)
	if x.prog.is("waits") && !x.stdin.piped && !scripted(x) {
		x.out.Waits = x.base
	}
	x.opaque(x.base + " can run commands and change files")
}

// judgePager judges programs that show or edit a file and can run commands: only a plain
// list of files is harmless.
func judgePager(x *invocation) {
	takesInput(x)
	if in(x.base, "bc dc") && x.stdin.piped && (!x.stdin.known || strings.Contains(x.stdin.text, "!")) {
		x.opaque(x.base + " can run commands that it reads")
	}
	for _, f := range x.args() {
		if x.base == "dc" && strings.Contains(f.text, "!") || in(x.base, "nano pico") && hasOption(f.text, "-s --speller -f --rcfile") {
			x.opaque(x.base + " can run commands by its options")
		}
		if strings.HasPrefix(f.text, "+") || hasOption(f.text, "-k --lesskey-file --lesskey-content -o -O --log-file --LOG-FILE -x -P") {
			x.opaque(x.base + " can run commands by its options")
		}
	}
}

func takesInput(x *invocation) {
	if x.stdin.piped && !x.prog.is("input-is-data") {
		x.opaque(x.base + " takes commands from standard input")
	}
}

// scripted reports whether an editor's options tell it what to do.
func scripted(x *invocation) bool {
	for _, f := range x.args() {
		if !f.known || strings.HasPrefix(f.text, "+") || hasOption(f.text, "-c -S -s -e -E -es -Es --cmd --headless --version -h --help -W -w -l") {
			return true
		}
	}
	return false
}

func judgeMake(x *invocation) { makeWords(x, x.args()) }

// judgeCmake passes what follows "--" to the builder.
func judgeCmake(x *invocation) {
	for i, f := range x.args() {
		if f.text == "--" {
			makeWords(x, x.args()[i+1:])
		}
	}
}

func makeWords(x *invocation, words []field) {
	for _, f := range words {
		name, value, given := strings.Cut(f.text, "=")
		switch {
		case hasOption(f.text, "--eval --file --makefile -f -E --include-dir -I --directory -C --justfile --working-directory -d --taskfile -t"):
			x.opaque(x.base + " takes its rules from elsewhere")
		case given && !strings.HasPrefix(name, "-") &&
			(in(strings.TrimRight(name, ":?!+"), "SHELL .SHELLFLAGS MAKEFLAGS MAKE MAKEFILES") || strings.ContainsAny(value, "$`")):
			x.opaque("the variable " + name + " changes what make runs")
		case given && !strings.HasPrefix(name, "-"): // its rules may run it: CC=x
			x.runsScript(field{text: value, known: f.known})
		}
	}
	if x.stdin.piped && x.stdin.text != "" {
		x.opaque(x.base + " may read its rules from standard input")
	}
}

// wordsWith marks the command if a word has one of the signs.
func (x *invocation) wordsWith(reason string, signs ...string) {
	for _, f := range x.args() {
		for _, sign := range signs {
			if strings.Contains(strings.ToLower(f.text), sign) {
				x.opaque(reason)
			}
		}
	}
}

// judgeSettings judges commands that change what the program itself runs later.
func judgeSettings(x *invocation) {
	words := x.args()
	if x.base == "npm" {
		npmOpens(x)
	}
	if len(words) < 2 {
		return
	}
	switch x.base + " " + words[0].text {
	case "gh repo":
		if i := slices.IndexFunc(words, func(f field) bool { return f.text == "--" }); i > 0 && slices.ContainsFunc(words[i:], func(f field) bool {
			return hasOption(f.text, "-u --upload-pack -c --config --template")
		}) {
			x.opaque("the options for git can make it run commands")
		}
	case "npm config", "npm c":
		if !in(words[1].text, "get list ls") {
			x.opaque("the settings of npm can make it run commands")
		}
	case "npm set":
		x.opaque("the settings of npm can make it run commands")
	case "npm pkg":
		if words[1].text == "set" {
			for _, f := range words[2:] {
				if name, script, ok := strings.Cut(f.text, "="); ok && strings.HasPrefix(name, "scripts") {
					x.runsScript(field{text: script, known: f.known})
				}
			}
		}
	case "gh alias", "gh extension":
		if !in(words[1].text, "list ls search browse") {
			x.opaque("gh can be made to run commands by its aliases and extensions")
		}
	}
}

func judgeGo(x *invocation) {
	for _, f := range x.args() {
		if hasGoOption(f.text, "exec toolexec vettool modfile overlay C pkgdir") || strings.Contains(f.text, "-extld") {
			x.opaque("the option " + f.text + " of go can run or change other things")
		}
	}
	if len(x.words) > 2 && x.words[1].text == "env" && hasOption(x.words[2].text, "-w -u") {
		x.opaque("go env -w changes what later commands do")
	}
}

// hasGoOption knows the options of the go command, with one dash or two.
func hasGoOption(word, list string) bool {
	name, dashed := strings.CutPrefix(word, "-")
	name, _ = strings.CutPrefix(name, "-")
	name, _, _ = strings.Cut(name, "=")
	return dashed && in(name, list)
}

// judgeSed judges its script: "w", "W" and "e" write files and run commands.
func judgeSed(x *invocation) {
	opts, operands := permuted(x.args(), "e f l expression file line-length")
	given := false
	for _, o := range opts {
		switch o.name {
		case "-e", "--expression":
			given = true
			sedScript(x, o.value)
		case "-f", "--file":
			given = true
			x.opaque("sed takes its script from a file")
		}
		if strings.HasPrefix("--expression", o.name) && len(o.name) > 3 && o.name != "--expression" || strings.HasPrefix("--file", o.name) && len(o.name) > 3 && o.name != "--file" {
			x.opaque("sed has a shortened option")
		}
	}
	if !given && len(operands) > 0 {
		sedScript(x, operands[0])
		operands = operands[1:]
	}
	inPlace := false
	for _, o := range opts {
		inPlace = inPlace || o.name == "-i" || o.name == "-I" || strings.HasPrefix(o.name, "--in")
	}
	for _, f := range operands {
		if inPlace {
			x.writes(f, PathUse{})
		} else {
			x.reads(f, PathUse{})
		}
	}
}

func sedScript(x *invocation, f field) {
	if !f.known {
		x.opaque("the script of sed is not known")
		return
	}
	if why := sedDanger(f.text); why != "" {
		x.opaque("the script of sed " + why)
	}
}

// sedDanger walks a sed script by its grammar and says what it does besides
// editing; anything unusual counts.
func sedDanger(script string) string {
	for i := 0; i < len(script); {
		i = sedAddress(script, i)
		if i >= len(script) {
			return ""
		}
		c := script[i]
		i++
		switch c {
		case ';', '\n', ' ', '\t', '{', '}', '!':
		case 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'x', '=', 'z', 'F':
		case 'q', 'Q':
			for i < len(script) && (script[i] >= '0' && script[i] <= '9' || script[i] == ' ') {
				i++
			}
		case '#', 'a', 'i', 'c', ':', 'b', 't', 'T':
			end := strings.IndexAny(script[i:], map[bool]string{true: "\n", false: "\n;}"}[strings.IndexByte("#aic", c) >= 0])
			if end < 0 {
				return ""
			}
			i += end
		case 's', 'y':
			var flags string
			var ok bool
			if i, flags, ok = sedSubstitution(script, i, c); !ok {
				return "cannot be judged"
			}
			if strings.ContainsAny(flags, "ew") {
				return "runs commands or writes files"
			}
		default: // e, w, W, r, R and unknown ones
			return "runs commands, or reads or writes files"
		}
	}
	return ""
}

func sedAddress(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', strings.IndexByte("$,~+ \t;\n", c) >= 0:
			i++
		case c == '/':
			i = sedRegexp(s, i+1, '/')
		case c == '\\' && i+1 < len(s):
			i = sedRegexp(s, i+2, s[i+1])
		case (c == 'I' || c == 'M') && i > 0:
			i++
		default:
			return i
		}
	}
	return i
}

// sedRegexp returns where the text up to the delimiter ends. A slash inside
// brackets ends it in some versions of sed and not in others; the shorter
// reading leaves more to judge.
func sedRegexp(s string, i int, delim byte) int {
	for i < len(s) && s[i] != delim {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	return min(i+1, len(s))
}

func sedSubstitution(s string, i int, kind byte) (next int, flags string, ok bool) {
	if i >= len(s) || s[i] == '\\' || s[i] == '\n' {
		return i, "", false
	}
	delim := s[i]
	i++
	for range 2 {
		if strings.IndexByte(s[i:], delim) < 0 {
			return i, "", false
		}
		i = sedRegexp(s, i, delim)
	}
	if kind == 'y' {
		return i, "", true
	}
	from := i
	for i < len(s) && strings.IndexByte("gpiImMew0123456789", s[i]) >= 0 {
		i++
	}
	return i, s[from:i], i == len(s) || strings.IndexByte(";\n }#", s[i]) >= 0
}

// judgeAwk judges its program: it can run commands and write files.
func judgeAwk(x *invocation) {
	opts, operands := options(x.args(), "F f v i l E e D L field-separator file assign include load exec source dump-variables lint")
	given := false
	for _, o := range opts {
		switch o.name {
		case "-e", "--source":
			given = true
			awkProgram(x, o.value)
		case "-F", "--field-separator", "-v", "--assign", "--lint", "--posix", "--traditional", "--version", "-V", "--csv", "-k", "-S", "--sandbox", "-b", "-t", "--re-interval", "-r":
		default:
			given = given || o.name != "-n"
			x.opaque("the option " + o.name + " of awk can run or change other things")
		}
	}
	if !given && len(operands) > 0 {
		awkProgram(x, operands[0])
		operands = operands[1:]
	}
	for _, f := range operands {
		if !assignment(f.text) {
			x.reads(f, PathUse{})
		}
	}
}

func awkProgram(x *invocation, f field) {
	if !f.known {
		x.opaque("the program of awk is not known")
		return
	}
	if awkDanger(f.text) {
		x.opaque("the program of awk can run commands or write files")
	}
}

// awkDanger reports whether a program, without its string literals, contains
// what runs commands or writes files. Regular expressions are not left out:
// finding where they begin takes a parser, and one that contains such a sign
// merely causes a question.
func awkDanger(program string) bool {
	code := awkCode(program)
	for _, sign := range []string{"system", "getline", "@", "close", "fflush", "extension"} {
		if strings.Contains(code, sign) {
			return true
		}
	}
	if strings.Contains(strings.ReplaceAll(code, "||", ""), "|") {
		return true
	}
	for _, part := range strings.FieldsFunc(code, func(r rune) bool { return r == ';' || r == '{' || r == '}' || r == '\n' }) {
		if i := strings.Index(part, "print"); i >= 0 && strings.Contains(part[i:], ">") {
			return true
		}
	}
	return false
}

func awkCode(program string) string {
	if strings.Contains(program, "/") || strings.Count(program, `"`)%2 == 1 {
		return program // a quote may be inside a regular expression: nothing is left out
	}
	var out strings.Builder
	for i := 0; i < len(program); i++ {
		if program[i] == '"' {
			end := sedRegexp(program, i+1, '"')
			out.WriteString(`""`)
			i = end - 1
			continue
		}
		out.WriteByte(program[i])
	}
	return out.String()
}

// judgeTar unpacks into a directory or writes an archive.
func judgeTar(x *invocation) {
	words := x.args()
	if len(words) > 0 && words[0].known && words[0].text != "" && words[0].text[0] != '-' { // the old style
		words = append([]field{{text: "-" + words[0].text, known: true}}, words[1:]...)
		if strings.ContainsAny(words[0].text, "IF") {
			x.opaque("tar runs another program")
		}
	}
	opts, operands := permuted(words, "f C T X b g K N V H file directory exclude files-from exclude-from strip-components transform xform format owner group mode mtime one-file-system-opt")
	dir := field{text: ".", known: true}
	if o, ok := find(opts, "-C", "--directory"); ok && o.given {
		dir = o.value
	}
	file, named := find(opts, "-f", "--file")
	if named && strings.Contains(file.value.text, ":") {
		x.opaque("tar reaches an archive on another machine")
	}
	switch {
	case has(opts, "-x", "--extract", "--get"):
		if has(opts, "-P", "--absolute-names") {
			x.opaque("tar writes wherever the archive says")
		}
		x.writes(dir, PathUse{Tree: true})
		x.reads(file.value, PathUse{})
	case has(opts, "-c", "-r", "-u", "-A", "--create", "--append", "--update"):
		x.writes(file.value, PathUse{})
		for _, f := range operands {
			x.reads(f, PathUse{Dir: true, Tree: true})
		}
	default:
		x.reads(file.value, PathUse{})
	}
}

func has(opts []option, names ...string) bool {
	_, ok := find(opts, names...)
	return ok
}
