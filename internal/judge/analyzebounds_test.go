package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAnalyzeIsBounded feeds what grows without end where it is not stopped: then
// the test does not end either. Verbose tells what each takes.
func TestAnalyzeIsBounded(t *testing.T) {
	var vars strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&vars, "a%d=1; (b);", i)
	}
	scripts := map[string]string{
		"doubled text":    "x=aaaaaaaa; " + strings.Repeat("x=$x$x; ", 200) + "$x",
		"doubled words":   "set -- a b; " + strings.Repeat(`set -- "$@" "$@"; `, 200) + `"$@"`,
		"words in a word": "set -- a b c d e f g h; " + strings.Repeat(`set -- $@$@$@$@ $@$@$@$@ $@$@; `, 50),
		"functions":       "f(){ f;f;f;f; }; while f; do f; done",
		"loops":           strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 20) + "ls" + strings.Repeat("; done", 20),
		"braces":          "echo " + strings.Repeat("{a,b}", 60),
		"sequence":        "echo {1..999999999}{1..999999999}",
		"nested braces":   "echo " + strings.Repeat("{a,", 300) + strings.Repeat("}", 300),
		"substitutions":   strings.Repeat("$(echo ", 190) + strings.Repeat(")", 190),
		"parentheses":     strings.Repeat("(", 100000),
		"arithmetic":      strings.Repeat("((", 150) + "1" + strings.Repeat("))", 150),
		"closed":          strings.Repeat("(", 390) + "ls" + strings.Repeat(")", 390),
		"backticks":       strings.Repeat("`", 100000),
		"quotes":          strings.Repeat(`"$(`, 390),
		"if":              strings.Repeat("if a; then ", 20000),
		"not":             strings.Repeat("! ", 50000) + "a",
		"pipes":           strings.Repeat("echo a | ", 5000) + "sh",
		"and":             strings.Repeat("a && ", 20000) + "b",
		"eval":            strings.Repeat("eval ", 10000) + "a",
		"variables":       vars.String(),
		"commands":        strings.Repeat("$x;", 60000),
		"documents":       strings.Repeat("cat <<E\n$(", 300),
		"unary":           "((" + strings.Repeat("- ", 50000) + "1))",
		"tests":           "[[ " + strings.Repeat("! ", 50000) + "a ]]",
		"cases":           strings.Repeat("case a in a) ", 10000),
		"sudo":            strings.Repeat("sudo ", 20000) + "ls",
	}
	for name, script := range scripts {
		begin := time.Now()
		a := Analyze(script, testEnv())
		t.Logf("%s: %v, %d commands", name, time.Since(begin), len(a.Commands))
	}
}
