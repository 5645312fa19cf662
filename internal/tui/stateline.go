package tui

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// segment is a piece of the state line. Where they do not all fit, those of the
// least worth go first.
type segment struct {
	line  styled.Line
	worth int
	right bool
}

// statusLine is the last line: agent, model and place on the left; what the
// window holds, cost, cache, time and connection on the right.
func (a *App) statusLine() styled.Line {
	l := a.look
	sep := styled.Span{Text: l.Glyph(" · ", " - "), Style: l.FG(theme.Border)}
	all := slices.Concat(a.whoAndWhere(l), a.figures(l))
	for {
		left, right := styled.Line{{Text: " "}}, styled.Line{}
		least := -1
		for i, s := range all {
			if least < 0 || s.worth < all[least].worth {
				least = i
			}
			side := &left
			if s.right {
				side = &right
			}
			if len(*side) > 0 && !(len(left) == 1 && !s.right) {
				*side = append(*side, sep)
			}
			*side = append(*side, s.line...)
		}
		right = append(right, styled.Span{Text: " "})
		room := l.Width - left.Width(l.Method) - right.Width(l.Method)
		if room >= 2 || len(all) < 2 {
			return styled.Join(left, styled.Plain(strings.Repeat(" ", max(room, 0))), right).Cut(l.Width, l.Method)
		}
		all = slices.Delete(all, least, least+1)
	}
}

func (a *App) whoAndWhere(l look.Look) []segment {
	key := theme.Primary
	if a.choice.AgentName() != "build" {
		key = theme.Secondary
	}
	out := []segment{{line: styled.Plain(styled.OneLine(a.choice.AgentName()), l.FG(key, styled.Bold)), worth: 100}}
	if ref := a.choice.Current(); !ref.IsZero() {
		out = append(out, segment{line: styled.Plain(styled.OneLine(ref.String()+look.VariantText(ref)), l.FG(theme.Text)), worth: 90})
	}
	muted := l.FG(theme.Muted)
	place := styled.OneLine(a.opts.Dir)
	if a.branch != "" {
		place += ":" + styled.OneLine(a.branch)
	}
	if a.session.ParentID != "" {
		back := styled.Line{{Text: "subagent", Style: l.FG(theme.Secondary)}, {Text: " " + a.keys.For(keys.Parent) + " goes back", Style: muted}}
		out = append(out, segment{line: back, worth: 95})
	}
	return append(out, segment{line: styled.Plain(place, muted), worth: 30})
}

// figures are what the turn and the session took so far.
func (a *App) figures(l look.Look) (out []segment) {
	add := func(text string, key theme.Key, worth int) {
		out = append(out, segment{styled.Plain(text, l.FG(key)), worth, true})
	}
	if a.opts.Server != "" {
		add(styled.OneLine(a.opts.Server), theme.Muted, 45)
	}
	if a.lost {
		add(l.Glyph("⚠ ", "! ")+a.linkText(a.opts.Now()), theme.Warning, 95)
	}
	if used, window := a.contextUsed(); used > 0 {
		text, key := look.Short(used), theme.Muted
		if window > 0 {
			text += fmt.Sprintf(" %d%%", used*100/window)
			if used*100/window >= 80 {
				key = theme.Warning
			}
		}
		add(text, key, 80)
	}
	if a.session.Cost > 0 {
		add(a.session.Cost.String(), theme.Muted, 70)
	}
	if hit, ok := a.conv.CacheHit(); ok {
		add(fmt.Sprintf("cache %d%%", hit), theme.Muted, 50)
	}
	if !a.busy() {
		if took := a.conv.LastTook(); took != "" {
			add(took, theme.Muted, 40)
		}
	}
	return out
}
