// Package look is how things look on the screen: its width, colours and marks, and the
// lines that its parts have in common.
package look

import (
	"fmt"
	"strings"
	"time"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/picture"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Look is everything that a drawing depends on besides its content. Equal looks draw
// the same content alike.
type Look struct {
	Width    int
	Method   styled.Method
	Theme    *theme.Theme
	MD       *markdown.Styles
	ASCII    bool
	Details  bool // tools show all of their output
	Thinking bool // reasoning is unfolded
	Pictures picture.Mode
	Child    string // the key that leads to the session of a subagent
	Back     string // the key that leads from there to its parent
	Times    bool   // messages show when they were written
	Raw      bool   // Markdown is shown as it was written
	Stacked  bool   // changes are never drawn in two columns
	Flowing  bool   // lines stay in the terminal's scrollback, which breaks them anew when it is resized
	Name     string // name shown at prompts; empty for none
	Aside    bool   // the person writes beside what is drawn: keys go there
	Say      say.Language
}

// T returns a text of the screen's own in the person's language.
func (l Look) T(english string) string { return l.Say.Text(english) }

// Hint is T for what keys do, one after the other.
func (l Look) Hint(english string) string {
	if l.Say == say.English {
		return english
	}
	parts := strings.Split(english, " · ")
	for i, p := range parts {
		parts[i] = l.T(p)
	}
	return strings.Join(parts, " · ")
}

// Glyph returns a mark, or its replacement on a screen without unicode.
func (l Look) Glyph(unicode, ascii string) string {
	if l.ASCII {
		return ascii
	}
	return unicode
}

func (l Look) FG(k theme.Key, attrs ...styled.Style) styled.Style { return l.Theme.FG(k, attrs...) }

// Row draws a line of a list, marked or not.
func (l Look) Row(line styled.Line, marked bool) styled.Line {
	bg := l.Theme.BG(theme.Panel)
	point := styled.Span{Text: "  "}
	if marked && !l.Aside {
		bg = l.Theme.BG(theme.Element)
		point = styled.Span{Text: l.Glyph("❯ ", "> "), Style: l.FG(theme.Primary, styled.Bold)}
	}
	return append(styled.Line{point}, line...).Cut(l.Width, l.Method).Pad(l.Width, l.Method, "").Over(bg)
}

// Title draws the first line of a sheet: its name and what keys do. Where there is no room for
// all of them, the last are left out first.
func (l Look) Title(text, hint string) styled.Line {
	if l.Aside {
		hint = "you are writing · tab turns to this"
	}
	left := styled.Plain(" "+l.T(text)+" ", l.FG(theme.Primary, styled.Bold))
	keys := strings.Split(l.Hint(hint), " · ")
	room := l.Width - left.Width(l.Method) - 6
	for len(keys) > 1 && styled.Width(strings.Join(keys, " · "), l.Method) > room {
		keys = keys[:len(keys)-1]
	}
	right := styled.Plain(" "+strings.Join(keys, " · ")+" ", l.FG(theme.Muted))
	dash := l.Glyph("─", "-")
	fill := l.Width - left.Width(l.Method) - right.Width(l.Method) - 2
	rule := func(n int) styled.Line { return styled.Plain(strings.Repeat(dash, n), l.FG(theme.Border)) }
	if fill < 2 {
		left = left.Cut(l.Width-4, l.Method)
		return styled.Join(rule(2), left, rule(l.Width-2-left.Width(l.Method)))
	}
	return styled.Join(rule(2), left, rule(fill), right)
}

func (l Look) Divider(text string) styled.Line {
	text = l.T(text)
	dash := l.Glyph("─", "-")
	side := max(2, (min(l.Width, 80)-styled.Width(text, l.Method)-4)/2)
	line := strings.Repeat(dash, side) + " " + text + " " + strings.Repeat(dash, side)
	return styled.Plain(" "+line, l.FG(theme.Muted))
}

func (l Look) Indent(lines []styled.Line) []styled.Line {
	out := make([]styled.Line, len(lines))
	for i, line := range lines {
		if len(line) > 0 {
			out[i] = append(styled.Line{{Text: "   "}}, line...)
		}
	}
	return out
}

// Counts says how many lines were added and removed.
func (l Look) Counts(added, removed int) styled.Line {
	return styled.Line{
		{Text: fmt.Sprintf("+%d", added), Style: l.FG(theme.Success)}, {Text: " "},
		{Text: fmt.Sprintf("%s%d", l.Glyph("−", "-"), removed), Style: l.FG(theme.Error)},
	}
}

// Ending returns the end of a path, which says more than its beginning.
func (l Look) Ending(path string, room int) string {
	wide := styled.Width(path, l.Method)
	if wide <= room {
		return path
	}
	for path != "" && wide > room-1 {
		c, w := styled.Cluster(path, l.Method)
		path, wide = path[max(1, len(c)):], wide-w
	}
	return l.Glyph("…", "~") + path
}

// Todo draws an entry of a task list.
func (l Look) Todo(status, content string) styled.Line {
	mark, style := l.Glyph("☐", "[ ]"), l.FG(theme.Text)
	switch status {
	case "completed":
		mark, style = l.Glyph("☑", "[x]"), l.FG(theme.Muted)
	case "in_progress":
		mark, style = l.Glyph("▶", "[~]"), l.FG(theme.Accent, styled.Bold)
	case "cancelled":
		mark, style = l.Glyph("☒", "[-]"), l.FG(theme.Muted, styled.Strike)
	}
	return styled.Plain(mark+" "+styled.OneLine(content), style)
}

func Duration(d time.Duration) string {
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

func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return Duration(d)
}

func Short(n int64) string {
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

func Or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func VariantText(ref lathe.ModelRef) string {
	if ref.Variant == "" {
		return ""
	}
	return " (" + ref.Variant + ")"
}

// Day names the day of a time.
func (l Look) Day(t, now time.Time) string {
	t = t.In(now.Location())
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	switch {
	case !t.Before(today):
		return l.T("today")
	case !t.Before(today.AddDate(0, 0, -1)):
		return l.T("yesterday")
	case l.Say == say.Chinese:
		return t.Format("2006年1月2日 ") + l.T(t.Weekday().String())
	}
	return t.Format("Monday 2 January 2006")
}
