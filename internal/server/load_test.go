package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
)

// Under load every client gets every event of every session, in order, once. The
// large form (LATHE_LOAD=1) is 200 sessions of 20 tools and 1,000 streams of the
// one busy directory.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	// Some listeners note what they get, a crowd hashes it, others are about
	// another directory.
	sessions, listeners, crowd, quiet, tools := 12, 4, 60, 16, 4
	if os.Getenv("LATHE_LOAD") != "" {
		sessions, listeners, crowd, quiet, tools = 200, 4, 996, 100, 20
	}
	r := newRig(t)
	r.http.Transport.(*http.Transport).MaxIdleConnsPerHost = sessions
	var text strings.Builder
	for i := range tools {
		fmt.Fprintf(&text, "text step %d\ntool read {\"filePath\":\"a.txt\",\"limit\":%d}\n---\n", i, i+1)
	}
	model := r.script("load.txt", text.String()+"text The end of it all.\n")
	paths := make([]string, sessions)
	for i := range paths {
		paths[i] = r.session()
	}
	var want published
	tap := r.bus.Subscribe(t.Context(), bus.Filter{Tap: want.add}, bus.Limits{})
	defer tap.Close()
	all := make([]*listener, listeners)
	for i := range all {
		all[i] = r.listen("/event")
		all[i].until("server.connected")
	}
	var wg sync.WaitGroup
	sums := make([]uint32, crowd)
	for i := range sums {
		c := rawStream(t, r)
		wg.Go(func() { sums[i] = watch(t, c, sessions) })
	}
	elsewhere := url.QueryEscape(t.TempDir())
	for range quiet {
		r.listen("/event?directory=" + elsewhere).until("server.connected")
	}
	start := time.Now()
	histories := make([][]string, listeners)
	for i, l := range all {
		wg.Go(func() { histories[i] = l.history(sessions) })
	}
	for _, p := range paths {
		wg.Go(func() { r.ok("POST", p+"/message", promptBody(model, "go")) })
	}
	wg.Wait()
	t.Logf("%d turns of %d tools to %d listeners of %d in %s", sessions, tools, listeners+crowd, listeners+crowd+quiet, time.Since(start))
	for i, sum := range sums {
		if sum != sums[0] {
			t.Errorf("stream %d got other bytes than stream 0", i)
		}
	}
	for i, h := range histories {
		if wrong := want.check(h); wrong != "" {
			t.Errorf("listener %d: %s", i, wrong)
		}
	}
	checkTurns(t, strings.Join(histories[0], "\n")+"\n", sessions, tools)
	for _, p := range paths {
		if n := bytes.Count(r.do("GET", p+"/message", "").body, []byte(`"status":"completed"`)); n != tools {
			t.Fatalf("%s holds %d completed tools, want %d", p, n, tools)
		}
	}
}

// published is everything that was published, in order.
type published struct {
	mu   sync.Mutex
	envs []lathe.Envelope
}

func (p *published) add(env lathe.Envelope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := env.Event.(lathe.PartDelta); !ok {
		p.envs = append(p.envs, env)
	}
}

// check compares a history with what was published. Only an update of a part may
// be missing of which a newer one follows.
func (p *published) check(got []string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	type entry struct{ line, part string }
	var want []entry
	last := map[string]int{}
	for _, env := range p.envs {
		for _, raw := range wire.EncodeStream(env.Event, "", env.Time) {
			f := parseFrame(raw.Bytes())
			e := entry{line: f.kind + " " + key(f)}
			if f.kind == "message.part.updated" {
				e.part = f.props["part"].(map[string]any)["id"].(string)
				last[e.part] = len(want)
			}
			want = append(want, e)
		}
	}
	next := 0
	for _, line := range got {
		for ; next < len(want) && want[next].line != line; next++ {
			if e := want[next]; e.part == "" || last[e.part] == next {
				return fmt.Sprintf("lost %q, or got %q too often or too early", e.line, line)
			}
		}
		if next == len(want) {
			return "not published, or not then: " + line
		}
		next++
	}
	return ""
}

func parseFrame(raw []byte) frame {
	var in struct {
		Type       string
		Properties map[string]any
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		panic(err)
	}
	return frame{kind: in.Type, props: in.Properties}
}

// history notes what a listener gets until that many turns have ended.
func (l *listener) history(turns int) (h []string) {
	for turns > 0 {
		f, ok := <-l.frames
		if !ok {
			l.t.Error("a stream ended early")
			break
		}
		switch f.kind {
		case "session.idle":
			turns--
		case "message.part.delta", "server.heartbeat":
			continue
		case "message.part.updated":
			if _, ok := f.props["delta"]; ok {
				continue // how texts are cut depends on when they are sent
			}
		}
		h = append(h, f.kind+" "+key(f))
	}
	return h
}

// watch reads a stream until that many turns have ended and returns a checksum
// of it, without heartbeats, of which those that came late got fewer. Identifiers of
// events only grow.
func watch(t *testing.T, c net.Conn, turns int) uint32 {
	sum, last := uint32(0), uint64(0)
	sc := bufio.NewScanner(c)
	sc.Buffer(make([]byte, 64<<10), 8<<20)
	for hello := true; turns > 0 && sc.Scan(); {
		line := sc.Bytes()
		if hello {
			hello = !bytes.Contains(line, []byte("server.connected"))
			continue
		}
		if len(line) < 400 && bytes.Contains(line, []byte(`"type":"server.heartbeat"`)) {
			continue
		}
		sum = crc32.Update(sum, crc32.IEEETable, line)
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			n, err := strconv.ParseUint(string(id[bytes.LastIndexByte(id, '-')+1:]), 10, 64)
			if err != nil || n <= last {
				t.Errorf("identifier %s after %d", id, last)
			}
			last = n
		}
		if len(line) < 400 && bytes.Contains(line, []byte(`"type":"session.idle"`)) {
			turns--
		}
	}
	if turns > 0 {
		t.Errorf("a stream ended %d turns early: %v", turns, sc.Err())
	}
	return sum
}

// key names what an event is about.
func key(f frame) string {
	switch f.kind {
	case "message.part.updated":
		p := f.props["part"].(map[string]any)
		state, _ := p["state"].(map[string]any)
		return fmt.Sprint(p["sessionID"], p["id"], p["type"], state["status"])
	case "message.updated":
		i := f.props["info"].(map[string]any)
		return fmt.Sprint(i["sessionID"], i["id"], i["role"], i["finish"], i["time"].(map[string]any)["completed"] != nil)
	}
	return fmt.Sprint(f.props["sessionID"], f.props["status"])
}

// checkTurns checks that each session's turn is complete and in order.
func checkTurns(t *testing.T, history string, sessions, tools int) {
	t.Helper()
	completed := strings.Count(history, "completed\n")
	if completed != sessions*tools {
		t.Errorf("%d tool calls completed, want %d", completed, sessions*tools)
	}
	if n := strings.Count(history, "step-start"); n != sessions*(tools+1) {
		t.Errorf("%d steps, want %d", n, sessions*(tools+1))
	}
	ended := map[string]bool{}
	for line := range strings.SplitSeq(history, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		if len(rest) < 30 {
			continue
		}
		id := rest[:30]
		if ended[id] && kind != "session.updated" && kind != "session.diff" && kind != "message.updated" {
			t.Errorf("after idle: %s", line)
		}
		if kind == "session.idle" {
			ended[id] = true
		}
	}
	if len(ended) != sessions {
		t.Errorf("%d sessions ended, want %d", len(ended), sessions)
	}
}
