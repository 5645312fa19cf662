package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
	"lathe/internal/sse"
)

// frame is an event as a client has it.
type frame struct {
	id    string
	kind  string
	props map[string]any
	raw   []byte
}

// listener reads an event stream.
type listener struct {
	t      testing.TB
	cancel context.CancelFunc
	frames chan frame // closed with the stream
}

func (r *rig) listen(path string, header ...string) *listener {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		r.t.Fatalf("%s: %d %s", path, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	l := &listener{t: r.t, cancel: cancel, frames: make(chan frame, 1<<14)}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(l.frames)
		defer resp.Body.Close()
		last := ""
		for ev, err := range sse.Read(resp.Body, 0) {
			if err != nil {
				return
			}
			f := frame{raw: append([]byte(nil), ev.Data...)}
			if ev.ID != last {
				f.id, last = ev.ID, ev.ID
			}
			var in struct {
				Type       string
				Properties map[string]any
				Payload    *struct {
					Type       string
					Properties map[string]any
				}
			}
			if err := json.Unmarshal(f.raw, &in); err != nil {
				r.t.Errorf("%v in %s", err, f.raw)
				return
			}
			f.kind, f.props = in.Type, in.Properties
			if in.Payload != nil {
				f.kind, f.props = in.Payload.Type, in.Payload.Properties
			}
			l.frames <- f
		}
	})
	r.t.Cleanup(func() { cancel(); wg.Wait() })
	return l
}

// until returns the frames up to the first of a kind.
func (l *listener) until(kind string) []frame {
	l.t.Helper()
	var out []frame
	timeout := time.After(time.Minute)
	for {
		select {
		case f, ok := <-l.frames:
			if !ok {
				l.t.Fatalf("stream ended before %s; got %s", kind, kinds(out))
			}
			out = append(out, f)
			if f.kind == kind {
				return out
			}
		case <-timeout:
			l.t.Fatalf("no %s; got %s", kind, kinds(out))
		}
	}
}

func kinds(frames []frame) string {
	var out []string
	for _, f := range frames {
		out = append(out, f.kind)
	}
	return strings.Join(out, " ")
}

// coarse is kinds without the updates of parts, of which each stream merges as
// many as come together.
func coarse(frames []frame) string {
	return strings.NewReplacer("message.part.updated ", "", "message.part.delta ", "").Replace(kinds(frames))
}

// lastID is the newest id that the frames carry.
func lastID(frames []frame) string {
	id := ""
	for _, f := range frames {
		if f.id != "" {
			id = f.id
		}
	}
	return id
}

func TestEventsOfATurn(t *testing.T) {
	r := newRig(t)
	s := contractSchemas(t)
	model := r.script("turn.txt", "reasoning Let me see.\ntool bash {\"command\":\"echo hi\",\"description\":\"x\"}\n---\ntext All done now.\n")
	l, g := r.listen("/event"), r.listen("/global/event")
	l.until("server.connected")
	g.until("server.connected")
	sess := r.session()
	r.ok("POST", sess+"/message", promptBody(model, "go"))
	frames := l.until("session.idle")
	for _, f := range frames {
		s.event(t, f.raw)
	}
	if got := strings.ReplaceAll(kinds(frames), "session.updated ", ""); !strings.HasPrefix(got, "session.created message.updated message.part.updated session.status message.updated") {
		t.Errorf("a turn begins with %.200s", got)
	}
	if n := len(frames); frames[n-2].kind != "session.status" || frames[n-1].kind != "session.idle" {
		t.Errorf("a turn ends with %s", kinds(frames[n-3:]))
	}
	if text := texts(frames); text["text"] != "All done now." || text["reasoning"] != "Let me see." {
		t.Errorf("texts %v", text)
	}
	global := g.until("session.idle")
	var wrapped struct{ Directory, Project string }
	if err := json.Unmarshal(global[0].raw, &wrapped); err != nil || wrapped.Directory != r.dir || wrapped.Project == "" {
		t.Errorf("wrapped event %s", global[0].raw)
	}
	if a, b := coarse(frames), coarse(global); a != b {
		t.Errorf("the streams differ:\n%s\n%s", a, b)
	}
}

