package start

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// MostRecent is how many sessions the page names, and how many have a key.
const MostRecent = 9

// recent is a session that the page names, and where it stopped.
type recent struct {
	session lathe.Session
	stopped string // what it was doing; empty: it was done, the person left it so, or its end is undone
	state   string // what else there is to say of its end
}

// loadRecent reads the sessions that were used last.
func (r *Room) loadRecent() tea.Cmd {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.List(ctx, "")
		if err != nil {
			return nil // the list of sessions tells why
		}
		list = slices.DeleteFunc(list, func(s lathe.Session) bool { return s.ParentID != "" })
		var out []recent
		var ends []lathe.Message
		for _, s := range list[:min(len(list), MostRecent)] {
			one, end := recent{session: s}, lathe.Message{}
			last, err := r.access.History(ctx, s.ID, 0, 1)
			_, idle := r.access.Status(ctx, s.ID).(lathe.Idle)
			switch {
			case err != nil || len(last) == 0:
			case !idle:
				one.state = "it is working"
			case s.Revert != nil:
				one.state = "its end is undone"
			default:
				end = last[0]
				one.stopped = stoppedAt(end)
			}
			out, ends = append(out, one), append(ends, end)
		}
		return dialog.Here(func() tea.Msg {
			for i := range out {
				if r.left(out[i].session.ID, ends[i].ID) {
					out[i].stopped = ""
				}
			}
			r.recent = out
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
				if strings.HasPrefix(s.About, "$ ") { // a command speaks for itself
					s.Name = ""
				}
				return "it was running " + strings.TrimSpace(s.Name+" "+s.About)
			}
			break
		}
	}
	if _, ok := info.Error.(*lathe.AbortedFailure); ok || info.Error == nil {
		return "its answer was cut off"
	}
	return "it ended with an error"
}

// Pick opens the session with that place in the list, counted from 1.
func (r *Room) Pick(n int) tea.Msg {
	if n > len(r.recent) {
		return dialog.Tell{Kind: dialog.Warning, Text: fmt.Sprintf("there is no session number %d here", n)}
	}
	return r.pick(n - 1)
}

func (r *Room) pick(i int) tea.Msg {
	one := r.recent[i]
	if one.stopped != "" {
		r.resume = one.session.ID
	}
	return Open{one.session.ID}
}

// Click opens the session in a line of the page as it was drawn.
func (r *Room) Click(y int) tea.Msg {
	if y < 0 || y >= len(r.rows) || r.rows[y] < 0 {
		return nil
	}
	return r.pick(r.rows[y])
}

// drawRecent draws the sessions that were used last.
func (r *Room) drawRecent(l look.Look, most int, now time.Time) (out []styled.Line, rows []int) {
	if len(r.recent) == 0 {
		return nil, nil
	}
	muted, k := l.FG(theme.Muted), r.host.Keys()
	out = []styled.Line{append(styled.Plain("   "+l.T("last here"), l.FG(theme.Text, styled.Bold)), styled.Span{Text: "  " + k.For(keys.Sessions) + " " + l.T("lists all"), Style: muted})}
	rows = []int{-1}
	for i, one := range r.recent[:min(len(r.recent), max(most, 1))] {
		title := styled.OneLine(one.session.Title)
		if strings.HasPrefix(title, "New session - ") {
			title = l.T("without a title")
		}
		line := append(styled.Plain("   "+k.For(keys.QuickSwitch(i+1)), l.FG(theme.Accent)).Pad(16, l.Method, ""),
			styled.Plain(title, l.FG(theme.Text)).Cut(max(20, l.Width*2/5), l.Method)...)
		line = append(line, styled.Span{Text: "  " + l.T(ago(one.session.Updated, now)), Style: muted})
		switch {
		case one.stopped != "":
			line = append(line, styled.Span{Text: "  " + l.T(styled.OneLine(one.stopped)), Style: l.FG(theme.Warning)})
		case one.state != "":
			line = append(line, styled.Span{Text: "  " + l.T(one.state), Style: muted})
		}
		out, rows = append(out, line), append(rows, i)
	}
	return append(out, nil), append(rows, -1)
}

// ago says how long ago a time was.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return say.Plural(int(d.Minutes()), "minute") + " ago"
	case d < 24*time.Hour:
		return say.Plural(int(d.Hours()), "hour") + " ago"
	default:
		return say.Plural(int(d.Hours()/24), "day") + " ago"
	}
}

// Switch opens the session with that place among those that were used last, other than the
// one on screen.
func (r *Room) Switch(n int, but lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.List(ctx, "")
		if err != nil {
			return dialog.Fail(err)
		}
		list = slices.DeleteFunc(list, func(s lathe.Session) bool { return s.ParentID != "" || s.ID == but })
		if n > len(list) {
			return dialog.Tell{Kind: dialog.Warning, Text: fmt.Sprintf("there is no session number %d here", n)}
		}
		return Open{list[n-1].ID}
	})
}
