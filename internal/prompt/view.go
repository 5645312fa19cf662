package prompt

import "lathe"

// View returns history as the model sees it. After a compaction that is the
// request for the summary and the summary, the messages before them that stay
// word for word, then what followed; older compactions and requests that no
// summary answers are left out. History is in stored order and starts at the
// stored boundary or before it. The result may share its array.
func View(history []lathe.Message) []lathe.Message {
	ask, sum := newestCompaction(history)
	if sum < 0 {
		return withoutCompactions(history)
	}
	out := make([]lathe.Message, 0, len(history))
	out = append(out, history[ask], history[sum])
	tail := ask
	if start := TailStart(&history[ask]); start != "" {
		for i := range history[:ask] {
			if history[i].ID == start {
				tail = i
				break
			}
		}
	}
	for i := tail; i < len(history); i++ {
		if i != ask && i != sum && !isCompaction(&history[i]) {
			out = append(out, history[i])
		}
	}
	return out
}

// TailStart returns the first message that the compaction which m asks for keeps
// word for word, or "".
func TailStart(m *lathe.Message) lathe.MessageID {
	if mark := Mark(m); mark != nil {
		return mark.TailStart
	}
	return ""
}

// Mark returns the request for a compaction that a user message makes, or nil.
func Mark(m *lathe.Message) *lathe.CompactionMark {
	if _, ok := m.Info.(*lathe.User); !ok {
		return nil
	}
	for _, p := range m.Parts {
		if mark, ok := p.Body.(*lathe.CompactionMark); ok {
			return mark
		}
	}
	return nil
}

// newestCompaction returns the places of the newest finished summary and of the
// message that asked for it, or -1.
func newestCompaction(history []lathe.Message) (ask, sum int) {
	for i := len(history) - 1; i >= 0; i-- {
		info, ok := history[i].Info.(*lathe.Assistant)
		if !ok || !info.Summary || info.Finish == "" || info.Error != nil {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if history[j].ID == info.ParentID && Mark(&history[j]) != nil {
				return j, i
			}
		}
	}
	return -1, -1
}

// isCompaction reports whether a message does nothing but ask for or hold a summary.
func isCompaction(m *lathe.Message) bool {
	if info, ok := m.Info.(*lathe.Assistant); ok {
		return info.Summary
	}
	return len(m.Parts) == 1 && Mark(m) != nil
}

func withoutCompactions(history []lathe.Message) []lathe.Message {
	for i := range history {
		if !isCompaction(&history[i]) {
			continue
		}
		out := append([]lathe.Message{}, history[:i]...)
		for _, m := range history[i:] {
			if !isCompaction(&m) {
				out = append(out, m)
			}
		}
		return out
	}
	return history
}
