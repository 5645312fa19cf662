package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// put sets a variable. A variable that does not hold what it was assigned, such
// as a read-only one, counts as unknown from then on.
func (s *scope) put(name string, v value) {
	if s.vars[name].pinned {
		v = value{pinned: true}
	}
	s.vars[name] = v
}

// pin notes that later assignments say nothing about what a variable holds. Its
// current value stays known if keep is set.
func (s *scope) pin(name string, keep bool) {
	v := s.vars[name]
	if !keep {
		v = value{}
	}
	v.pinned = true
	s.vars[name] = v
}

// attributes pins the variables that a declaration makes read-only, or whose
// letters it changes.
func (w *walker) attributes(c *syntax.DeclClause, s *scope) {
	fixed, cased := c.Variant.Value == "readonly", false
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			f := w.quiet().single(a.Value, s.clone())
			fixed, cased = fixed || hasLetter(f.text, "r"), cased || hasLetter(f.text, "luc")
		}
	}
	if !fixed && !cased {
		return
	}
	for _, a := range c.Args {
		if a.Name != nil {
			s.pin(a.Name.Value, !cased)
		}
	}
}

// hasLetter reports whether a cluster of options has one of the letters.
func hasLetter(text, letters string) bool {
	return strings.HasPrefix(text, "-") && strings.ContainsAny(text, letters)
}

// pinTrapped pins the variables that a trap sets: it may run at any time, unless it
// waits for the end of the shell.
func pinTrapped(x *invocation, after *scope, signals []field) {
	if !slices.ContainsFunc(signals, func(f field) bool { return !in(f.text, "EXIT 0 SIGEXIT exit") }) {
		return
	}
	x.scope.wild = x.scope.wild || after.wild
	x.scope.ifs = x.scope.ifs || after.ifs
	for name, v := range after.vars {
		if old, ok := x.scope.vars[name]; !ok || old != v {
			x.scope.pin(name, false)
		}
	}
}

// setsKeywords reports whether a shell's options make it treat NAME=value as a
// variable anywhere among a command's words.
func setsKeywords(words []field) bool {
	for i, f := range words {
		switch {
		case len(f.text) < 2 || f.text[0] != '-' && f.text[0] != '+' || f.text == "--":
			return false
		case strings.HasPrefix(f.text, "--"):
			continue
		case hasLetter(f.text, "k"), strings.HasSuffix(f.text, "o") && i+1 < len(words) && words[i+1].text == "keyword":
			return true
		case strings.HasSuffix(f.text, "o"), strings.HasSuffix(f.text, "O"):
			return setsKeywords(words[min(i+2, len(words)):])
		}
	}
	return false
}

// takesName reports whether the name of an option of the shell follows a word, as
// after "-euo".
func takesName(word string) bool {
	return len(word) > 1 && (word[0] == '-' || word[0] == '+') && word[1] != '-' && strings.Contains(word, "o")
}
