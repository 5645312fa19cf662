package judge

import (
	"os"
	"strings"
	"testing"
)

// TestSpellingsAreSeen holds for each class of ways to run a program that a rule for the
// program matches, or that a person is asked about what cannot be judged; and that no class
// is only a handful of spellings.
func TestSpellingsAreSeen(t *testing.T) {
	raw, err := os.ReadFile("testdata/spellings.txt")
	if err != nil {
		t.Fatal(err)
	}
	classes := strings.Split(string(raw), "\n## ")
	if len(classes) < 15 {
		t.Fatalf("only %d classes were read", len(classes))
	}
	for _, class := range classes[1:] {
		name, text, _ := strings.Cut(class, "\n")
		t.Run(name, func(t *testing.T) {
			scripts := strings.Split(strings.TrimSpace(text), "\n")
			if len(scripts) < 10 {
				t.Errorf("only %d spellings", len(scripts))
			}
			for _, script := range scripts {
				if !tells(Analyze(strings.ReplaceAll(script, `\n`, "\n"), testEnv())) {
					t.Errorf("runs unseen: %q", script)
				}
			}
		})
	}
}
