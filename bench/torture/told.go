package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// told is what clients were told: facts that must be found in what is stored.
type told struct {
	mu      sync.Mutex
	prompts map[int]string      // sessions of acknowledged prompts, by tag
	parts   map[string]toldPart // newest state by id
	order   map[string][]string // of a message, the parts in the order in which they were first told
	gone    map[string]bool     // ids of what was removed
	facts   int
	waiting []waiter // for events
}

type toldPart struct {
	ID, SessionID, MessageID, Type, Text string
	Time                                 struct{ End float64 }
	State                                struct{ Status, Output, Error string }
}

// closed reports whether nothing about the part is to change any more.
func (p toldPart) closed() bool {
	return p.Time.End > 0 || p.State.Status == "completed" || p.State.Status == "error"
}

// waiter is told of an event whose text holds something.
type waiter struct {
	text  string
	after int
	ch    chan struct{}
}

func newTold() *told {
	return &told{prompts: map[int]string{}, parts: map[string]toldPart{}, order: map[string][]string{}, gone: map[string]bool{}}
}

// follow reads the server's events until the connection ends.
func (r *rig) follow() error {
	req, err := http.NewRequestWithContext(r.ctx, "GET", r.srv.url+"/global/event", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	exited := r.srv.exited
	both := make(chan struct{})
	go func() {
		defer close(ended)
		defer res.Body.Close()
		in := bufio.NewReaderSize(res.Body, 64<<10)
		for {
			line, err := in.ReadBytes('\n')
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && err == nil {
				r.told.event(data)
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		<-exited
		<-ended
		close(both)
	}()
	r.srv.exited = both // what was told is known only when all of it is read
	return nil
}

func (t *told) event(data []byte) {
	var ev struct {
		Payload struct {
			Type       string
			Properties struct {
				Part                         toldPart
				SessionID, MessageID, PartID string
			}
		}
	}
	if json.Unmarshal(data, &ev) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := ev.Payload.Properties
	switch ev.Payload.Type {
	case "message.part.updated":
		if !slices.Contains(t.order[p.Part.MessageID], p.Part.ID) {
			t.order[p.Part.MessageID] = append(t.order[p.Part.MessageID], p.Part.ID)
		}
		t.parts[p.Part.ID] = p.Part
		t.facts++
	case "message.part.removed":
		t.gone[p.PartID] = true
	case "message.removed":
		t.gone[p.MessageID] = true
	}
	kept := t.waiting[:0]
	for _, w := range t.waiting {
		if bytes.Contains(data, []byte(w.text)) {
			w.after--
		}
		if w.after <= 0 {
			close(w.ch)
		} else {
			kept = append(kept, w)
		}
	}
	t.waiting = kept
}

// on returns a channel that is closed at the n-th event that holds a text.
func (t *told) on(text string, n int) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := waiter{text, n, make(chan struct{})}
	t.waiting = append(t.waiting, w)
	return w.ch
}

func (t *told) acknowledged(tag int, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prompts[tag] = session
	t.facts++
}

type message struct {
	Info struct {
		ID, SessionID, Role, ParentID string
		Time                          struct{ Created, Completed float64 }
		Error                         *struct{ Name string }
	}
	Parts []toldPart
}

// compare looks for what was told of a session in its messages. idle says that
// nothing runs in it.
func (r *rig) compare(session string, messages []message, idle bool) {
	t := r.told
	t.mu.Lock()
	defer t.mu.Unlock()
	stored, where := map[string]toldPart{}, map[int]int{}
	for _, m := range messages {
		if idle && m.Info.Role == "assistant" && m.Info.Time.Completed == 0 {
			r.wrong("open answer", "message %s of the idle session %s is not completed", m.Info.ID, session)
		}
		var order []string
		for _, p := range m.Parts {
			if _, twice := stored[p.ID]; twice {
				r.wrong("doubled", "part %s is there twice", p.ID)
			}
			stored[p.ID] = p
			if len(t.order[m.Info.ID]) > 0 {
				order = append(order, p.ID)
			}
			if idle && (p.State.Status == "running" || p.State.Status == "pending") {
				r.wrong("open call", "%s of the idle session %s is %s", p.ID, session, p.State.Status)
			}
			if m.Info.Role == "user" && tagOf(p.Text) > 0 {
				where[tagOf(p.Text)]++
			}
		}
		if want := present(t.order[m.Info.ID], stored); !inOrder(want, order) {
			r.wrong("order", "parts of %s were told as %v and are stored as %v", m.Info.ID, want, order)
		}
	}
	for tag, s := range t.prompts {
		if s == session && where[tag] != 1 {
			r.wrong("prompt", "prompt %d of session %s was acknowledged and is there %d times", tag, session, where[tag])
		}
	}
	for id, p := range t.parts {
		if p.SessionID != session || t.gone[id] || t.gone[p.MessageID] {
			continue
		}
		have, ok := stored[id]
		switch {
		case !ok:
			r.wrong("lost", "%s part %s of message %s was told and is not there", p.Type, id, p.MessageID)
		case p.closed() && (have.Text != p.Text || have.State != p.State):
			r.wrong("changed", "part %s was told as %.100q %v and is %.100q %v", id, p.Text, p.State, have.Text, have.State)
		case !p.closed() && !strings.HasPrefix(have.Text, p.Text) && !strings.HasPrefix(p.Text, have.Text):
			r.wrong("changed", "the text of %s was told as %.100q and is %.100q", id, p.Text, have.Text)
		}
		delete(t.parts, id) // what was found once is not looked for again
		r.count("facts compared", 1)
	}
}

func present(ids []string, stored map[string]toldPart) (out []string) {
	for _, id := range ids {
		if _, ok := stored[id]; ok {
			out = append(out, id)
		}
	}
	return out
}

// inOrder reports whether some ids come in the order in which all do.
func inOrder(some, all []string) bool {
	for _, id := range all {
		if len(some) > 0 && some[0] == id {
			some = some[1:]
		}
	}
	return len(some) == 0
}

func (t *told) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("%d prompts, %d facts", len(t.prompts), t.facts)
}
