package linear

import (
	"fmt"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/printable"
	"lathe/internal/say"
	"lathe/internal/tui/engine"
)

// commands is what /help tells.
const commands = `Commands:
/new begins a new session.
/sessions lists earlier sessions of this directory. Words after it search.
/models lists models. Words after it search.
/agent NAME chooses an agent. /agents lists them.
/status tells the session, the model and the cost.
/last repeats the last answer.
/stop stops the turn, and so does control c; without a turn that leaves.
/undo takes back the last message and its changes. /redo brings them back.
/diff lists the files that the session changed, to look at one or take it back.
/approval says how much is asked, and changes it.
/compact replaces old messages by a summary.
/quit leaves; so does the end of the input.
! before a line runs it as a shell command.
@ before a name hands over a file, a directory or an agent; @file#10-20 lines of a file.
A line that ends with a backslash goes on with the next one.`

// command carries out a command of the screen or of the engine.
func (t *talk) command(name, args string) error {
	switch name {
	case "help", "?":
		t.say("%s", commands)
		t.engineCommands()
	case "quit", "exit", "q":
		return errLeave
	case "new", "clear":
		t.session = lathe.Session{}
		t.say("A new session.")
	case "sessions", "resume", "continue":
		t.sessions(args)
	case "models":
		t.models(args)
	case "agent", "agents":
		t.agents(args)
	case "status":
		t.about()
	case "last":
		t.last()
	case "stop":
		t.stop()
	case "undo", "redo":
		t.undo(name == "redo")
	case "diff":
		t.review()
	case "approval":
		t.approval()
	case "compact", "summarize":
		t.compact()
	default:
		t.other(name, args)
	}
	return nil
}

// other runs a command that the engine expands.
func (t *talk) other(name, args string) {
	list, err := t.Engine.Commands(t.ctx)
	if t.fail(err) {
		return
	}
	if !slices.ContainsFunc(list, func(c api.Command) bool { return c.Name == name }) {
		t.say("There is no command /%s. /help lists them.", name)
		return
	}
	if t.session.ID == "" {
		if t.session, err = t.Engine.Create(t.ctx); t.fail(err) {
			return
		}
	}
	t.fail(t.Engine.Command(t.ctx, t.session.ID, name, args, engine.Prompt{Agent: t.Agent, Model: t.Model}))
}

func (t *talk) engineCommands() {
	list, err := t.Engine.Commands(t.ctx)
	if t.fail(err) {
		return
	}
	for _, c := range list {
		t.say("/%s %s", c.Name, printable.Line(t.in(c.Description)))
	}
}

func (t *talk) sessions(words string) {
	list, err := t.Engine.List(t.ctx, words)
	if t.fail(err) {
		return
	}
	if len(list) == 0 {
		t.say("There are no sessions.")
		return
	}
	var out []choice
	for _, s := range list[:min(len(list), 20)] {
		out = append(out, choice{s.Title + ", " + s.Updated.Format("2 January 15:04"), func() { t.open(s.ID) }})
	}
	t.menu.offer(out)
}

// open prints the end of a session and continues in it.
func (t *talk) open(id lathe.SessionID) {
	s, err := t.Engine.Get(t.ctx, id)
	if t.fail(err) {
		return
	}
	history, err := t.Engine.History(t.ctx, id, 0, earlier)
	if t.fail(err) {
		return
	}
	t.session, t.parts, t.own = s, map[lathe.PartID]*said{}, map[lathe.MessageID]bool{}
	t.say("Session: %s", printable.Line(s.Title))
	for _, m := range history {
		who := t.in("You")
		if _, ok := m.Info.(*lathe.Assistant); ok {
			who = "lathe"
		}
		if text := textOf(m); text != "" {
			t.say("%s: %s", who, t.words(text))
		}
	}
	_, idle := t.Engine.Status(t.ctx, id).(lathe.Idle)
	t.busy, t.since = !idle, t.Now()
	t.newest = 0
	for _, m := range history {
		t.told(m)
	}
	if t.busy {
		t.say("It is working.")
	} else {
		t.over()
	}
}

