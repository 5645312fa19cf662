package start

import (
	"strings"
	"time"

	"lathe"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Page is what else the start page says.
type Page struct {
	Model   string   // that answers
	Offline bool     // it is the offline guide
	Found   string   // why that model answers, if it was found and not chosen
	Notices []string // what the person has to know
	Now     time.Time
}

// Draw returns the page, at most that many lines: the most important first.
func (r *Room) Draw(l look.Look, height int, p Page) []styled.Line {
	muted := l.FG(theme.Muted)
	out := []styled.Line{nil, {{Text: "   lathe ", Style: l.FG(theme.Primary, styled.Bold)}, {Text: lathe.Version, Style: muted}}, nil}
	said := r.answers(l, p)
	for _, n := range p.Notices {
		said = append(append(said, wrapped(l, n, theme.Warning)...), nil)
	}
	other := r.drawElsewhere(l)
	recents, rows := r.drawRecent(l, height-len(out)-len(said)-len(other)-1, p.Now)
	r.rows = make([]int, len(out), len(out)+len(rows))
	for i := range r.rows {
		r.rows[i] = -1
	}
	r.rows = append(r.rows, rows...)
	out = append(append(append(out, recents...), said...), other...)
	if !r.book.NoTips {
		out = append(out, r.tips(l)...)
	}
	for i, line := range out {
		out[i] = line.Cut(l.Width, l.Method)
	}
	out = out[:min(len(out), max(height, 0))]
	r.rows = r.rows[:min(len(r.rows), len(out))]
	return out
}

// answers says what answers, and how to get something else.
func (r *Room) answers(l look.Look, p Page) []styled.Line {
	switch {
	case p.Offline:
		return append(wrapped(l, "No model is connected, so the offline guide answers: a set of rules, not a language model. Connect one with /connect, or a key in the environment.", theme.Warning), nil)
	case p.Found != "":
		return append(wrapped(l, p.Found, theme.Info), nil)
	case p.Model == "":
		return nil
	}
	line := styled.Line{{Text: "   "}, {Text: p.Model, Style: l.FG(theme.Text)}, {Text: " " + l.T("answers") + "  ", Style: l.FG(theme.Muted)},
		{Text: r.host.Keys().For(keys.Models), Style: l.FG(theme.Accent)}, {Text: " " + l.T("chooses another"), Style: l.FG(theme.Muted)}}
	return []styled.Line{line, nil}
}

func wrapped(l look.Look, text string, key theme.Key) (out []styled.Line) {
	for _, line := range styled.Wrap(styled.Plain(l.T(styled.OneLine(text)), l.FG(key)), l.Width-6, l.Method) {
		out = append(out, append(styled.Line{{Text: "   "}}, line...))
	}
	return out
}

// tips are the first keys to know.
func (r *Room) tips(l look.Look) (out []styled.Line) {
	k := r.host.Keys()
	for _, row := range [][2]string{
		{"enter", "send what you wrote"}, {"@", "name a file, a directory or an agent"}, {"/", "commands"}, {"!", "run a shell command"},
		{k.For(keys.AgentNext), "next agent"}, {k.For(keys.Models), "choose a model"}, {k.For(keys.Sessions), "earlier sessions"}, {k.For(keys.Help), "all keys"},
	} {
		if strings.TrimSpace(row[0]) != "" {
			out = append(out, append(styled.Plain("   "+row[0], l.FG(theme.Accent)).Pad(16, l.Method, ""), styled.Span{Text: l.T(row[1]), Style: l.FG(theme.Muted)}))
		}
	}
	return out
}