// texts replays frames as both kinds of client do, and returns the final texts by
// type of part. They must agree.
func texts(frames []frame) map[string]string {
	whole, appended, kind := map[string]string{}, map[string]string{}, map[string]string{}
	var order []string // of the parts
	for _, f := range frames {
		switch f.kind {
		case "message.part.updated":
			p := f.props["part"].(map[string]any)
			text, ok := p["text"].(string)
			if !ok {
				continue
			}
			id := p["id"].(string)
			if kind[id] == "" {
				order = append(order, id)
			}
			whole[id], kind[id] = text, p["type"].(string)
			if d, ok := f.props["delta"].(string); ok {
				appended[id] += d
			}
		case "message.part.delta":
			id := f.props["partID"].(string)
			whole[id] += f.props["delta"].(string)
		}
	}
	out := map[string]string{}
	for _, id := range order {
		text := whole[id]
		if a := appended[id]; a != "" && a != text && !strings.HasPrefix(text, a) && !strings.HasSuffix(text, a) {
			out[kind[id]] = fmt.Sprintf("whole %q, appended %q", text, a)
			continue
		}
		out[kind[id]] = text
	}
	return out
}

// publish plays a streamed text straight onto the bus.
type player struct {
	r    *rig
	part lathe.Part
	text string
}

func (p *player) open(id string) {
	p.part = lathe.Part{ID: lathe.PartID(id), MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.Text{Time: lathe.Span{Start: time.Now()}}}
	p.r.bus.Publish(p.r.dir, lathe.PartUpdated{Part: p.part})
}

func (p *player) say(text string) {
	p.text += text
	p.r.bus.Publish(p.r.dir, lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_1", PartID: p.part.ID, Delta: text})
}

func (p *player) close() {
	p.part.Body = &lathe.Text{Text: p.text, Time: lathe.Span{Start: time.Now(), End: time.Now()}}
	p.r.bus.Publish(p.r.dir, lathe.PartUpdated{Part: p.part})
	p.r.bus.Publish(p.r.dir, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
}

// A long answer costs a bounded number of frames, a client that joins late has
// the whole text, and one that leaves and resumes loses and repeats nothing.
func TestCoalescingJoiningAndResuming(t *testing.T) {
	r := newRig(t)
	l := r.listen("/event?ids=true")
	l.until("server.connected")
	p := &player{r: r}
	p.open("prt_1")
	first := l.until("message.part.updated")
	for i := range 500 {
		p.say(fmt.Sprintf("word%d ", i))
	}
	mid := l.until("message.part.updated")
	l.cancel()
	late := r.listen("/event")
	late.until("server.connected")
	p.say("joined ")
	joined := late.until("message.part.updated")
	if got := texts(joined)["text"]; got != p.text {
		t.Errorf("a client that joined has %d bytes of %d", len(got), len(p.text))
	}
	resumed := r.listen("/event", "Last-Event-ID", lastID(append(first, mid...)))
	hello := resumed.until("server.connected")
	if hello[0].props["resumed"] != true {
		t.Errorf("not resumed: %s", hello[0].raw)
	}
	p.say("end.")
	p.close()
	rest := resumed.until("session.idle")
	all := append(append(append([]frame{}, first...), mid...), rest...)
	if got := texts(all)["text"]; got != p.text {
		t.Errorf("resumed client has %q", tail(got))
	}
	appended := ""
	for _, f := range all {
		if f.kind == "message.part.delta" {
			appended += f.props["delta"].(string)
		}
	}
	if appended != p.text {
		t.Errorf("deltas are %d bytes, the text %d: %q", len(appended), len(p.text), tail(appended))
	}
	if n := len(all); n > 200 {
		t.Errorf("%d frames for one answer", n)
	}
	other := r.listen("/event", "Last-Event-ID", "another-7")
	if hello := other.until("server.connected"); hello[0].props["resumed"] != false {
		t.Errorf("resumed an unknown id: %s", hello[0].raw)
	}
}

func tail(s string) string { return s[max(0, len(s)-60):] }

func TestDeltasOnly(t *testing.T) {
	r := newRig(t)
	l := r.listen("/event?parts=delta")
	l.until("server.connected")
	p := &player{r: r}
	p.open("prt_1")
	for range 100 {
		p.say("x")
	}
	p.close()
	n := 0
	for _, f := range l.until("session.idle") {
		if _, ok := f.props["delta"]; ok && f.kind == "message.part.updated" {
			n++
		}
	}
	if n != 0 {
		t.Errorf("%d repeated texts", n)
	}
}

func TestStreamEndsWithInstance(t *testing.T) {
	r := newRig(t)
	r.ok("GET", "/path", "")
	l, g := r.listen("/event"), r.listen("/global/event")
	l.until("server.connected")
	r.ok("POST", "/instance/dispose", "")
	l.until("server.instance.disposed")
	if f, ok := <-l.frames; ok {
		t.Errorf("after the end: %s", f.raw)
	}
	g.until("server.instance.disposed")
	r.ok("POST", "/global/dispose", "")
	g.until("global.disposed")
}

func TestHeartbeat(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Heartbeat = 10 * time.Millisecond })
	l := r.listen("/event")
	l.until("server.heartbeat")
	l.until("server.heartbeat")
}

