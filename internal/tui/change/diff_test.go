package change

import (
	"testing"

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