func textOf(m lathe.Message) string {
	var out []string
	for _, p := range m.Parts {
		if b, ok := p.Body.(*lathe.Text); ok && !b.Synthetic && strings.TrimSpace(b.Text) != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n\n")
}

func (t *talk) last() {
	if t.session.ID == "" {
		t.say("There is no answer yet.")
		return
	}
	history, err := t.Engine.History(t.ctx, t.session.ID, 0, 20)
	if t.fail(err) {
		return
	}
	for _, m := range slices.Backward(history) {
		if _, ok := m.Info.(*lathe.Assistant); ok && textOf(m) != "" {
			t.say("%s", t.words(textOf(m)))
			return
		}
	}
	t.say("There is no answer yet.")
}

func (t *talk) models(words string) {
	list, err := t.Engine.Models(t.ctx)
	if t.fail(err) {
		return
	}
	var out []choice
	for _, m := range list {
		if !contains(m.Name+" "+m.Ref().String(), words) {
			continue
		}
		label := m.Name + ", " + m.Ref().String()
		if m.Ref() == t.Model || t.Model.IsZero() && m.Default {
			label += t.in(", chosen")
		}
		out = append(out, choice{label, func() {
			t.Model = m.Ref()
			t.say("Model: %s", m.Ref())
		}})
	}
	switch {
	case len(out) == 0:
		t.say("No model has these words. Connect a provider with: lathe auth login")
	case len(out) > 30:
		t.say("%s. Type /models and a word of the name.", t.in(say.Plural(len(out), "model")))
	default:
		t.menu.offer(out)
	}
}

func contains(text, words string) bool {
	text = strings.ToLower(text)
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (t *talk) agents(name string) {
	list, err := t.Engine.Agents(t.ctx)
	if t.fail(err) {
		return
	}
	var out []choice
	for _, a := range list {
		if a.Subagent() {
			continue
		}
		choose := func() {
			t.Agent = a.Name
			t.say("Agent: %s", a.Name)
		}
		if a.Name == name {
			choose()
			return
		}
		out = append(out, choice{strings.TrimSuffix(a.Name+", "+a.Description, ", "), choose})
	}
	t.menu.offer(out)
}

func (t *talk) about() {
	words := []string{t.in("Session:") + " " + t.session.Title}
	if t.session.ID == "" {
		words[0] = t.in("A new session")
	}
	if t.Agent != "" || t.session.Agent != "" {
		words = append(words, t.in("agent")+" "+firstOf(t.Agent, t.session.Agent))
	}
	if m := t.Model; !m.IsZero() {
		words = append(words, t.in("model")+" "+m.String())
	} else if m := t.session.Model; !m.IsZero() {
		words = append(words, t.in("model")+" "+m.String())
	}
	if t.session.Cost > 0 {
		words = append(words, t.in("cost")+" "+t.session.Cost.String())
	}
	if t.busy {
		words = append(words, t.in("working since")+" "+t.duration(t.Now().Sub(t.since)))
	}
	t.say("%s.", printable.Line(strings.Join(words, ", ")))
}

func firstOf(x, y string) string {
	if x != "" {
		return x
	}
	return y
}

func (t *talk) stop() {
	if !t.busy {
		t.say("Nothing runs.")
		return
	}
	t.fail(t.Engine.Abort(t.ctx, t.session.ID))
}

func (t *talk) undo(again bool) {
	r := t.Engine.Can().Undo
	if r == nil || t.session.ID == "" {
		t.say("Nothing can be undone here.")
		return
	}
	if again {
		if !t.fail(r.Unrevert(t.ctx, t.session.ID)) {
			t.say("Redone.")
		}
		return
	}
	history, err := t.Engine.History(t.ctx, t.session.ID, 0, 100)
	if t.fail(err) {
		return
	}
	undone := t.session.Revert != nil
	for _, m := range slices.Backward(history) {
		if undone { // those from the mark on are undone already
			undone = m.ID != t.session.Revert.MessageID
			continue
		}
		if _, ok := m.Info.(*lathe.User); ok && textOf(m) != "" {
			if !t.fail(r.Revert(t.ctx, t.session.ID, m.ID)) {
				t.say("Undone: %s", printable.Line(textOf(m)))
			}
			return
		}
	}
	t.say("There is nothing to undo.")
}

func (t *talk) compact() {
	c := t.Engine.Can().Compact
	if c == nil || t.session.ID == "" {
		t.say("There is nothing to compact.")
		return
	}
	id, model := t.session.ID, t.Model
	t.background(func() error { return c.Compact(t.ctx, id, model) })
}

// askedBefore says what waits for an answer already.
func (t *talk) askedBefore() {
	asks, questions, err := t.Engine.Waiting(t.ctx)
	if t.fail(err) {
		return
	}
	open := t.menu.asking
	waits := slices.ContainsFunc(asks, func(a lathe.Ask) bool { return a.ID == open }) ||
		slices.ContainsFunc(questions, func(q lathe.QuestionAsk) bool { return q.ID == open })
	if open != "" && !waits {
		t.menu.settled(open)
	}
	for _, a := range asks {
		t.menu.wanted(a.ID, func() { t.ask(a) })
	}
	for _, q := range questions {
		t.menu.wanted(q.ID, func() { t.question(q, 0, nil) })
	}
}

// question asks the questions of a tool, one after the other.
func (t *talk) question(q lathe.QuestionAsk, n int, answers [][]string) {
	if n >= len(q.Questions) {
		if !t.fail(t.Engine.Answer(t.ctx, q.ID, answers)) {
			t.say("Answered.")
		}
		return
	}
	t.menu.asking = q.ID
	if n == 0 && answers == nil {
		t.menu.askedAt = t.Now()
	}
	ask := q.Questions[n]
	t.say("Question %d of %d: %s", n+1, len(q.Questions), ask.Text)
	next := func(labels ...string) { t.question(q, n+1, append(slices.Clone(answers), labels)) }
	var list []choice
	for _, o := range ask.Options {
		list = append(list, choice{strings.TrimSuffix(o.Label+", "+o.Description, ", "), func() { next(o.Label) }})
	}
	list = append(list, choice{"dismiss the question", func() { t.fail(t.Engine.Dismiss(t.ctx, q.ID)) }})
	t.menu.free = func(text string) {
		labels, ok := pick(ask, text)
		if !ok {
			t.say("That is not one of the answers.")
			t.question(q, n, answers)
			return
		}
		next(labels...)
	}
	t.menu.choices = list
	for i, c := range list {
		t.say("%d. %s", i+1, printable.Line(t.lang.Word(c.label)))
	}
	how := t.in("Type a number")
	if ask.Multiple {
		how += t.in(", or several with commas")
	}
	if ask.Custom || len(ask.Options) == 0 {
		how += t.in(", or your own answer")
	}
	t.say("%s, and press enter.", how)
}

// pick reads several numbers, or an answer of the person's own.
func pick(q lathe.Question, text string) ([]string, bool) {
	var labels []string
	for f := range strings.SplitSeq(text, ",") {
		var n int
		if _, err := fmt.Sscanf(strings.TrimSpace(f), "%d", &n); err != nil || n < 1 || n > len(q.Options) || !q.Multiple {
			return []string{text}, q.Custom || len(q.Options) == 0
		}
		labels = append(labels, q.Options[n-1].Label)
	}
	return labels, true
}
