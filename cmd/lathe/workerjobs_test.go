package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"lathe/internal/api"
	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// jobs lists the jobs that a query finds.
func (p *peer) jobs(query string) (out []api.Job) {
	p.w.t.Helper()
	status, raw := p.plainly("GET", "/lathe/job?"+query, "")
	if err := json.Unmarshal(raw, &out); status != http.StatusOK || err != nil {
		p.w.t.Fatalf("%d %s, %v", status, raw, err)
	}
	return out
}

func startsJob(script string) llmtest.Script {
	return llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"` + script + `","background":true,"pty":true,"description":"Serve"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("it runs")}},
	}
}

// The jobs of sessions that workers run are listed, read, typed into, shown in a terminal and
// stopped at every server, by their names alone, which differ between workers.
func TestJobsOnWorkers(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	const script = "echo ready; while read x; do echo got $x; done"
	there := newWorld(t)
	there.model("anthropic", startsJob(script))
	there.worker("worker", store)
	w := newWorld(t)
	w.model("anthropic", startsJob(script))
	w.worker("worker", store)
	front, other := w.peer("front", store, "--workers-only"), w.peer("other", store, "--workers-only")
	events := other.listenTo("/lathe/event")
	var names []string
	for _, p := range []*peer{front, {w: there, url: front.url}} {
		id := p.session(allowBash)
		p.call("POST", "/session/"+id+"/message", promptBody("go"))
		all := other.jobs("session=" + id)
		if len(all) != 1 || all[0].Command != script || !all[0].Running || all[0].Directory != p.w.dir {
			t.Fatalf("%+v", all)
		}
		names = append(names, all[0].ID)
	}
	id := names[0]
	hears(t, events, `"lathe.job.changed"`, id, "true")
	if names[1] == id {
		t.Errorf("both are %s", id)
	}
	if got := other.jobs("all=true"); len(got) != 2 || got[0].ID != id || got[1].ID != names[1] {
		t.Errorf("all are %+v", got)
	}
	if got := other.jobs("directory=" + w.dir); len(got) != 1 || got[0].ID != id {
		t.Errorf("those of the directory are %+v", got)
	}

	var one api.Job
	if status, out := other.plainly("GET", "/lathe/job/"+id, ""); status != http.StatusOK || json.Unmarshal(out, &one) != nil || one.ID != id {
		t.Errorf("%d %s", status, out)
	}
	res, err := http.Get(other.url + "/lathe/job/" + id + "/output?from=2&follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get(api.JobOutputFrom) != "2" || res.Header.Get(api.JobOutputOver) != "" {
		t.Errorf("%s %v", res.Status, res.Header)
	}
	if status, out := front.plainly("POST", "/lathe/job/"+id+"/input", `{"data":"hunter2","keys":["enter"]}`); status != http.StatusOK {
		t.Errorf("%d %s", status, out)
	}
	printed := followed(t, res.Body, "got hunter2")
	if !strings.HasPrefix(printed, "ady") {
		t.Errorf("%q", printed)
	}

	terminal := "pty_" + id
	if list := string(other.call("GET", "/pty", "")); strings.Count(list, `"`+terminal+`"`) != 1 || strings.Contains(list, names[1]) {
		t.Errorf("the terminals are %s", list)
	}
	conn, sees := terminalAt(t, other, terminal)
	sees("got hunter2")
	other.call("PUT", "/pty/"+terminal, `{"size":{"rows":33,"cols":101}}`)
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("héllo\r")); err != nil {
		t.Fatal(err)
	}
	sees("got héllo")

	if status, out := other.plainly("POST", "/lathe/job/"+id+"/stop", ""); status != http.StatusOK || json.Unmarshal(out, &one) != nil || one.State != "stopped" {
		t.Errorf("%d %s", status, out)
	}
	for err = nil; err == nil; {
		_, _, err = conn.Read(t.Context())
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusNormalClosure {
		t.Errorf("closed with %v (%v)", code, err)
	}
	if rest, err := io.ReadAll(res.Body); err != nil || !bytes.Contains(rest, []byte("héllo")) {
		t.Errorf("the rest is %q, %v", rest, err)
	}
	if status, out := other.plainly("GET", "/lathe/job/"+id+"/output", ""); status != http.StatusOK || !bytes.Contains(out, []byte("got héllo")) {
		t.Errorf("all of it: %d %q", status, out)
	}
	for _, path := range []string{"/lathe/job/job_9_abcdef", "/lathe/job/job_9_abcdef/output", "/pty/" + terminal} {
		if status, out := other.plainly("GET", path, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, out)
		}
	}
	if got := front.jobs("all=true"); !slices.ContainsFunc(got, func(j api.Job) bool { return j.ID == names[1] && j.Running }) {
		t.Errorf("the other has ended, too: %+v", got)
	}
}

// followed reads until a text has come, and returns what came.
func followed(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var all []byte
	buf := make([]byte, 1<<10)
	for !bytes.Contains(all, []byte(text)) {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil {
			t.Fatalf("%q does not come: %q, %v", text, all, err)
		}
	}
	return string(all)
}

// Who follows a job of a worker that is killed does not take that for the job's end.
func TestJobOfAKilledWorker(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.model("anthropic", startsJob("echo ready; sleep 1000"))
	worker := w.worker("worker", store)
	front := w.peer("front", store, "--workers-only")
	ses := front.session(allowBash)
	front.call("POST", "/session/"+ses+"/message", promptBody("go"))
	all := front.jobs("session=" + ses)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	res, err := http.Get(front.url + "/lathe/job/" + all[0].ID + "/output?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	followed(t, res.Body, "ready")
	worker.kill()
	if rest, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("it ended with %q", rest)
	}
}

// A job of somebody else's session is not changed at another server either, and a person of
// another project does not get at it.
func TestJobsOnWorkersBelongToTheirPerson(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.model("anthropic", startsJob("echo ready; sleep 1000"))
	token := func(more ...string) string { return w.person(store, more...) }
	ann, strangers := token("ann", "--role", "author"), map[string]string{"an author": token("bob"), "one of another project": token("carol", "--project", t.TempDir()), "nobody": ""}
	w.worker("worker", store)
	front, other := w.peer("front", store, "--workers-only"), w.peer("other", store, "--workers-only")
	front.token = ann
	ses := front.session(allowBash)
	front.call("POST", "/session/"+ses+"/message", promptBody("go"))
	all := front.jobs("session=" + ses)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	one := "/lathe/job/" + all[0].ID
	for who, token := range strangers {
		other.token = token
		for path, body := range map[string]string{one + "/input": `{"data":"x"}`, one + "/size": `{"rows":10,"cols":20}`, one + "/stop": ""} {
			if status, out := other.plainly("POST", path, body); status != http.StatusForbidden && status != http.StatusUnauthorized {
				t.Errorf("%s: %s: %d %s", who, path, status, out)
			}
		}
		if who == "an author" { // reads, as everybody of the project
			continue
		}
		for _, path := range []string{one, one + "/output", "/lathe/job?all=true"} {
			if status, out := other.plainly("GET", path, ""); status < 400 {
				t.Errorf("%s: %s: %d %s", who, path, status, out)
			}
		}
	}
	other.token = ann
	if status, out := other.plainly("POST", one+"/stop", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, out)
	}
}
