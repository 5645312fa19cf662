package edit

import (
	"strings"
	"testing"

	"lathe/internal/tui/styled"
)

// TestOneRow holds that a row always has the text at the caret, whatever its width, and that the
// caret's cell is right behind what stands before it.
func TestOneRow(t *testing.T) {
	all := "short, 漢字かな交じり文 and é👍🏽 then more than fits"
	for width := 1; width < 70; width++ {
		for at := range all + " " {
			if styled.Width(all[:at], styled.Grapheme)+styled.Width(all[at:], styled.Grapheme) != styled.Width(all, styled.Grapheme) {
				continue // within a cluster
			}
			text, caret := OneRow(all, at, width, styled.Grapheme)
			if w := styled.Width(text, styled.Grapheme); w > max(width, 2) {
				t.Fatalf("width %d: %q takes %d", width, text, w)
			}
			if caret < 0 || width > 3 && caret >= width {
				t.Fatalf("width %d: the caret is in cell %d", width, caret)
			}
			shown, rest := "", text
			for styled.Width(shown, styled.Grapheme) < caret && rest != "" {
				c, _ := styled.Cluster(rest, styled.Grapheme)
				shown, rest = shown+c, rest[len(c):]
			}
			if before := strings.TrimPrefix(shown, "…"); width > 3 && !strings.HasSuffix(all[:at], before) {
				t.Fatalf("width %d, caret behind %q: before it stands %q", width, all[:at], shown)
			}
		}
	}
}