// A client that does not read is let go and does not hold up anybody.
// streamKeep is what a stream keeps for clients that are behind.
const streamKeep = 32 << 20

func TestSlowClient(t *testing.T) {
	r := newRig(t)
	slow := rawStream(t, r)
	l := r.listen("/event")
	l.until("server.connected")
	big := strings.Repeat("x", 1<<20)
	for i := range 2 * streamKeep / len(big) {
		r.bus.Publish(r.dir, lathe.PartUpdated{Part: lathe.Part{
			ID: lathe.PartID(fmt.Sprintf("prt_%d", i)), MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.ToolCall{State: &lathe.ToolDone{Output: big}},
		}})
		l.until("message.part.updated")
	}
	n, err := bufio.NewReader(slow).Discard(1 << 30)
	if err == nil || n > streamKeep+12<<20 {
		t.Errorf("the slow client was sent %d bytes: %v", n, err)
	}
}

// What an answer to a list of messages includes, and what a stream sends that
// resumes after it, are together everything.
func TestSnapshotThenTail(t *testing.T) {
	r := newRig(t)
	model := r.script("turn.txt", "text One two three.\n---\ntext Four five.\n")
	sess := r.session()
	r.ok("POST", sess+"/message", promptBody(model, "go"))
	res := r.do("GET", sess+"/message", "")
	r.ok("POST", sess+"/message", promptBody(model, "on"))
	l := r.listen("/event?after=" + res.header.Get("X-Lathe-Event"))
	frames := l.until("session.idle")
	after := strings.ReplaceAll(kinds(frames[1:]), "session.updated ", "") // the title comes when it likes
	if frames[0].props["resumed"] != true || !strings.HasPrefix(after, "message.updated ") {
		t.Errorf("after the answer came %.200s", after)
	}
	if got := texts(frames)["text"]; got != "Four five." {
		t.Errorf("text %q", got)
	}
}

// A server that has missed events of others ends the streams, after saying why, and nobody
// resumes from before that.
func TestEventsMissed(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/event?ids=true", "/global/event?ids=true", "/lathe/event"} {
		l := r.listen(path)
		l.until("server.connected")
		r.session()
		last := lastID(l.until("session.updated"))
		r.bus.Publish("", lathe.EventsMissed{})
		end := l.until("server.connected")
		if resumed := end[len(end)-1].props["resumed"]; resumed != false {
			t.Errorf("%s: resumed %v", path, resumed)
		}
		for range l.frames { // until it is closed
		}
		again := r.listen(path, "Last-Event-ID", last).until("server.connected")
		if resumed := again[0].props["resumed"]; resumed != false {
			t.Errorf("%s: it resumes over a gap: %v", path, resumed)
		}
	}
}
