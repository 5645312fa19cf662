package judge

import (
	"strings"
)

// judgeInterpreter programs run a script, which rules can allow by its name. What
// comes from standard input has none.
func judgeInterpreter(x *invocation) {
	opts, operands := options(x.args(), "c e p r m W X E eval print require import")
	code := false
	clusteredCode(x)
	for _, o := range opts {
		if o.given && in(o.name, "-c -e -r -E -p -n --eval --print") || strings.HasSuffix(o.name, "e") {
			x.code(o.value)
		}
		code = code || o.given && in(o.name, "-c -e -r -m -E")
	}
	if len(operands) > 1 && in(operands[0].text, "eval") {
		x.code(operands[1])
	}
	if x.stdin.piped && x.stdin.known {
		x.code(field{text: x.stdin.text, known: true})
	}
	if len(operands) > 0 && operands[0].known {
		for _, file := range x.scope.resolve(operands[0].text) {
			x.code(field{text: x.written[file].text, known: true})
		}
	}
	if x.stdin.piped && !x.stdin.known && !code && (len(operands) == 0 || operands[0].text == "-" || strings.HasPrefix(operands[0].text, "/dev/")) && len(opts) == 0 {
		x.opaque(x.base + " runs what it reads from standard input")
	}
	if len(operands) > 0 && operands[0].proc {
		x.opaque(x.base + " runs what it reads, which is not known")
	}
}

// clusteredCode notes code that follows a cluster of options, such as "-lne", and files
// that are pipes in disguise.
func clusteredCode(x *invocation) {
	letters := ""
	switch x.base {
	case "perl", "ruby":
		letters = "eE"
	case "php":
		letters = "BREr"
	default:
		return
	}
	words := x.args()
	for i, f := range words {
		if i+1 < len(words) && clusterOf(f.text, letters) {
			x.code(words[i+1])
		}
		if x.base == "perl" && (strings.HasPrefix(f.text, "|") || strings.HasSuffix(f.text, "|")) {
			x.runsScript(field{text: strings.Trim(f.text, "| "), known: f.known})
		}
	}
}

// judgeDuckdb has commands of its own that run others, as words or on standard input.
func judgeDuckdb(x *invocation) {
	x.wordsWith("duckdb can run commands", ".sh", ".sys")
	if strings.Contains(x.stdin.text, ".sh") || strings.Contains(x.stdin.text, ".sys") {
		x.opaque("duckdb can run commands that it reads")
	}
}

// judgeExiftool takes programs in Perl among its words.
func judgeExiftool(x *invocation) {
	for _, f := range x.args() {
		x.code(f)
	}
}

// clusterOf reports whether a word is a cluster of short options that ends in one
// of the letters.
func clusterOf(word, letters string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(letters, word[len(word)-1]) >= 0
}
