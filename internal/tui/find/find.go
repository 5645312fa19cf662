// Package find looks for words in the whole conversation of a session, also in what was not
// read yet, and goes from one place to the next.
package find

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	page      = 200    // messages that are read at once
	mostSpots = 10_000 // places that are remembered
	pause     = 200 * time.Millisecond
)

// Host is what the search has to know about the screen.
type Host interface {
	dialog.Host
	Conversation() *chat.Conversation
	Session() lathe.Session
}

// Sheet is the search. It finds from the newest place to the oldest.
type Sheet struct {
	host   Host
	access *engine.Access
	words  edit.Editor
	sought string      // what the places are for
	spots  []chat.Spot // newest first
	at     int
	older  bool // older messages are being looked through
	moving bool // keys go from place to place
	due    bool // the first place is to be gone to
	round  int  // number of the search; what others find is late
	back   func()
	failed error
}

// Open begins a search, for some words if there are any.
func Open(h Host, access *engine.Access, words string) tea.Msg {
	s := &Sheet{host: h, access: access, back: h.Conversation().At()}
	s.words.Set(words)
	if words == "" {
		return dialog.Open{Sheet: s}
	}
	return dialog.All{dialog.Open{Sheet: s}, s.enter()}
}

// Paste adds to the words.
func (s *Sheet) Paste(text string) {
	s.words.Type(styled.OneLine(text))
	s.moving = false
}

// Key writes the words, or goes through the places.
func (s *Sheet) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	stroke := dialog.Stroke(k)
	switch stroke {
	case "esc", "ctrl+c":
		return s.close()
	case "enter":
		if s.moving {
			return s.step(1)
		}
		return s.enter()
	case "up", "ctrl+p":
		return s.step(1)
	case "down", "ctrl+n":
		return s.step(-1)
	}
	if s.moving {
		return s.move(stroke, k)
	}
	if k.Text != "" {
		s.words.Type(k.Text)
		return s.later()
	}
	for _, act := range h.Keys().Plain(stroke) {
		if act != keys.Newline && s.words.Do(act) {
			return s.later()
		}
	}
	return dialog.Scroll{Stroke: stroke}
}

// move goes through the places.
func (s *Sheet) move(stroke string, k tea.KeyPressMsg) tea.Msg {
	switch {
	case k.Text == "N" || stroke == "shift+n":
		return s.step(-1)
	case stroke == "n":
		return s.step(1)
	case stroke == "/":
		s.moving = false
		return nil
	case stroke == "q":
		return s.close()
	}
	return dialog.Scroll{Stroke: stroke}
}

// close ends the search. The conversation stays where a place was gone to.
func (s *Sheet) close() tea.Msg {
	s.round++
	s.host.Conversation().Seek(chat.Spot{})
	if !s.moving {
		s.back()
	}
	return dialog.Close{Sheet: s}
}

// later searches after a pause in writing.
func (s *Sheet) later() tea.Msg {
	s.round++
	round := s.round
	return dialog.Soon{After: pause, Then: dialog.Here(func() tea.Msg {
		if s.round != round {
			return nil
		}
		return s.search()
	})}
}

// enter goes to the newest place with the words.
func (s *Sheet) enter() tea.Msg {
	if s.words.Empty() {
		return nil
	}
	s.moving, s.due = true, true
	if s.sought != s.words.Text() {
		return s.search()
	}
	return s.first()
}

// first goes to the newest place once it is known.
func (s *Sheet) first() tea.Msg {
	if !s.due || len(s.spots) == 0 {
		return nil
	}
	s.due, s.at = false, 0
	return s.show()
}

// step goes on by places: older ones for a positive number.
func (s *Sheet) step(by int) tea.Msg {
	n := len(s.spots)
	if n == 0 || s.sought != s.words.Text() {
		return s.enter()
	}
	s.moving = true
	s.at += by
	switch {
	case s.at >= n && s.older:
		s.at = n - 1
	case s.at >= n:
		s.at = 0
	case s.at < 0:
		s.at = n - 1
	}
	return s.show()
}

