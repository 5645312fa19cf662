package judge

import (
	"slices"
	"strings"
)

func judgeElsewhere(x *invocation) { x.opaque(x.base + " runs commands elsewhere") }

// judgeBus judges programs that have others do something, by a message on the bus. Those
// that only look at what is there are harmless.
func judgeBus(x *invocation) {
	words := x.args()
	asks := x.base == "dbus-send" && len(words) > 0
	asks = asks || strings.HasPrefix(x.base, "qdbus") && len(words) > 2 // service, path, method
	for _, f := range words {
		asks = asks || !f.known || in(f.text, "call set-property emit")
	}
	if asks {
		x.opaque("another program does what " + x.base + " asks of it")
	}
}

// judgeOpenssl judges "openssl engine", which loads libraries: by a path, or by the
// commands that its options give to the engine that loads others.
func judgeOpenssl(x *invocation) {
	words := x.args()
	if len(words) == 0 || words[0].text != "engine" {
		return
	}
	for _, f := range words[1:] {
		if !f.known || strings.ContainsRune(f.text, '/') || strings.HasSuffix(f.text, ".so") || in(strings.TrimLeft(f.text, "-"), "pre post") {
			x.opaque("openssl engine can run the code of a library")
		}
	}
}

// npmOpens judges the options that name the programs with which npm shows something. What
// follows "--" is not npm's.
func npmOpens(x *invocation) {
	words := x.args()
	if i := slices.IndexFunc(words, func(f field) bool { return f.text == "--" }); i >= 0 {
		words = words[:i]
	}
	for i, f := range words {
		name, value, given := strings.Cut(f.text, "=")
		if !in(name, "--editor --viewer --browser") {
			continue
		}
		program := field{text: value, known: f.known}
		if !given && i+1 < len(words) {
			program = words[i+1]
		}
		x.runsScript(program)
	}
}
