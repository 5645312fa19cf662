package linear

import (
	"strings"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/readable"
	"lathe/internal/say"
	"lathe/internal/tui/change"
	"lathe/internal/tui/chat"
)

const (
	outputLines = 8  // lines that are printed of a tool's output
	diffLines   = 40 // lines that are printed of a change
	earlier     = 6  // messages that are printed when a session opens
)

// happen prints an event of the session.
func (t *talk) happen(h happened) {
	if h.link != nil {
		t.linked(*h.link)
		return
	}
	switch ev := h.event.(type) {
	case lathe.MessageUpdated:
		t.message(ev.Message)
	case lathe.PartUpdated:
		if ev.Part.SessionID == t.session.ID {
			t.part(ev.Part)
		}
	case lathe.PartDelta:
		if s := t.parts[ev.PartID]; s != nil && s.kind == "text" {
			s.text += ev.Beyond(len(s.text)).Delta
			t.tell(s, false)
		}
	case lathe.SessionUpdated:
		if ev.Session.ID == t.session.ID {
			t.session = ev.Session
		}
	case lathe.SessionStatus:
		t.status(ev)
	case lathe.SessionFailed:
		if ev.SessionID == t.session.ID && ev.Failure != nil {
			t.failure(ev.Failure)
		}
	case lathe.UndoOff:
		if ev.SessionID == t.session.ID {
			t.say("Undo is off here, so what is changed cannot be taken back: %s", printable.Line(ev.Reason))
		}
	case lathe.Notice:
		if ev.SessionID == "" || ev.SessionID == t.session.ID {
			t.say("%s", printable.Line(ev.Text))
		}
	case lathe.PermissionAsked:
		t.menu.wanted(ev.Ask.ID, func() { t.ask(ev.Ask) })
	case lathe.PermissionReplied:
		t.menu.settled(ev.AskID)
	case lathe.QuestionReplied:
		t.menu.settled(ev.AskID)
	case lathe.QuestionRejected:
		t.menu.settled(ev.AskID)
	case lathe.QuestionAsked:
		t.menu.wanted(ev.Ask.ID, func() { t.question(ev.Ask, 0, nil) })
	}
}

// wanted asks the person for something, once.
func (m *menu) wanted(id lathe.AskID, do func()) {
	if !m.asked[id] {
		m.asked[id] = true
		m.queue(do)
	}
}

// settled closes a menu whose ask was answered, here or elsewhere.
func (m *menu) settled(id lathe.AskID) {
	if m.asking == id && m.open() {
		m.chosen(func() { m.voice.say("Answered elsewhere.") })
	}
}

// queue does something now, or when the present menu is answered.
func (m *menu) queue(do func()) {
	if m.open() {
		m.waiting = append(m.waiting, do)
		return
	}
	do()
}

func (t *talk) message(m lathe.Message) {
	if m.SessionID != t.session.ID {
		return
	}
	t.newest = max(t.newest, m.Seq)
	_, known := t.own[m.ID]
	if _, ok := m.Info.(*lathe.Assistant); ok && !known {
		t.own[m.ID] = true
	}
}

func (t *talk) status(ev lathe.SessionStatus) {
	if ev.SessionID != t.session.ID {
		return
	}
	switch st := ev.Status.(type) {
	case lathe.Retrying:
		t.say("%s. Attempt %d comes in %s.", printable.Line(t.in(st.Message)), st.Attempt+1, t.duration(st.Next.Sub(t.Now())))
	case lathe.Idle:
		if t.busy {
			t.say("Done after %s.", t.duration(t.Now().Sub(t.since)))
		}
		t.busy = false
		t.over()
	default:
		if !t.busy {
			t.busy, t.since = true, t.Now()
			t.say("Working.")
		}
	}
}

func (v *voice) failure(f lathe.Failure) {
	if _, ok := f.(*lathe.AbortedFailure); ok {
		v.say("Stopped.")
		return
	}
	v.say("Error: %s", printable.Line(v.in(f.Error())))
}

// part prints what is new in a part.
func (t *talk) part(p lathe.Part) {
	if !t.own[p.MessageID] {
		return
	}
	s := t.parts[p.ID]
	if s == nil {
		s = &said{}
		t.parts[p.ID] = s
	}
	switch b := p.Body.(type) {
	case *lathe.Text:
		if _, kept := readable.Ledger(b.Text); kept {
			return // it is for the model
		}
		s.kind, s.text = "text", b.Text
		t.tell(s, !b.Time.End.IsZero())
	case *lathe.Reasoning:
		if s.kind == "" {
			s.kind = "reasoning"
			t.say("Thinking.")
		}
	case *lathe.ToolCall:
		t.tool(s, chat.Summarize(b))
	case *lathe.Retry, *lathe.CompactionMark:
		t.mark(s, b)
	}
}

