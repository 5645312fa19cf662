//go:build unix

package team

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// listener is a client that hears what a server tells. When its stream ends it goes on with
// another server, after the last event that it has.
type listener struct {
	h    *history
	name string // of the server that it began with
	wg   sync.WaitGroup

	mu      sync.Mutex
	heard   []event
	last    string // id of the newest event
	lose    func() // ends the stream
	segment int    // counts the times that a server could not tell what was missed
	resumed int
}

// event is one that a listener heard. Its body is what is the same wherever it is told.
type event struct {
	at      string // server
	segment int
	number  int64 // in the journal; 0: only this server tells it
	kind    string
	session string
	body    string
	open    bool // about a part that is still open: a newer one may be told in its place
}

// listen listens until ctx ends, at first to one server.
func (h *history) listen(ctx context.Context, p *proc, random *rand.Rand) *listener {
	l := &listener{h: h, name: p.name}
	connected := make(chan struct{})
	l.wg.Go(func() {
		first := sync.OnceFunc(func() { close(connected) })
		defer first()
		for ctx.Err() == nil {
			l.hear(ctx, p, first)
			for up := h.r.servers(); ; up = h.r.servers() {
				if len(up) > 0 {
					p = up[random.IntN(len(up))]
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	<-connected
	return l
}

// hear hears one server until its stream ends.
func (l *listener) hear(ctx context.Context, p *proc, connected func()) {
	ctx, lose := context.WithCancel(ctx)
	defer lose()
	l.mu.Lock()
	l.lose = lose
	l.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, "GET", p.at()+"/event?ids=true&parts=delta&directory="+url.QueryEscape(p.r.dir), nil)
	if err != nil {
		return // it is down by now
	}
	if l.last != "" {
		req.Header.Set("Last-Event-ID", l.last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 64<<20)
	id, data := "", ""
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = v
		}
		if lines.Text() == "" && data != "" { // the rest of a stream that was cut is no event
			connected()
			l.take(p, id, data)
			id, data = "", ""
		}
	}
}

// cut ends the stream of the server that is listened to, as a network does.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
}

// take keeps what was heard.
func (l *listener) take(p *proc, id, data string) {
	var ev struct {
		Type       string
		Properties map[string]any
	}
	if err := json.Unmarshal([]byte(data), &ev); err != nil {
		l.h.r.t.Errorf("%s told %q: %v", p.name, data, err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Type == "server.connected" {
		switch resumed := ev.Properties["resumed"]; {
		case resumed == true:
			l.resumed++
		case l.last != "":
			l.segment++
		}
		l.h.note("%s listens to %s after %q: %v", l.name, p.name, l.last, ev.Properties)
	}
	l.last = cmp.Or(id, l.last)
	e := event{at: p.name, segment: l.segment, kind: ev.Type, session: sessionOf(ev.Properties), open: isOpen(ev.Properties)}
	if _, n, ok := strings.Cut(id, "-"); ok && !strings.Contains(id, ".") {
		e.number, _ = strconv.ParseInt(n, 10, 64)
	}
	delete(ev.Properties, "time") // when it was told
	raw, err := json.Marshal(ev.Properties)
	if err != nil {
		l.h.r.t.Error(err)
	}
	e.body = string(raw)
	l.heard = append(l.heard, e)
}

// isOpen reports whether an event is about a part that is still open.
func isOpen(props map[string]any) bool {
	part, _ := props["part"].(map[string]any)
	state, _ := part["state"].(map[string]any)
	when, timed := part["time"].(map[string]any)
	return state["status"] == "pending" || state["status"] == "running" || timed && when["end"] == nil
}

// sessionOf returns the session that an event is about.
func sessionOf(props map[string]any) string {
	for _, name := range []string{"info", "part"} {
		if inner, ok := props[name].(map[string]any); ok && props["sessionID"] == nil {
			props = inner
		}
	}
	id, _ := props["sessionID"].(string)
	return id
}

// all returns what was heard so far.
func (l *listener) all() []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard[:len(l.heard):len(l.heard)]
}

// numbered is what the journal says under a number: an event can be told as more than one.
type numbered struct {
	number int64
	kind   string
}

// checkEvents compares what the listeners heard, once all have heard the same end.
func (h *history) checkEvents() {
	for end := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		wrong := h.compareEvents()
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(end) {
			h.r.t.Errorf("events: %s", strings.Join(wrong[:min(len(wrong), 5)], "\n"))
			return
		}
	}
}

// compareEvents says what is wrong about the events that were heard so far.
func (h *history) compareEvents() (wrong []string) {
	all, newest := map[numbered]event{}, int64(0)
	for _, l := range h.listeners {
		before := event{}
		for _, e := range l.all() {
			if e.number == 0 {
				continue
			}
			if e.segment != before.segment {
				before = event{} // the client reads anew what it shows, and the other server may be behind
			}
			if e.number < before.number || e.number == before.number && e.kind == before.kind {
				wrong = append(wrong, fmt.Sprintf("%s was told %d %s by %s after %d %s by %s", l.name, e.number, e.kind, e.at, before.number, before.kind, before.at))
			}
			before, newest = e, max(newest, e.number)
			key := numbered{e.number, e.kind}
			if other, ok := all[key]; ok && other.body != e.body {
				wrong = append(wrong, fmt.Sprintf("%d is on %s\n%s %s\nand on %s\n%s %s", e.number, other.at, other.kind, other.body, e.at, e.kind, e.body))
			}
			all[key] = e
		}
	}
	h.did.events, h.did.resumed = 0, 0
	for _, l := range h.listeners {
		wrong = append(wrong, h.missing(l, all, newest)...)
		wrong = append(wrong, h.stillBusy(l)...)
		h.did.resumed += l.resumed
	}
	return append(wrong, h.wrongReplies(all)...)
}

// missing says what a listener has not heard of what others have.
func (h *history) missing(l *listener, all map[numbered]event, newest int64) (wrong []string) {
	type span struct{ from, to int64 }
	heard, spans, last := map[numbered]bool{}, map[int]span{}, 0
	for _, e := range l.all() {
		if e.number == 0 {
			continue
		}
		heard[numbered{e.number, e.kind}] = true
		s, ok := spans[e.segment]
		if !ok {
			s.from = e.number
		}
		s.to, last = e.number, e.segment
		spans[e.segment] = s
	}
	h.did.events += len(heard)
	if s, ok := spans[last]; ok {
		spans[last] = span{s.from, newest}
	}
	for key, e := range all {
		if e.open {
			continue
		}
		for _, s := range spans {
			if key.number > s.from && key.number <= s.to && !heard[key] {
				wrong = append(wrong, fmt.Sprintf("%s was not told %d %s %s, which %s was", l.name, key.number, e.kind, e.body, e.at))
			}
		}
	}
	return wrong
}

// stillBusy says which sessions a listener was told last to be busy: all are at rest.
func (h *history) stillBusy(l *listener) (wrong []string) {
	busy := map[string]bool{}
	for _, e := range l.all() {
		if e.kind == "session.status" {
			busy[e.session] = !strings.Contains(e.body, `"idle"`)
		}
	}
	for _, c := range h.talks {
		if busy[c.id] {
			wrong = append(wrong, fmt.Sprintf("%s was told that %s is busy, and nothing since", l.name, c.id))
		}
	}
	return wrong
}

// wrongReplies says which acknowledged replies were not told as they are, once.
func (h *history) wrongReplies(all map[numbered]event) (wrong []string) {
	told := map[string][]string{}
	for _, e := range all {
		var p struct{ RequestID, Reply string }
		if e.kind == "permission.replied" && json.Unmarshal([]byte(e.body), &p) == nil {
			told[p.RequestID] = append(told[p.RequestID], p.Reply)
		}
	}
	for id, a := range h.asks.byID {
		got := told[id]
		if len(got) > 1 || a.known && (len(got) == 1 && got[0] != a.reply || len(got) == 0 && !h.databaseEnded) {
			wrong = append(wrong, fmt.Sprintf("%s: ask %s was answered with %s, and told as %q", a.session, id, a.reply, got))
		}
	}
	return wrong
}
