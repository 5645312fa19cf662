package edit

// maxHistory bounds how many messages can be called back.
const maxHistory = 200

// History holds what was sent before. The zero value is empty.
type History struct {
	items []string
	at    int    // len(items): the draft
	draft string // what was being typed
}

// Add remembers a message, unless it repeats the newest one.
func (h *History) Add(text string) {
	if n := len(h.items); text != "" && (n == 0 || h.items[n-1] != text) {
		h.items = append(h.items, text)
		if len(h.items) > maxHistory {
			h.items = h.items[1:]
		}
	}
	h.at = len(h.items)
}

// Items returns the messages, oldest first.
func (h *History) Items() []string { return h.items }

// Previous returns the message before the one shown. now is what the editor holds.
func (h *History) Previous(now string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.items) {
		h.draft = now
	}
	h.at--
	return h.items[h.at], true
}

// Next returns the message after the one shown, at last the draft.
func (h *History) Next() (string, bool) {
	if h.at >= len(h.items) {
		return "", false
	}
	h.at++
	if h.at == len(h.items) {
		return h.draft, true
	}
	return h.items[h.at], true
}
