package readable

import "lathe/internal/api"

// WindowNotes are the sentences that a page about a session's window ends its costs with,
// the same in every face.
func WindowNotes(w api.Window) (notes []string) {
	if w.Unpriced {
		notes = append(notes, "the price of "+w.Model+" is not known: costs are higher than shown")
	}
	return notes
}
