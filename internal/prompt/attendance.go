package prompt

import "lathe"

// Alone reports whether a model that has seen these messages was last told that nobody
// can answer. History must be a session's messages from the beginning.
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
