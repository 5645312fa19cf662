package linear

import (
	"time"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/engine"
)

// missed is how many messages are read again after events were missed.
const missed = 200

// happened is an event, or a change of the connection.
type happened struct {
	event lathe.Event
	link  *engine.Link
}

// follow returns what happens. If the engine's events end, it is asked for them again.
func (t *talk) follow() <-chan happened {
	out := make(chan happened, 64)
	send := func(h happened) bool {
		select {
		case out <- h:
			return true
		case <-t.ctx.Done():
			return false
		}
	}
	t.wg.Go(func() {
		for wait := 100 * time.Millisecond; t.ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
			for u, err := range t.Engine.Follow(t.ctx) {
				if err != nil || !send(happened{u.Event, u.Link}) {
					break
				}
				wait = 100 * time.Millisecond
			}
			send(happened{link: &engine.Link{}})
			select {
			case <-t.ctx.Done():
			case <-time.After(wait):
				send(happened{link: &engine.Link{Up: true, Lost: true}})
			}
		}
	})
	return out
}

// linked prints each change of the connection.
func (t *talk) linked(l engine.Link) {
	switch {
	case !l.Up && !t.cut:
		t.cut = true
		if l.Err != nil {
			t.say("The connection is lost: %s. Trying again.", printable.Line(l.Err.Error()))
		} else {
			t.say("The connection is lost. Trying again.")
		}
	case l.Up && t.cut:
		t.cut = false
		if l.Server != "" {
			t.say("The connection is back, to %s.", printable.Line(l.Server))
		} else {
			t.say("The connection is back.")
		}
	}
	if l.Up && l.Lost {
		t.catchUp()
	}
}

// catchUp prints what happened while events were missed, and nothing that was already printed.
func (t *talk) catchUp() {
	defer t.askedBefore()
	if t.session.ID == "" {
		return
	}
	status := t.Engine.Status(t.ctx, t.session.ID) // first: what follows it comes as events
	history, err := t.Engine.History(t.ctx, t.session.ID, 0, missed)
	if t.fail(err) {
		return
	}
	for newest, i := t.newest, 0; i < len(history); i++ {
		m := history[i]
		if m.Seq > newest {
			t.message(m)
		}
		for _, p := range m.Parts {
			t.part(p) // for finished parts this prints nothing
		}
	}
	t.status(lathe.SessionStatus{SessionID: t.session.ID, Status: status})
}

// told notes that a message was printed as far as it has come.
func (t *talk) told(m lathe.Message) {
	t.message(m)
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			t.parts[p.ID] = &said{kind: "text", text: b.Text, shown: len(b.Text)}
		case *lathe.Reasoning:
			t.parts[p.ID] = &said{kind: "reasoning"}
		case *lathe.ToolCall:
			t.parts[p.ID] = &said{done: !chat.Summarize(b).Running}
		case *lathe.Retry, *lathe.CompactionMark:
			t.parts[p.ID] = &said{done: true}
		}
	}
}

// over forgets what was printed, since none of it can change any more.
func (t *talk) over() {
	t.parts = map[lathe.PartID]*said{}
	for id := range t.own {
		t.own[id] = false
	}
}
