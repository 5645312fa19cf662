package tui

import (
	"fmt"
	"strings"
	"time"

	"lathe"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/picture"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// look is everything that the drawing of a message depends on beside itself.
type look struct {
	width    int
	method   styled.Method
	theme    *theme.Theme
	md       *markdown.Styles
	ascii    bool
	details  bool // tools show all of their output
	thinking bool // reasoning is unfolded
	pictures picture.Mode
	child    string // the key that leads to the session of a subagent
	times    bool   // messages tell when they were written
	raw      bool   // Markdown is shown as it was written
	stacked  bool   // changes are never drawn in two columns
	name     string // who wrote the prompts; empty: they do not tell
}

// glyph returns a mark, or what stands for it where there is no unicode.
func (l look) glyph(unicode, ascii string) string {
	if l.ascii {
		return ascii
	}
	return unicode
}

func (l look) fg(k theme.Key, attrs ...styled.Style) styled.Style { return l.theme.FG(k, attrs...) }

// row draws a line of a list, marked or not.
func (l look) row(line styled.Line, marked bool) styled.Line {
	bg := l.theme.BG(theme.Panel)
	point := styled.Span{Text: "  "}
	if marked {
		bg = l.theme.BG(theme.Element)
		point = styled.Span{Text: l.glyph("❯ ", "> "), Style: l.fg(theme.Primary, styled.Bold)}
	}
	return append(styled.Line{point}, line...).Cut(l.width, l.method).Pad(l.width, l.method, "").Over(bg)
}

// title draws the first line of a sheet: its name and what keys do.
func (l look) title(text, hint string) styled.Line {
	left := styled.Plain(" "+text+" ", l.fg(theme.Primary, styled.Bold))
	right := styled.Plain(" "+hint+" ", l.fg(theme.Muted))
	dash := l.glyph("─", "-")
	fill := l.width - left.Width(l.method) - right.Width(l.method) - 2
	rule := func(n int) styled.Line { return styled.Plain(strings.Repeat(dash, n), l.fg(theme.Border)) }
	if fill < 2 {
		left = left.Cut(l.width-4, l.method)
		return styled.Join(rule(2), left, rule(l.width-2-left.Width(l.method)))
	}
	return styled.Join(rule(2), left, rule(fill), right)
}

func (l look) divider(text string) styled.Line {
	dash := l.glyph("─", "-")
	side := max(2, (min(l.width, 80)-len(text)-4)/2)
	line := strings.Repeat(dash, side) + " " + text + " " + strings.Repeat(dash, side)
	return styled.Plain(" "+line, l.fg(theme.Muted))
}

func (l look) indent(lines []styled.Line) []styled.Line {
	out := make([]styled.Line, len(lines))
	for i, line := range lines {
		if len(line) > 0 {
			out[i] = append(styled.Line{{Text: "   "}}, line...)
		}
	}
	return out
}

// counts tells how many lines were added and removed.
func (l look) counts(added, removed int) styled.Line {
	return styled.Line{
		{Text: fmt.Sprintf("+%d", added), Style: l.fg(theme.Success)}, {Text: " "},
		{Text: fmt.Sprintf("%s%d", l.glyph("−", "-"), removed), Style: l.fg(theme.Error)},
	}
}

// ending returns the end of a path, which tells more than its beginning.
func (l look) ending(path string, room int) string {
	wide := styled.Width(path, l.method)
	if wide <= room {
		return path
	}
	for path != "" && wide > room-1 {
		c, w := styled.Cluster(path, l.method)
		path, wide = path[max(1, len(c)):], wide-w
	}
	return l.glyph("…", "~") + path
}

// todo draws an entry of a task list.
func (l look) todo(status, content string) styled.Line {
	mark, style := l.glyph("☐", "[ ]"), l.fg(theme.Text)
	switch status {
	case "completed":
		mark, style = l.glyph("☑", "[x]"), l.fg(theme.Muted)
	case "in_progress":
		mark, style = l.glyph("▶", "[~]"), l.fg(theme.Accent, styled.Bold)
	case "cancelled":
		mark, style = l.glyph("☒", "[-]"), l.fg(theme.Muted, styled.Strike)
	}
	return styled.Plain(mark+" "+styled.OneLine(content), style)
}

func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return duration(d)
}

func short(n int64) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func variantText(ref lathe.ModelRef) string {
	if ref.Variant == "" {
		return ""
	}
	return " (" + ref.Variant + ")"
}
