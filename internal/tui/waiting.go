package tui

import (
	"slices"

	"lathe"
	"lathe/internal/tui/ask"
	"lathe/internal/tui/dialog"
)

// sheets are the sheets on screen. It knows which of them wait for an answer, and
// to what.
type sheets struct{ dialog.Stack }

// waitingIDs returns the asks and questions on screen.
func (s *sheets) waitingIDs() (ids []lathe.AskID) {
	for _, w := range s.Waiting() {
		switch q := w.(type) {
		case *ask.Permission:
			ids = append(ids, q.Ask.ID)
		case *ask.Question:
			ids = append(ids, q.Ask.ID)
		}
	}
	return ids
}

// settle closes asks on screen that no longer wait.
func (s *sheets) settle(m waitingMsg) {
	for _, id := range m.shown {
		waits := slices.ContainsFunc(m.asks, func(q lathe.Ask) bool { return q.ID == id }) ||
			slices.ContainsFunc(m.questions, func(q lathe.QuestionAsk) bool { return q.ID == id })
		if !waits {
			s.settled(id)
		}
	}
}

// asked queues a permission ask.
func (s *sheets) asked(q lathe.Ask, here lathe.SessionID) {
	for _, w := range s.Waiting() {
		if open, ok := w.(*ask.Permission); ok && open.Ask.ID == q.ID {
			return
		}
	}
	s.Wait(ask.New(q, q.SessionID != here, s.Now()))
}

// questioned queues a question.
func (s *sheets) questioned(q lathe.QuestionAsk, here lathe.SessionID) {
	for _, w := range s.Waiting() {
		if open, ok := w.(*ask.Question); ok && open.Ask.ID == q.ID {
			return
		}
	}
	if len(q.Questions) > 0 {
		s.Wait(ask.NewQuestion(q, q.SessionID != here, s.Now()))
	}
}

// settled closes what was answered, here or elsewhere.
func (s *sheets) settled(id lathe.AskID) {
	for _, w := range s.Waiting() {
		switch q := w.(type) {
		case *ask.Permission:
			if q.Ask.ID == id {
				s.Close(w)
				return
			}
		case *ask.Question:
			if q.Ask.ID == id {
				s.Close(w)
				return
			}
		}
	}
}

// visiting says which session is on screen; asks of others say so.
func (s *sheets) visiting(id lathe.SessionID) {
	for _, w := range s.Waiting() {
		switch q := w.(type) {
		case *ask.Permission:
			q.Other = q.Ask.SessionID != id
		case *ask.Question:
			q.Other = q.Ask.SessionID != id
		}
	}
}

// waits reports whether a session waits for the person.
func (s *sheets) waits(id lathe.SessionID) bool {
	return slices.ContainsFunc(s.Waiting(), func(w dialog.Sheet) bool {
		q, ok := w.(*ask.Permission)
		return ok && q.Ask.SessionID == id
	})
}
