package server

import (
	"strconv"
	"testing"
)

// TestPace lets the pieces of a text gather for a client that asks for it: nothing of
// them is left out, and what is not text follows them.
func TestPace(t *testing.T) {
	r := newRig(t)
	l := r.listen("/lathe/event?pace=1000")
	l.until("server.connected")
	p := &player{r: r}
	p.open("prt_1")
	p.say("first ")
	got := l.until("message.part.delta")
	for n := range 200 {
		p.say(strconv.Itoa(n) + " ")
	}
	p.close()
	got = append(got, l.until("session.status")...)
	text, pieces := "", 0
	for _, f := range got {
		if f.kind == "message.part.delta" {
			pieces++
			text += f.props["delta"].(string)
		}
	}
	if text != p.text {
		t.Errorf("the pieces make %q, want %q", text, p.text)
	}
	if pieces > 20 {
		t.Errorf("%d pieces came for 201 that were said", pieces)
	}
}
