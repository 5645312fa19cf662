package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// TestChangedWordsAreMarked holds that what differs within a line stands out in whole
// words, without colours too, and nothing where a line is simply another one.
func TestChangedWordsAreMarked(t *testing.T) {
	for _, tt := range []struct {
		name, diff string
		want       []string
	}{
		{"a word", "@@ -1 +1 @@\n-return hello(name)\n+return goodbye(name)\n", []string{"hello", "goodbye"}},
		{"an addition", "@@ -1 +1 @@\n-f(a)\n+f(a, b)\n", []string{", b"}},
		{"chinese", "@@ -1 +1 @@\n-床前明月光\n+床前日月光\n", []string{"明", "日"}},
		{"another line", "@@ -1 +1 @@\n-alpha beta gamma\n+x\n", nil},
		{"more lines than before", "@@ -1 +1,2 @@\n-f(a)\n+f(b)\n+g()\n", nil},
		{"the same words", "@@ -1 +1 @@\n-f(a)\n+f(a)\n", nil},
	} {
		var got []string
		for _, width := range []int{80, 160} {
			got = nil
			for _, line := range Draw(look.Look{Theme: theme.Default(true), Method: styled.WcWidth}, tt.diff, width) {
				for _, s := range line {
					if len(s.Style) > len(marked) && s.Style[len(s.Style)-len(marked):] == marked {
						got = append(got, s.Text)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %d wide (-want +got):\n%s", tt.name, width, diff)
			}
		}
	}
}
