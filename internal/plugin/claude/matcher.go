package claude

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2"
)

// matchLimit is how long a backtracking expression may take. Names of tools are short, so
// only an expression that explodes comes near it.
const matchLimit = 100 * time.Millisecond

// plain reports whether a matcher is names alone.
func plain(pattern string) bool {
	return !strings.ContainsFunc(pattern, func(r rune) bool {
		return !strings.ContainsRune("_|- ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// matcher returns what a matcher fits: names that are separated by "|" are compared whole,
// anything else is a regular expression of JavaScript that may fit a part. An empty one and
// "*" fit all.
func matcher(pattern string) (func(string) bool, error) {
	if pattern == "" || pattern == "*" {
		return func(string) bool { return true }, nil
	}
	if plain(pattern) {
		names := strings.Split(pattern, "|")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		return func(subject string) bool { return slices.Contains(names, subject) }, nil
	}
	if re, err := regexp.Compile(pattern); err == nil {
		return re.MatchString, nil
	}
	return backtracking(pattern)
}

// backtracking understands what Go's expressions leave out: look-ahead, look-behind and
// references to groups. If an expression takes too long, it fits: a hook that refuses calls
// is rather called once too often.
func backtracking(pattern string) (func(string) bool, error) {
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchLimit
	return func(subject string) bool {
		fits, err := re.MatchString(subject)
		return fits || err != nil
	}, nil
}
