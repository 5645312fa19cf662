package chat

import (
	"slices"
	"time"

	"lathe"
	"lathe/internal/tui/edit"
)

// note is a remark on a message's state.
type note string

const (
	queued     note = "queued" // the turn has not taken it up yet
	unanswered note = "not answered: the turn ended before it was taken up; the next prompt takes it along"
	unfinished note = "not finished: it was cut off, or another lathe is still writing it"
)

// settling is how long a message counts as new: the turn that will read it may be
// about to begin.
const settling = 2 * time.Second

// Queue sets the notes of the newest messages. While a turn runs, messages after
// an answer that is still being written wait for it. If none runs, nothing answers
// the messages at the end, and an answer that is still open was not finished.
func (c *Conversation) Queue(busy bool, now time.Time) {
	for i, e := range slices.Backward(c.entries) {
		info, ok := e.m.Info.(*lathe.Assistant)
		if !ok {
			continue
		}
		open := info.Completed.IsZero() && info.Error == nil
		e.say(standing(c.revert == "" && open && !busy, unfinished, e, now))
		for _, after := range c.entries[i+1:] {
			if busy && open {
				after.say(queued)
				continue
			}
			after.say(standing(c.revert == "" && !busy, unanswered, after, now))
		}
		for _, before := range slices.Backward(c.entries[:i]) { // which this answers
			if _, ok := before.m.Info.(*lathe.User); !ok {
				break
			}
			before.say("")
		}
		return
	}
}

// standing returns the note if it holds and the entry is not new.
func standing(holds bool, n note, e *entry, now time.Time) note {
	if !holds || now.Sub(e.m.Created) < settling {
		return ""
	}
	return n
}

func (e *entry) say(n note) {
	if e.note != n {
		e.note, e.fresh = n, pen{}
	}
}

// Queued returns the first message that the running turn has not taken up, and what the person
// wrote in it and those after it. Pictures are not part of that; without text there is none.
func (c *Conversation) Queued() (first lathe.MessageID, texts []edit.Written) {
	for _, e := range c.entries {
		if e.note != queued {
			continue
		}
		if _, ok := e.m.Info.(*lathe.User); !ok {
			continue
		}
		if first == "" {
			first = e.m.ID
		}
		if w := e.written(); w.Text != "" {
			texts = append(texts, w)
		}
	}
	return first, texts
}
