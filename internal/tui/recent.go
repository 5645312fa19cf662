package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// recentShown is how many sessions the start page names.
const recentShown = 4

// recent is a session that the start page names, and where it stopped.
type recent struct {
	session lathe.Session
	stopped string // what it was doing; empty: it was done
}

// loadRecent reads the sessions that were used last, after the first frame.
func (v *visit) loadRecent() tea.Cmd {
	return v.access.Do(func(ctx context.Context) tea.Msg {
		list, err := v.access.List(ctx, "")
		if err != nil {
			return nil // the list of sessions tells why
		}
		var out []recent
		for _, s := range list[:min(len(list), recentShown)] {
			r := recent{session: s}
			if last, err := v.access.History(ctx, s.ID, 0, 1); err == nil && len(last) > 0 {
				r.stopped = stoppedAt(last[0])
			}
			out = append(out, r)
		}
		return dialog.Here(func() tea.Msg {
			v.recent = out
			return nil
		})
	})
}

// stoppedAt says what a session was doing when its last turn ended early; empty if it did not.
func stoppedAt(m lathe.Message) string {
	info, ok := m.Info.(*lathe.Assistant)
	if !ok {
		return "it was not answered"
	}
	if info.Error == nil && !info.Completed.IsZero() {
		return ""
	}
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if c, ok := m.Parts[i].Body.(*lathe.ToolCall); ok {
			if s := chat.Summarize(c); s.Running || s.Failed {
				return strings.TrimSpace("it was running " + s.Name + " " + s.About)
			}
			break
		}
	}
	if _, ok := info.Error.(*lathe.AbortedFailure); ok || info.Error == nil {
		return "its answer was cut off"
	}
	return "it ended with an error"
}

// recents draws the sessions that were used last.
func (v *view) recents(l look.Look) []styled.Line {
	if len(v.recent) == 0 {
		return nil
	}
	muted := l.FG(theme.Muted)
	out := []styled.Line{nil, append(styled.Plain("   last here", l.FG(theme.Text, styled.Bold)), styled.Span{Text: "  " + v.keys.For(keys.Sessions) + " opens one", Style: muted})}
	now := v.opts.Now()
	for _, r := range v.recent {
		title := styled.OneLine(r.session.Title)
		if strings.HasPrefix(title, "New session - ") {
			title = "without a title"
		}
		line := styled.Line{{Text: "   " + l.Glyph("• ", "* ")}, {Text: title, Style: l.FG(theme.Text)}, {Text: "  " + ago(r.session.Updated, now), Style: muted}}
		if r.stopped != "" {
			line = append(line, styled.Span{Text: "  " + styled.OneLine(r.stopped), Style: l.FG(theme.Warning)})
		}
		out = append(out, line)
	}
	return out
}

// ago says how long ago a time was.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return look.Plural(int(d.Minutes()), "minute") + " ago"
	case d < 24*time.Hour:
		return look.Plural(int(d.Hours()), "hour") + " ago"
	default:
		return look.Plural(int(d.Hours()/24), "day") + " ago"
	}
}
