package prompt

import "lathe"

// Alone reports whether a model that has seen these messages was told last that nobody
// can answer. It has to be all of a session up to some point.
func Alone(history []lathe.Message) bool {
	for i := len(history) - 1; i >= 0; i-- {
		for _, p := range history[i].Parts {
			text, ok := p.Body.(*lathe.Text)
			if !ok || !text.Synthetic {
				continue
			}
			switch text.Text {
			case Reminder(aloneText):
				return true
			case Reminder(attendedText):
				return false
			}
		}
	}
	return false
}
