package compact

import (
	"slices"
	"strings"

	"lathe"
	"lathe/internal/prompt"
	"lathe/internal/tokens"
)

// leastShown is how many tokens of a result are always shown, however little room there is.
const leastShown = 100

// Cut plans how to shorten the results of a message so that it weighs no more than
// budget, if possible: the longest are shortened first, and each keeps its
// beginning. It returns the changed parts, or none if nothing has to be cut. The
// full outputs stay stored.
func (m *Meter) Cut(msg *lathe.Message, budget int64) []lathe.Part {
	if m.Message(msg) <= budget {
		return nil
	}
	most := m.share(msg, budget)
	var out []lathe.Part
	for _, p := range msg.Parts {
		c, done := completed(&p)
		if done == nil || !done.Compacted.IsZero() || count(prompt.Shown(c.Tool, done)) <= most {
			continue
		}
		short, call := *done, *c
		short.Shown = fitting(done.Output, most-prompt.CutNote)
		call.State = &short
		p.Body = &call
		out = append(out, p)
	}
	return out
}

// share returns how much each result may weigh so that all fit: smaller ones
// leave more for the others.
func (m *Meter) share(msg *lathe.Message, budget int64) int64 {
	var weights []int64
	room := budget - m.Message(msg)
	for i := range msg.Parts {
		if c, done := completed(&msg.Parts[i]); done != nil && done.Compacted.IsZero() {
			w := count(prompt.Shown(c.Tool, done))
			weights = append(weights, w)
			room += w
		}
	}
	slices.Sort(weights)
	share := int64(0)
	for i, w := range weights {
		share = room / int64(len(weights)-i)
		if w > share {
			break
		}
		room -= w
	}
	return max(share, leastShown+prompt.CutNote)
}

// fitting returns how many bytes of a text weigh at most that many tokens, ending at
// a line end if there is one.
func fitting(text string, most int64) int {
	n := len(text)
	if w := count(text); w > most {
		n = int(int64(n) * most / w)
	}
	for n > 0 && int64(tokens.Count(text[:n])) > most {
		n = n * 9 / 10
	}
	if end := strings.LastIndexByte(text[:n], '\n'); end > n/2 {
		n = end + 1
	}
	return max(n, 1)
}
