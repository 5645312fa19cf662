package start

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// goOn is what is sent to a session that stopped early.
const goOn = "Go on where you were interrupted. Look first at what was done and what was not."

// mostLeft bounds how many sessions are remembered that the person left as they stopped.
const mostLeft = 50

// Continue says that the screen begins with a session. Its end is asked about only if a
// process that died cut it off: who stopped it and comes back knows.
func (r *Room) Continue(id lathe.SessionID) { r.resume, r.crashed = id, true }

// Opened asks about a session that was opened from the page, if it stopped early and does
// nothing now: go on, undo, or leave it.
func (r *Room) Opened(sess lathe.Session, history []lathe.Message, busy bool) tea.Msg {
	id := sess.ID
	if r.resume != id {
		return nil
	}
	crashed := r.crashed
	r.resume, r.crashed = "", false
	if busy || len(history) == 0 || sess.Revert != nil { // what is undone does not wait for anything
		return nil
	}
	end := history[len(history)-1]
	if crashed && !cutOff(end) {
		return nil
	}
	s := &stopped{room: r, session: id, end: end.ID, what: stoppedAt(end)}
	s.Left = func() tea.Msg { return dialog.Close{Sheet: s} } // to be asked about again
	s.Given = func(i int) tea.Msg { return dialog.All{dialog.Close{Sheet: s}, s.acts[i]()} }
	if s.what == "" || r.left(id, end.ID) {
		return nil
	}
	s.Answers = [][2]string{{"g", "go on: the model is asked to finish what was interrupted"}}
	s.acts = []func() tea.Msg{func() tea.Msg { return GoOn{goOn} }}
	if prompt := lastPrompt(history); prompt != "" && r.access.Able.Undo != nil {
		s.Answers = append(s.Answers, [2]string{"u", "undo the last prompt and its changes; its text comes back to the input"})
		s.acts = append(s.acts, func() tea.Msg { return chat.Undo{Message: prompt} })
	}
	s.Answers = append(s.Answers, [2]string{"l", "leave it as it is; this is not asked again"})
	s.acts = append(s.acts, s.leave)
	s.At = len(s.Answers) - 1
	return dialog.Open{Sheet: s}
}

// cutOff reports whether the process that wrote an answer died before its end.
func cutOff(m lathe.Message) bool {
	info, ok := m.Info.(*lathe.Assistant)
	if !ok {
		return false
	}
	f, ok := info.Error.(*lathe.AbortedFailure)
	return ok && f.Message == store.AbortedMessage
}

func lastPrompt(history []lathe.Message) lathe.MessageID {
	for _, m := range slices.Backward(history) {
		if _, ok := m.Info.(*lathe.User); ok {
			return m.ID
		}
	}
	return ""
}

// stopped asks what to do with a session that stopped early.
type stopped struct {
	dialog.Choice
	room    *Room
	session lathe.SessionID
	end     lathe.MessageID
	what    string
	acts    []func() tea.Msg
}

// Key goes through the answers, gives one, or leaves.
func (s *stopped) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	m := s.Choice.Key(h, k)
	if w, ok := m.(dialog.Words); ok {
		return s.Words(w.Text)
	}
	return m
}

// Words leaves the question for later: the person writes.
func (s *stopped) Words(text string) tea.Msg {
	return dialog.All{dialog.Close{Sheet: s}, dialog.Words{Text: text}}
}

// Draw says where the session stopped, and the answers.
func (s *stopped) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	body := styled.Wrap(styled.Plain(l.T(styled.OneLine(s.what)), l.FG(theme.Warning)), l.Width-3, l.Method)
	return s.Show(l, height, l.Title("where it stopped", "esc decides later"), body, nil)
}

// leave remembers that the session stays as it is.
func (s *stopped) leave() tea.Msg {
	b := s.room.book
	b.Left = append(b.Left, leftAs(s.session, s.end))
	b.Left = b.Left[max(0, len(b.Left)-mostLeft):]
	for i := range s.room.recent {
		if s.room.recent[i].session.ID == s.session {
			s.room.recent[i].stopped = ""
		}
	}
	return b.Save()
}

// left reports whether the person left a session as it stopped there.
func (r *Room) left(id lathe.SessionID, end lathe.MessageID) bool {
	return slices.Contains(r.book.Left, leftAs(id, end))
}

func leftAs(id lathe.SessionID, end lathe.MessageID) string { return string(id) + " " + string(end) }
