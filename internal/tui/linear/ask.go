package linear

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe"
	"lathe/internal/approval"
)

// ask prints everything a permission ask is about, and its answers.
func (t *talk) ask(a lathe.Ask) {
	t.menu.asking = a.ID
	t.say("Permission needed: %s.", t.in(approval.Name(a.Permission)))
	if a.SessionID != t.session.ID {
		t.say("Another session, such as a subagent's, asks.")
	}
	for _, f := range approval.Facts(a) {
		t.fact(f)
	}
	t.menu.askedAt = t.Now()
	t.answers(a)
}

// names are what facts without a label are called.
var names = map[approval.Kind]string{approval.Purpose: "for", approval.Command: "command", approval.Subject: "about"}

// fact prints one thing that the person has to know.
func (t *talk) fact(f approval.Fact) {
	label := firstOf(f.Label, names[f.Kind])
	switch {
	case f.Kind == approval.Diff:
		t.change(f.Text, len(f.Text))
		return
	case f.Kind == approval.Step:
		label = t.in("part") + " " + label
	}
	text := strings.TrimRight(f.Text, "\n")
	if strings.Contains(text, "\n") {
		text = "\n" + text + "\n" + fmt.Sprintf(t.in("End of %s."), t.in(label))
	}
	if f.Kind == approval.Careful || f.Kind == approval.Also {
		text = t.in(text)
	}
	t.say("%s: %s", capital(t.in(label)), text)
}

// inWords says what an offer would allow.
func (t *talk) inWords(o approval.Offer) string {
	words := o.Words()
	for i, w := range words {
		words[i] = t.in(w)
	}
	return strings.Join(words, ", ")
}

// capital begins a text with a capital letter.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// answers offers the answers to a permission ask.
func (t *talk) answers(a lathe.Ask) {
	list := []choice{{"allow once", t.reply(a, lathe.Reply{Kind: lathe.Once}, "Allowed.")}}
	for _, o := range approval.Offers(a) {
		list = append(list, choice{t.in("allow from now on:") + " " + t.inWords(o), func() { t.lasting(a, o) }})
	}
	list = append(list, choice{"refuse", t.reply(a, lathe.Reply{Kind: lathe.Reject}, "Refused.")}, choice{"refuse and tell why", func() {
		t.say("Type why and press enter.")
		t.menu.asking = a.ID
		t.menu.free = func(why string) { t.reply(a, lathe.Reply{Kind: lathe.Reject, Message: why}, "Refused.")() }
	}})
	t.menu.asking = a.ID
	t.menu.offer(list)
}

func (t *talk) reply(a lathe.Ask, r lathe.Reply, said string) func() {
	return func() {
		if !t.fail(t.Engine.Reply(t.ctx, a, r)) {
			t.say("%s", t.in(said))
		}
	}
}

// lasting asks once more, with words, before something is allowed from then on.
func (t *talk) lasting(a lathe.Ask, o approval.Offer) {
	t.say("Without being asked again:")
	for _, w := range o.Words() {
		t.say("%s", t.in(w))
	}
	t.say("Type session to allow that %s, or project to allow it %s, and press enter. Anything else goes back.", t.in(o.Where(false)), t.in(o.Where(true)))
	t.menu.asking = a.ID
	t.menu.free = func(word string) {
		said := t.in(o.Granted(word == "project"))
		switch word {
		case "project":
			said += t.in(". To take it back:") + " " + o.Revoke()
		case "session":
		default:
			t.say("Nothing is allowed.")
			t.answers(a)
			return
		}
		t.reply(a, o.Reply(word == "project"), capital(said)+t.in("."))()
	}
}
