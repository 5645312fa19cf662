package claude

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Matchers are JavaScript's regular expressions, look-around and references included.
func TestMatcher(t *testing.T) {
	subjects := []string{"Bash", "Edit", "Write", "NotebookEdit", "mcp__github__search", "mcp__files__read"}
	for pattern, want := range map[string][]string{
		"":                         subjects,
		"*":                        subjects,
		"Bash|Write":               {"Bash", "Write"},
		"Edit":                     {"Edit"},
		"Edit$":                    {"Edit", "NotebookEdit"},
		"mcp__.*":                  {"mcp__github__search", "mcp__files__read"},
		"^(?!Bash$|mcp__).*":       {"Edit", "Write", "NotebookEdit"},
		"mcp__(?!github__).+":      {"mcp__files__read"},
		"(?<!Notebook)Edit":        {"Edit"},
		"^(?=.*__)(?=.*read).*$":   {"mcp__files__read"},
		`(_)\1`:                    {"mcp__github__search", "mcp__files__read"},
		`^(?<first>mcp)(?!.*git)`:  {"mcp__files__read"},
		`^(?!\d)\w+$`:              subjects,
		"^(?:(?!mcp)[A-Z][a-z]+)$": {"Bash", "Edit", "Write"},
	} {
		fits, err := matcher(pattern)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		got := slices.DeleteFunc(slices.Clone(subjects), func(s string) bool { return !fits(s) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", pattern, diff)
		}
	}
	for _, broken := range []string{"(", "[", "(?!x", `(?<n>a)\k<m>(?!b)`} {
		if _, err := matcher(broken); err == nil {
			t.Errorf("%q is taken", broken)
		}
	}
}

// An expression that explodes ends, and its hook is called.
func TestMatcherThatExplodes(t *testing.T) {
	fits, err := matcher(`^(?!x)(\w+\s?)*$`)
	if err != nil {
		t.Fatal(err)
	}
	if !fits(strings.Repeat("a", 64) + "!") {
		t.Error("a matcher without an answer keeps its hook from being called")
	}
}

// Whatever is written as a matcher is either understood or refused, and ends.
func FuzzMatcher(f *testing.F) {
	for _, s := range []string{"Bash", "^(?!Bash)", "(?<=a)b", `\1(`, "[^]", "(?i)x", "a{2,1}", "\xff(?!"} {
		f.Add(s, "mcp__github__search")
	}
	f.Fuzz(func(t *testing.T, pattern, subject string) {
		if fits, err := matcher(pattern[:min(len(pattern), 200)]); err == nil {
			fits(subject[:min(len(subject), 200)])
		}
	})
}