func (s *Sheet) show() tea.Msg {
	spot := s.spots[s.at]
	s.host.Conversation().Seek(spot)
	return chat.Goto{Message: spot.Message}
}

// search looks through what was read, and then in the background through what was not.
func (s *Sheet) search() tea.Msg {
	s.round++
	s.sought, s.spots, s.at, s.failed = s.words.Text(), nil, 0, nil
	conv := s.host.Conversation()
	conv.Seek(chat.Spot{Words: s.sought})
	if s.sought == "" {
		return nil
	}
	s.older = true
	have := conv.Messages()
	before := int64(0)
	if len(have) > 0 {
		before = have[0].Seq
	}
	return s.scan(s.round, s.sought, func(context.Context) ([]lathe.Message, int64, error) { return have, before, nil })
}

// scan looks through some messages, and then through those before them.
func (s *Sheet) scan(round int, words string, read func(ctx context.Context) (list []lathe.Message, before int64, err error)) tea.Cmd {
	id := s.host.Session().ID
	return s.access.Do(func(ctx context.Context) tea.Msg {
		list, before, err := read(ctx)
		found := spots(list, words)
		return dialog.Here(func() tea.Msg {
			if s.round != round {
				return nil
			}
			s.take(found, err)
			if s.older = err == nil && before > 1 && len(s.spots) < mostSpots; !s.older {
				return s.first()
			}
			return dialog.All{s.first(), s.scan(round, words, func(ctx context.Context) ([]lathe.Message, int64, error) {
				list, err := s.access.History(ctx, id, before, page)
				if len(list) < page {
					return list, 0, err
				}
				return list, list[0].Seq, err
			})}
		})
	})
}

// take adds places, which are older than those that are known.
func (s *Sheet) take(found []found, err error) {
	conv := s.host.Conversation()
	for _, f := range found {
		if conv.Hides(f.message) {
			continue
		}
		for n := f.times - 1; n >= 0 && len(s.spots) < mostSpots; n-- {
			s.spots = append(s.spots, chat.Spot{Message: f.message.ID, Nth: n, Words: s.sought})
		}
	}
	s.failed = err
}

// found is a message with the words.
type found struct {
	message lathe.Message
	times   int
}

// spots returns the messages with the words, newest first.
func spots(list []lathe.Message, words string) (out []found) {
	for _, m := range slices.Backward(list) {
		n := 0
		for _, p := range m.Parts {
			n += chat.CountIn(p.Body, words)
		}
		if n > 0 {
			m.Parts = nil
			out = append(out, found{m, n})
		}
	}
	return out
}

// Draw shows the words, and which of how many places is on screen.
func (s *Sheet) Draw(l look.Look, _ int) ([]styled.Line, int, int) {
	hint := "enter find · esc close"
	if s.moving {
		hint = "n older · N newer · / other words · esc close"
	}
	said := styled.Plain(l.T(s.state())+" ", l.FG(theme.Muted))
	room := l.Width - 2 - said.Width(l.Method)
	words, caret := s.words.OneRow(max(room-3, 6), l.Method)
	row := styled.Line{{Text: l.Glyph("⌕ ", "? "), Style: l.FG(theme.Muted)}, {Text: words, Style: l.FG(theme.Text)}}
	row = styled.Join(row.Pad(room, l.Method, ""), said)
	x := 4 + caret
	if s.moving {
		x = -1
	}
	return []styled.Line{l.Title("find in the conversation", hint), l.Row(row, false)}, min(x, l.Width-1), 1
}

// state says how many places there are.
func (s *Sheet) state() string {
	if s.words.Empty() || s.sought != s.words.Text() {
		return ""
	}
	n, more := len(s.spots), ""
	if s.older {
		more = ", looking further up"
	} else if n == mostSpots {
		more = " and more"
	}
	switch {
	case s.failed != nil:
		return styled.OneLine(s.failed.Error())
	case n == 0 && s.older:
		return "looking"
	case n == 0:
		return "nowhere in this session"
	case !s.moving:
		return say.Plural(n, "place") + more
	}
	return fmt.Sprintf("%d of %d%s", s.at+1, n, more)
}
