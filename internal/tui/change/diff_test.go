package change

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

func FuzzDraw(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n")
	f.Add("@@ -x +y @@\n\n\\ no newline")
	l := look.Look{Theme: theme.Default(true), Method: styled.WcWidth}
	f.Fuzz(func(t *testing.T, text string) {
		for _, width := range []int{40, 160} {
			for _, l := range Draw(l, text, width) {
				if w := l.Width(styled.WcWidth); w > width && len(l.Text()) > 40 {
					t.Fatalf("%d wide: %q", w, l.Text())
				}
			}
		}
	})
}

// TestNumbersLeaveOneColumn holds that code begins in one column after the numbers of its lines,
// however long they are, and that its tabs are as wide as in an editor.
func TestNumbersLeaveOneColumn(t *testing.T) {
	const text = "@@ -9998,4 +9998,5 @@\n \ta\n-\tif b {\n+\tif c {\n+\t\tx\t= 1\n \td\n \te\n"
	for width, want := range map[int][]string{
		60: {" 9998       a", " 9999 -     if b {", " 9999 +     if c {", "10000 +         x   = 1", "10001       d", "10002       e"},
		150: {
			" 9998       a" + strings.Repeat(" ", 60) + " │  9998       a", " 9999 -     if b {" + strings.Repeat(" ", 55) + " │  9999 +     if c {",
			strings.Repeat(" ", 73) + " │ 10000 +         x   = 1", "10000       d" + strings.Repeat(" ", 60) + " │ 10001       d", "10001       e" + strings.Repeat(" ", 60) + " │ 10002       e",
		},
	} {
		var got []string
		for _, line := range Draw(look.Look{Theme: theme.Default(true), Method: styled.WcWidth}, text, width) {
			got = append(got, strings.TrimRight(line.Text(), " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d wide (-want +got):\n%s", width, diff)
		}
	}
}
