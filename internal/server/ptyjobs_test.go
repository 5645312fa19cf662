package server

import (
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// dial attaches to a terminal, and read returns once it has shown a text.
func (f *jobFace) dial(id string) (conn *websocket.Conn, read func(text string) string) {
	f.t.Helper()
	conn, _, err := websocket.Dial(f.t.Context(), f.rig.url+"/pty/"+id+"/connect", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.CloseNow() })
	return conn, func(text string) string {
		f.t.Helper()
		var all strings.Builder
		for !strings.Contains(all.String(), text) {
			_, data, err := conn.Read(f.t.Context())
			if err != nil {
				f.t.Fatalf("%q does not come: %q, %v", text, all.String(), err)
			}
			all.Write(data)
		}
		return all.String()
	}
}

// A job with a terminal is one of those that clients of terminals list, resize, rename,
// type into, watch and end; one without is none.
func TestTerminalOfAJob(t *testing.T) {
	f := newJobFace(t,
		`tool bash {"command":"echo ready; while read x; do stty size; echo got $x; done","pty":true,"description":"Ask"}`,
		`tool bash {"command":"sleep 1000","background":true}`,
	)
	dir := url.Values{"directory": {f.rig.dir}}.Encode()
	list := f.rig.ok("GET", "/pty?"+dir, "").([]any)
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	got := list[0].(map[string]any)
	id := got["id"].(string)
	pid := got["pid"]
	want := map[string]any{
		"id": "pty_job_1", "title": "Ask", "command": "echo ready; while read x; do stty size; echo got $x; done", "args": []any{},
		"cwd": f.rig.dir, "status": "running", "pid": pid,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, f.rig.ok("GET", "/pty/"+id, "")); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
	}
	want["title"] = "Mine"
	if diff := cmp.Diff(want, f.rig.ok("PUT", "/pty/"+id, `{"title":"Mine","size":{"rows":33,"cols":101}}`)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	one, read := f.dial(id)
	read("ready")
	_, other := f.dial(id) // a second one sees what was, and what comes
	if err := one.Write(t.Context(), websocket.MessageText, []byte("héllo\r")); err != nil {
		t.Fatal(err)
	}
	if text := read("got héllo"); !strings.Contains(text, "33 101") {
		t.Errorf("%q", text)
	}
	other("got héllo")
	if res := f.rig.do("GET", "/pty/pty_job_2", ""); res.status != 404 {
		t.Errorf("a job without a terminal: %d", res.status)
	}
	if res := f.rig.do("GET", "/pty/pty_job_9/connect", ""); res.status != 404 {
		t.Errorf("no job: %d", res.status)
	}
	if got := f.rig.ok("DELETE", "/pty/"+id, ""); got != true {
		t.Errorf("%v", got)
	}
	var err error
	for err == nil {
		_, _, err = one.Read(t.Context())
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusNormalClosure {
		t.Errorf("closed with %v (%v)", code, err)
	}
	if list := f.rig.ok("GET", "/pty?"+dir, "").([]any); len(list) != 0 {
		t.Errorf("still listed: %v", list)
	}
	if res := f.rig.do("GET", "/pty/"+id, ""); res.status != 404 {
		t.Errorf("an ended one: %d", res.status)
	}
	jobs := f.jobs(api.JobFilter{SessionID: f.id})
	if len(jobs) != 2 || jobs[0].State != "stopped" || !jobs[1].Running {
		t.Errorf("%+v", jobs)
	}
}
