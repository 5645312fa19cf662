package shell

import (
	"strings"
)

// clustered notes code that follows a cluster of options, such as "-lne", and files
// that are pipes in disguise.
func (x *invocation) clustered() {
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

// inTheirLanguage judges programs that take words in a language of their own, which
// has a way to run others.
func (x *invocation) inTheirLanguage() {
	switch x.base {
	case "duckdb":
		x.wordsWith("duckdb can run commands", ".sh", ".sys")
		if strings.Contains(x.stdin.text, ".sh") || strings.Contains(x.stdin.text, ".sys") {
			x.opaque("duckdb can run commands that it reads")
		}
	case "exiftool":
		for _, f := range x.args() {
			x.code(f)
		}
	case "pdflatex", "latex", "xelatex", "lualatex", "tex", "pdftex", "luatex":
		x.wordsWith("TeX can run commands", `\write18`, `\directlua`, `\input|`)
	}
}

// clusterOf reports whether a word is a cluster of short options that ends in one
// of the letters.
func clusterOf(word, letters string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(letters, word[len(word)-1]) >= 0
}
