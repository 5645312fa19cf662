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

// segment is a piece of the state line. If they do not all fit, the least
// important are left out first.
type segment struct {
	line  styled.Line
	worth int
	right bool
	whole string // the text of a line that can be shortened at its beginning, or empty
}

// shortened is the narrowest that a piece becomes before it is left out.
const shortened = 12

// statusLine is the last line: agent, model and place on the left; what the
// window holds, cost, cache, time and connection on the right.
func (v *view) statusLine() styled.Line {
	l := v.look
	sep := styled.Span{Text: l.Glyph(" · ", " - "), Style: l.FG(theme.Border)}
	all := slices.Concat(v.whoAndWhere(l), v.figures(l))
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
		s := &all[least]
		if width := s.line.Width(l.Method) + room - 2; s.whole != "" && width >= shortened {
			s.line, s.whole = styled.Plain(l.Ending(s.whole, width), s.line[0].Style), ""
			continue
		}
		all = slices.Delete(all, least, least+1)
	}
}

func (v *view) whoAndWhere(l look.Look) []segment {
	key := theme.Primary
	if v.choice.AgentName() != "build" {
		key = theme.Secondary
	}
	out := []segment{{line: styled.Plain(styled.OneLine(v.choice.AgentName()), l.FG(key, styled.Bold)), worth: 100}}
	if mode, key := v.modes.Label(); mode != "" {
		out = append(out, segment{line: styled.Plain(l.T(mode), l.FG(key)), worth: 97})
	}
	if ref := v.choice.Current(); !ref.IsZero() {
		out = append(out, segment{line: styled.Plain(styled.OneLine(ref.String()+look.VariantText(ref)), l.FG(theme.Text)), worth: 90})
	}
	muted := l.FG(theme.Muted)
	place := styled.OneLine(v.opts.Dir)
	if v.branch != "" {
		place += ":" + styled.OneLine(v.branch)
	}
	if v.session.ParentID != "" {
		back := styled.Line{{Text: l.T("subagent"), Style: l.FG(theme.Secondary)}, {Text: l.T(" " + v.keys.For(keys.Parent) + " goes back"), Style: muted}}
		out = append(out, segment{line: back, worth: 95})
	}
	return append(out, segment{line: styled.Plain(place, muted), worth: 30, whole: place})
}

// figures are what the turn and the session took so far.
func (v *view) figures(l look.Look) (out []segment) {
	add := func(text string, key theme.Key, worth int) {
		out = append(out, segment{line: styled.Plain(l.T(text), l.FG(key)), worth: worth, right: true})
	}
	if v.opts.Server != "" {
		add(v.server(), theme.Muted, 45)
	}
	if v.lost {
		add(l.Glyph("⚠ ", "! ")+l.T(v.linkText(v.opts.Now(), l.Width)), theme.Warning, 110)
	}
	if v.undoOff[v.session.ID] != "" {
		add("undo off", theme.Warning, 96)
	} else if v.session.ID != "" && v.access.Able.Undo != nil {
		add("undo on", theme.Muted, 96)
	}
	if used, window := v.Used(); used > 0 {
		text, key := look.Short(used), theme.Muted
		if window > 0 {
			text += fmt.Sprintf(" %d%%", used*100/window)
			if used*100/window >= 80 {
				key = theme.Warning
			}
		}
		add(text, key, 80)
	}
	if v.session.Cost > 0 {
		add(v.session.Cost.String(), theme.Muted, 70)
	}
	if text, key := v.budgetText(); text != "" {
		add(text, key, 60)
	}
	if hit, ok := v.conv.Shown().CacheHit(); ok {
		add(fmt.Sprintf("cache %d%%", hit), theme.Muted, 50)
	}
	if !v.busy() {
		if took := v.conv.Shown().LastTook(); took != "" {
			add(took, theme.Muted, 40)
		}
	}
	return out
}