// mark prints once that something happened.
func (v *voice) mark(s *said, b lathe.PartBody) {
	if s.done {
		return
	}
	s.done = true
	switch b := b.(type) {
	case *lathe.Retry:
		v.say("Attempt %d failed.", b.Attempt)
	case *lathe.CompactionMark:
		v.say("Earlier messages are replaced by a summary.")
	}
}

// tell prints the paragraphs of a text that are complete.
func (v *voice) tell(s *said, all bool) {
	end := len(s.text)
	if !all {
		i := strings.LastIndex(s.text[min(s.shown, len(s.text)):], "\n\n")
		if i < 0 {
			return
		}
		end = s.shown + i + 2
	}
	if s.shown < end {
		if text := strings.Trim(v.words(s.text[s.shown:end]), "\n"); text != "" {
			v.say("%s", text)
		}
		s.shown = end
	}
}

// Words returns Markdown as it is read aloud: marks of emphasis are left out,
// headings and code are named.
func Words(text string) string { return new(voice).words(text) }

func (v *voice) words(text string) string {
	var out []string
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			code = !code
			switch lang := strings.Trim(trimmed, "` "); {
			case !code:
				line = v.in("End of code.")
			case lang != "":
				line = v.in("Code,") + " " + lang + ":"
			default:
				line = v.in("Code:")
			}
		case code:
		case strings.HasPrefix(trimmed, "#"):
			if rest := strings.TrimLeft(trimmed, "#"); strings.HasPrefix(rest, " ") {
				line = v.in("Heading:") + " " + strings.TrimSpace(rest)
			}
		case strings.Trim(trimmed, "|-: ") == "" && strings.Contains(trimmed, "-"):
			continue // a rule, or the line below a table's head
		default:
			line = strings.ReplaceAll(line, "**", "")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// tool reports that a tool begins, and how it ended.
func (v *voice) tool(s *said, c chat.Summary) {
	about := strings.TrimSpace(c.Name + " " + c.About)
	if c.Running {
		if s.kind == "" && c.About != "" {
			s.kind = "tool"
			v.say("Tool: %s", about)
		}
		return
	}
	if s.done {
		return
	}
	s.done = true
	words := []string{c.Name + " " + v.in("done")}
	if c.Failed {
		words[0] = c.Name + " " + v.in("failed")
	}
	if s.kind == "" { // its beginning was not printed
		words[0] = v.in("Tool:") + " " + about + ", " + v.in("done")
		if c.Failed {
			words[0] = v.in("Tool:") + " " + about + ", " + v.in("failed")
		}
	}
	for _, w := range []string{c.Counted, c.Took} {
		if w != "" {
			words = append(words, v.in(w))
		}
	}
	v.say("%s.", strings.Join(words, ", "))
	switch {
	case c.Failed || c.Name == "bash":
		v.output(c.Output)
	case c.Diff != "":
		v.change(c.Diff, diffLines)
	case len(c.Todos) > 0:
		for _, todo := range c.Todos {
			v.say("%s: %s", v.in(strings.ReplaceAll(todo.Status, "_", " ")), todo.Content)
		}
	}
}

// output prints the last lines of an output.
func (v *voice) output(text string) {
	text = strings.Trim(printable.Text(text, printable.Options{Tab: " ", Return: printable.RewriteLine}), "\n")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if over := len(lines) - outputLines; over > 0 {
		v.say("Output, the last %d of %d lines:", outputLines, len(lines))
		lines = lines[over:]
	} else {
		v.say("Output:")
	}
	for _, l := range lines {
		v.say("%s", l)
	}
}

// change prints the removed and added lines of a diff, at most that many.
func (v *voice) change(diff string, most int) {
	list := change.Changes(diff)
	for i, c := range list {
		if i == most {
			v.say("Left out: %s.", v.in(say.Plural(len(list)-i, "changed line")))
			return
		}
		if c.Line == 0 {
			v.say("%s: %s", v.in(c.What), c.Text)
			continue
		}
		v.say("%s line %d: %s", v.in(c.What), c.Line, c.Text)
	}
}
