package compact

import (
	"lathe"
	"lathe/internal/prompt"
)

// Bounds of the tail where the configuration sets none.
const (
	leastTail = 2_000
	mostTail  = 15_000
	// mostMessages keeps a session of many short messages from loading thousands.
	mostMessages = 100
)

// TailBudget returns how many tokens may stay word for word in a window. usable
// is 0 when it is not known.
func (s Settings) TailBudget(usable int64) int64 {
	if s.TailTurns != nil && *s.TailTurns <= 0 {
		return 0
	}
	if s.PreserveRecentTokens != nil {
		return int64(max(0, *s.PreserveRecentTokens))
	}
	if usable <= 0 {
		return mostTail
	}
	return min(max(usable/4, leastTail), mostTail)
}

// Kept says which messages stay word for word.
type Kept struct {
	Start int   // of the history; its length if none stays
	Next  int   // the message that did not fit whole; -1 if the budget was not what ended the tail
	Left  int64 // tokens of the budget left for a part of that message
}

// Tail returns where in history the messages begin that stay word for word: the
// newest turns that fit the budget, at most turns of them (0: as many as fit), and
// the newest messages of the first turn that does not fit. If everything would
// stay, nothing does, because there would be nothing to summarise. At most a
// hundred messages stay. weigh returns the weight of a message.
func Tail(history []lathe.Message, turns int, budget int64, weigh func(*lathe.Message) int64) Kept {
	start, next, seen, kept := len(history), -1, 0, 0
	oldest := first(history)
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		if Answer(m) != nil && Answer(m).Summary || prompt.Mark(m) != nil {
			continue
		}
		w := weigh(m)
		if kept++; kept > mostMessages {
			break
		}
		if w > budget {
			if i > oldest {
				next = i
			}
			break
		}
		budget -= w
		start = i
		if _, ok := m.Info.(*lathe.User); ok {
			if seen++; turns > 0 && seen >= turns {
				break
			}
		}
	}
	if oldest >= start {
		return Kept{Start: len(history), Next: -1}
	}
	return Kept{Start: start, Next: next, Left: budget}
}

// first returns the first message that is not part of a compaction.
func first(history []lathe.Message) int {
	for i := range history {
		m := &history[i]
		if prompt.Mark(m) == nil && (Answer(m) == nil || !Answer(m).Summary) {
			return i
		}
	}
	return len(history)
}

// Answer returns the info of an assistant message, or nil.
func Answer(m *lathe.Message) *lathe.Assistant {
	info, _ := m.Info.(*lathe.Assistant)
	return info
}
