package sandbox

import (
	"slices"
	"strings"
)

// Seatbelt returns the policy as a profile for macOS. In a profile the last
// matching rule counts. It has not been tried on a Mac yet.
func (policy *Policy) Seatbelt() string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n(deny file-write*)\n")
	rule(&b, "allow file-write*", slices.Concat(policy.Write, policy.Given, []string{"/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/fd"}))
	b.WriteString("(allow file-write* (regex #\"^/dev/ttys[0-9]+$\"))\n")
	rule(&b, "deny file-write*", policy.guarded())
	rule(&b, "deny file-read* file-write*", policy.Hide)
	rule(&b, "allow file-read*", slices.Concat(policy.Show, policy.Given))
	rule(&b, "allow file-write*", policy.Given)
	b.WriteString("(deny process-info* (target others))\n(allow process-info* (target same-sandbox))\n")
	b.WriteString("(deny signal (target others))\n(allow signal (target same-sandbox))\n")
	return b.String()
}

// rule writes one rule for paths and everything in them.
func rule(b *strings.Builder, what string, paths []string) {
	if len(paths) == 0 {
		return
	}
	b.WriteString("(" + what)
	for _, path := range paths {
		b.WriteString("\n  (subpath \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + "\")")
	}
	b.WriteString(")\n")
}
