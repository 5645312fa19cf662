package permission

import (
	"strings"
	"unicode/utf8"

	"lathe"
)

// Match reports whether the whole text matches the pattern: "*" is any run of
// characters, slashes and newlines too, "?" is one character, "[*]" and "[?]" are
// the characters themselves, and a backslash is a slash on both sides. A pattern
// that ends in " *" also matches without that ending: "git status *" is also
// "git status". The time is at most the product of the lengths.
func Match(pattern, text string) bool {
	if match(pattern, text) {
		return true
	}
	bare, ok := strings.CutSuffix(pattern, " *")
	return ok && match(bare, text)
}

// Literal is [lathe.LiteralPattern].
func Literal(text string) string { return lathe.LiteralPattern(text) }

type kind byte

const (
	end  kind = iota
	char      // one given character
	one       // any one character
	run       // any run of characters
)

// token reads the first token of a pattern and returns what follows it.
func token(p string) (k kind, r rune, rest string) {
	switch {
	case p == "":
		return end, 0, ""
	case p[0] == '*':
		return run, 0, p[1:]
	case p[0] == '?':
		return one, 0, p[1:]
	case strings.HasPrefix(p, "[*]"), strings.HasPrefix(p, "[?]"):
		return char, rune(p[1]), p[3:]
	}
	r, rest = next(p)
	return char, r, rest
}

// next reads one character; bytes that are not UTF-8 count as one each.
func next(s string) (rune, string) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return -rune(s[0]), s[1:]
	}
	if r == '\\' {
		r = '/'
	}
	return r, s[n:]
}

func match(pattern, text string) bool {
	var retryPattern, retryText string // after the last "*"
	starred := false
	for {
		k, r, rest := token(pattern)
		if k == run {
			pattern, starred = rest, true
			retryPattern, retryText = pattern, text
			continue
		}
		if text == "" {
			return k == end
		}
		c, after := next(text)
		if k == one || k == char && r == c {
			pattern, text = rest, after
			continue
		}
		if !starred {
			return false
		}
		_, retryText = next(retryText)
		pattern, text = retryPattern, retryText
	}
}

// matchAll reports whether the pattern surely matches every text that begins
// with the prefix.
func matchAll(pattern, prefix string) bool {
	return strings.HasSuffix(pattern, "*") && match(pattern, prefix)
}

// matchSome reports whether the pattern matches a text that begins with the prefix.
func matchSome(pattern, prefix string) bool {
	if bare, ok := strings.CutSuffix(pattern, " *"); ok && viable(bare, prefix) {
		return true
	}
	return viable(pattern, prefix)
}

// viable follows all ways to match the prefix at once. A state is the rest of
// the pattern, identified by its length.
func viable(pattern, prefix string) bool {
	states := spread(map[int]bool{}, pattern)
	for prefix != "" && len(states) > 0 {
		var c rune
		c, prefix = next(prefix)
		after := map[int]bool{}
		for n := range states {
			k, r, rest := token(pattern[len(pattern)-n:])
			switch {
			case k == run:
				after[n] = true
				spread(after, rest)
			case k == one, k == char && r == c:
				spread(after, rest)
			}
		}
		states = after
	}
	return len(states) > 0
}

// spread adds the state and those that a "*" reaches without a character.
func spread(states map[int]bool, pattern string) map[int]bool {
	states[len(pattern)] = true
	for {
		k, _, rest := token(pattern)
		if k != run {
			return states
		}
		states[len(rest)] = true
		pattern = rest
	}
}

// Evaluate returns the last rule of all rulesets, in order, that matches. Without
// one it is an asking rule for exactly that request.
func Evaluate(permission, pattern string, rulesets ...[]lathe.Rule) lathe.Rule {
	for i := len(rulesets) - 1; i >= 0; i-- {
		for j := len(rulesets[i]) - 1; j >= 0; j-- {
			r := rulesets[i][j]
			if covers(r, permission, pattern) {
				return r
			}
		}
	}
	return lathe.Rule{Permission: permission, Pattern: "*", Action: lathe.AskMe}
}

// covers reports whether a rule is about a request.
func covers(r lathe.Rule, permission, pattern string) bool {
	if !Match(r.Permission, permission) {
		return false
	}
	if permission == Network {
		return matchHost(r.Pattern, pattern)
	}
	return Match(r.Pattern, pattern)
}

// EvaluateUnder judges a request for anything that begins with the prefix: it
// allows or denies only if every such request would be, and asks otherwise.
func EvaluateUnder(permission, prefix string, rulesets ...[]lathe.Rule) lathe.Action {
	possible := map[lathe.Action]bool{lathe.AskMe: true}
	for _, rules := range rulesets {
		for _, r := range rules {
			switch {
			case !Match(r.Permission, permission):
			case matchAll(r.Pattern, prefix):
				possible = map[lathe.Action]bool{r.Action: true}
			case matchSome(r.Pattern, prefix):
				possible[r.Action] = true
			}
		}
	}
	for _, action := range []lathe.Action{lathe.Allow, lathe.Deny, lathe.Review} {
		if possible[action] && len(possible) == 1 {
			return action
		}
	}
	return lathe.AskMe
}

// Hidden reports whether a tool with the permission name is not worth offering:
// the last rule for it denies everything.
func Hidden(permission string, rules []lathe.Rule) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if Match(rules[i].Permission, permission) {
			return rules[i].Pattern == "*" && rules[i].Action == lathe.Deny
		}
	}
	return false
}
