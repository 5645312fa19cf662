package judge

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// attacks are the scripts of testdata/attacks.txt, and some with characters that
// do not show there.
func attacks(t testing.TB) []string {
	raw, err := os.ReadFile("testdata/attacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := []string{
		"ls\rzap", "ls\r\nzap\r\n", "# a comment\rzap", "z\\\nap", "cat <<E | sh\nzap\nE", "sh <<E\nzap\nE", "sh <<'E'\nzap\nE", "cat <<E\n$(zap)\nE",
		"cat <<-E\n\t`zap`\n\tE", "bash <<-E\n\tzap\n\tE", "ls \\\n; zap", "ls\x0bzap\n zap", "eval \"\nzap\"", "x='\nzap'; eval \"$x\"", "ls\u2028zap; zap",
		"ls #\nzap", "if true\nthen zap\nfi", "cat > x.sh <<E\nzap\nE\nbash x.sh", "python3 - <<E\nimport os; os.system('zap')\nE",
		"readonly x=zap\nx=ls\n$x", "x=zap\nreadonly x\nx=ls\n$x", "declare -r x=zap\nx=ls\n$x", "f() { local -r x=zap\nx=ls\n$x; }; f", "readonly x=zap\nfor x in ls; do $x; done",
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// tells reports whether an analysis shows that zap runs, or says that it cannot tell
// what runs.
func tells(a Analysis) bool {
	if a.Unparsed != nil {
		return true
	}
	return slices.ContainsFunc(a.Commands, func(c Cmd) bool {
		texts := slices.Concat(c.Also, c.Runs, []string{c.Text})
		return c.Dynamic || slices.ContainsFunc(texts, func(text string) bool { return text == "zap" || strings.HasPrefix(text, "zap ") })
	})
}

// No script runs a program unseen: a rule for the program matches, or a person is
// asked about what cannot be judged.
func TestAttacksAreSeen(t *testing.T) {
	for _, script := range attacks(t) {
		if !tells(Analyze(script, testEnv())) {
			t.Errorf("runs unseen: %q", script)
		}
	}
}
