package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/people"
	"lathe/internal/store"
)

// things is what a session of the person "author" has begun: a job, and then an ask or a question.
type things struct {
	*rig
	crowd   *crowd
	session lathe.SessionID
	ask     string
	sub     *bus.Subscription
}

// newThings plays a script of the model in a session of author until something is asked.
func newThings(t *testing.T, calls ...string) *things {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a POSIX shell")
	}
	r, c := namedRig(t)
	c.all["far"] = store.Person{Name: "far", Role: people.Author, Projects: []string{"/nowhere"}}
	th := &things{rig: r, crowd: c, sub: r.bus.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})}
	t.Cleanup(th.sub.Close)
	body := `{"permission":[{"permission":"*","pattern":"*","action":"allow"},{"permission":"webfetch","pattern":"*","action":"ask"}]}`
	if status, answer := r.as("author", "POST", "/session?directory="+url.QueryEscape(r.dir), body); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	for th.session = range c.claims {
	}
	prompt := promptBody(r.script("things.txt", strings.Join(append(calls, "text done"), "\n---\n")), "go")
	if status, answer := r.as("author", "POST", "/session/"+string(th.session)+"/prompt_async", prompt); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	th.ask = th.asked()
	return th
}

func (th *things) asked() string {
	th.t.Helper()
	ctx, cancel := context.WithTimeout(th.t.Context(), time.Minute)
	defer cancel()
	for {
		env, err := th.sub.Next(ctx)
		if err != nil {
			th.t.Fatal(err)
		}
		switch ev := env.Event.(type) {
		case lathe.PermissionAsked:
			return string(ev.Ask.ID)
		case lathe.QuestionAsked:
			return string(ev.Ask.ID)
		case lathe.SessionStatus:
			if _, idle := ev.Status.(lathe.Idle); idle {
				th.t.Fatal("the turn has ended, and nothing was asked")
			}
		}
	}
}

const (
	jobCall      = `tool bash {"command":"echo up; while read -r x; do echo got $x; done; sleep 1000","description":"x","background":true,"pty":true}`
	askCall      = `tool webfetch {"url":"http://127.0.0.1:1/","format":"text"}`
	questionCall = `tool question {"questions":[{"question":"Which?","header":"Which","options":[{"label":"a","description":"b"}]}]}`
)

// Who may not change a session does not reach its jobs, asks and questions either, although
// their routes do not name it; what is refused is recorded with the session. Nor does a session
// begin below one of somebody else.
func TestThingsOfASessionBelongToItsPerson(t *testing.T) {
	for _, call := range []string{askCall, questionCall} {
		th := newThings(t, jobCall, call)
		type change struct{ path, body string }
		changes := []change{
			{"/lathe/job/job_1/input", `{"data":"x"}`}, {"/lathe/job/job_1/size", `{"rows":10,"cols":20}`}, {"/lathe/job/job_1/stop", ""},
		}
		if call == askCall {
			changes = append(changes, change{"/permission/" + th.ask + "/reply", `{"reply":"reject"}`})
		} else {
			changes = append(changes, change{"/question/" + th.ask + "/reply", `{"answers":[["a"]]}`}, change{"/question/" + th.ask + "/reject", ""})
		}
		for _, who := range []string{"other", "far", "reader"} {
			for _, ch := range changes {
				before := len(th.crowd.told)
				if status, body := th.as(who, "POST", ch.path, ch.body); status != http.StatusForbidden {
					t.Errorf("%s: %s: %d %s", who, ch.path, status, body)
				}
				if told := th.crowd.told[before:]; len(told) != 1 || !told[0].Refused || told[0].Session != th.session {
					t.Errorf("%s: %s is recorded as %+v", who, ch.path, told)
				}
			}
			parent := fmt.Sprintf(`{"parentID":%q}`, th.session)
			if status, body := th.as(who, "POST", "/session?directory="+url.QueryEscape(th.dir), parent); status != http.StatusForbidden {
				t.Errorf("%s: a session below it: %d %s", who, status, body)
			}
		}
		for _, ch := range append(changes[:3:3], changes[len(changes)-1]) {
			if status, body := th.as("author", "POST", ch.path, ch.body); status != http.StatusOK {
				t.Errorf("author: %s: %d %s", ch.path, status, body)
			}
		}
		if status, body := th.as("other", "POST", "/lathe/job/job_9/stop", ""); status != http.StatusNotFound {
			t.Errorf("a job that is not there: %d %s", status, body)
		}
	}
}

// What another server passed on comes with a name only, and without the check at the gate.
func TestThingsThatAnotherServerChanges(t *testing.T) {
	th := newThings(t, jobCall, questionCall)
	for name, want := range map[string]lathe.Code{"other": lathe.CodePermission, "far": lathe.CodePermission, "author": "", "owner": "", "": ""} {
		r, err := http.NewRequestWithContext(people.With(t.Context(), name), "POST", "http://lathe/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		err = (&call{s: th.srv, r: r}).mayChange(th.session)
		if (err == nil) != (want == "") || err != nil && lathe.CodeOf(err) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if status, body := th.as("author", "POST", "/question/"+th.ask+"/reject", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// toldToAll are the routes that tell and change nothing of a project: what is the same for all,
// what is a person's own, and who works for the servers, which is refused where there are any.
const toldToAll = `
GET /api/health
GET /api/permission/saved
GET /experimental/capabilities
GET /experimental/console
GET /experimental/console/orgs
POST /api/session
GET /api/event
GET /doc
GET /global/health
PUT /auth/{providerID}
DELETE /auth/{providerID}
POST /log
GET /lathe/keys
POST /lathe/shared
GET /lathe/workers
`

// Who may use other projects gets nothing of this one on any route, whatever is named: its
// directory, its sessions, or what these have begun.
func TestNoRouteLeadsToAForeignProject(t *testing.T) {
	th := newThings(t, jobCall, questionCall)
	sess, err := th.svc.Get(t.Context(), th.session)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.NewReplacer("{sessionID}", string(th.session), "{messageID}", "msg_1", "{partID}", "prt_1", "{permissionID}", "per_1",
		"{name}", "x", "{providerID}", "x", "{projectID}", sess.ProjectID, "{ptyID}", "pty_job_1", "{jobID}", "job_1", "{file}", "x")
	open := map[string]bool{}
	for _, name := range strings.Split(strings.TrimSpace(toldToAll), "\n") {
		open[name] = true
	}
	for _, route := range th.srv.allRoutes() {
		name := route.method + " " + route.path
		if open[name] || needs()[name].role == "public" {
			continue
		}
		ask := "per_1"
		if strings.HasPrefix(route.path, "/question") {
			ask = th.ask
		}
		at := strings.ReplaceAll(path.Replace(route.path), "{requestID}", ask) + "?directory=" + url.QueryEscape(th.dir) +
			"&mode=git&provider=script&model=x&pattern=*&query=x&path=a.txt"
		for _, who := range []string{"far", "elsewhere"} {
			if status, body := th.as(who, route.method, at, `{"url":"x","name":"x","directory":"x","id":"x","reply":"once"}`); status != http.StatusForbidden && status != http.StatusNotFound {
				t.Errorf("%s: %s: %d %.100s", who, name, status, body)
			}
		}
	}
	if status, body := th.as("author", "POST", "/question/"+th.ask+"/reject", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}
