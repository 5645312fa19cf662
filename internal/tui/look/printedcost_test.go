package look

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/tui/theme"
)

// output is what a test run prints.
func output(lines int, coloured bool) string {
	var b strings.Builder
	for i := range lines {
		line := fmt.Sprintf("\x1b[32mok\x1b[0m   \x1b[1;34mexample.org/package/%05d\x1b[0m  \x1b[38;5;%dm0.%03ds\x1b[0m  漢字\n", i, i%256, i%1000)
		if !coloured {
			line = fmt.Sprintf("ok   example.org/package/%05d  0.%03ds  漢字\n", i, i%1000)
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestPrintedGrowsWithItsLength holds that ten times as much output, in as many colours as there
// are, takes about ten times as many allocations to draw: all of it, and the end of it for a card.
func TestPrintedGrowsWithItsLength(t *testing.T) {
	th := theme.Default(true)
	l := Look{Theme: th}
	cost := func(lines, most int) float64 {
		text := output(lines, true)
		return testing.AllocsPerRun(1, func() {
			if got, before := l.Printed(text, most, ""); len(got)+before != lines {
				t.Fatalf("%d of %d lines", len(got)+before, lines)
			}
		})
	}
	few, many := cost(500, 1<<30), cost(5000, 1<<30)
	if many > 13*few {
		t.Errorf("500 lines take %.0f allocations, 5,000 take %.0f", few, many)
	}
	short, long := cost(500, 8), cost(5000, 8)
	if long > 13*short {
		t.Errorf("8 of 500 lines take %.0f allocations, 8 of 5,000 take %.0f", short, long)
	}
}

// BenchmarkPrinted draws all that a command printed.
func BenchmarkPrinted(b *testing.B) {
	for _, lines := range []int{5_000, 50_000} {
		for _, coloured := range []bool{false, true} {
			text := output(lines, coloured)
			b.Run(fmt.Sprintf("lines=%d/coloured=%t", lines, coloured), func(b *testing.B) {
				l := Look{Theme: theme.Default(true)}
				b.ReportAllocs()
				for b.Loop() {
					l.Printed(text, 1<<30, "")
				}
			})
		}
	}
}
