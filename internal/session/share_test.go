package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/provider"
	"lathe/internal/session"
	"lathe/internal/share"
)

// shareServer keeps what it is sent.
type shareServer struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]string // by type and id
	calls   []string
	status  int // answers with it; 0: works
	arrived []chan struct{}
}

func newShareServer(t *testing.T) *shareServer {
	s := &shareServer{objects: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *shareServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	var in struct {
		SessionID, Secret string
		Data              []struct {
			Type string
			Data struct{ ID, Text string }
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		s.calls = append(s.calls, "bad body: "+err.Error())
	}
	s.calls = append(s.calls, r.Method+" "+r.URL.Path+" "+in.Secret)
	if s.status != 0 {
		if s.status/100 == 3 {
			w.Header().Set("Location", s.URL+"/elsewhere")
		}
		w.WriteHeader(s.status)
		return
	}
	for _, d := range in.Data {
		s.objects[d.Type+" "+d.Data.ID] = d.Data.Text
	}
	for _, c := range s.arrived {
		close(c)
	}
	s.arrived = nil
	if r.URL.Path == "/api/share" {
		fmt.Fprintf(w, `{"id":"pub1","url":"%s/s/pub1","secret":"hush-%s"}`, s.URL, in.SessionID)
	}
}

func (s *shareServer) set(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// next returns a channel that is closed when the next objects came.
func (s *shareServer) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{})
	s.arrived = append(s.arrived, c)
	return c
}

func (s *shareServer) seen() (calls []string, objects map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects = map[string]string{}
	for k, v := range s.objects {
		objects[k] = v
	}
	return slices.Clone(s.calls), objects
}

// plain encodes an object by its id and its text.
func plain(object any) (json.RawMessage, error) {
	var id, text string
	switch o := object.(type) {
	case lathe.Session:
		id, text = string(o.ID), o.Title
	case lathe.Message:
		id = string(o.ID)
	case lathe.Part:
		id = string(o.ID)
		if t, ok := o.Body.(*lathe.Text); ok {
			text = t.Text
		}
	case []lathe.FileDiff:
		for _, d := range o {
			text += d.File
		}
	case []*provider.Model:
	}
	return json.Marshal(map[string]string{"id": id, "text": text})
}

// stored is what a service should have of a session.
func stored(t *testing.T, svc *session.Service, id lathe.SessionID) map[string]string {
	t.Helper()
	sess, err := svc.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"session " + string(id): sess.Title, "session_diff ": ""}
	msgs, err := svc.Messages(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs {
		out["message "+string(m.ID)] = ""
		for _, p := range m.Parts {
			text := ""
			if b, ok := p.Body.(*lathe.Text); ok {
				text = b.Text
			}
			out["part "+string(p.ID)] = text
		}
	}
	diffs, err := svc.Diffs.Of(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diffs {
		out["session_diff "] += d.File
	}
	return out
}

// sharing returns a world whose configuration names the service.
func sharing(t *testing.T, conf map[string]any) *world {
	w := newWorld(t)
	raw, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	w.env["LATHE_CONFIG_CONTENT"] = string(raw)
	w.sharing = share.Remote{Encode: plain}
	return w
}

func TestShare(t *testing.T) {
	srv := newShareServer(t)
	w := sharing(t, map[string]any{"enterprise": map[string]any{"url": srv.URL + "/"}})
	svc, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(svc)
	w.ask(svc, id, "echo made > made.txt")
	sess, err := svc.Shares.Share(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := &lathe.Share{ID: "pub1", URL: srv.URL + "/s/pub1", Secret: "hush-" + string(id), Service: srv.URL}
	if diff := cmp.Diff(want, sess.Share); diff != "" {
		t.Errorf("share (-want +got):\n%s", diff)
	}
	_, objects := srv.seen()
	delete(objects, "model ")
	if diff := cmp.Diff(stored(t, svc, id), objects); diff != "" {
		t.Errorf("sent (-stored +sent):\n%s", diff)
	}
	if again, err := svc.Shares.Share(t.Context(), id); err != nil || *again.Share != *want {
		t.Errorf("shared again: %+v, %v", again.Share, err)
	}

	w.ask(svc, id, "true") // what is unsent at the end is sent by stop
	stop()
	svc, stop = w.service()
	defer stop()
	_, objects = srv.seen()
	delete(objects, "model ")
	if diff := cmp.Diff(stored(t, svc, id), objects); diff != "" {
		t.Errorf("sent later (-stored +sent):\n%s", diff)
	}

	sess, err = svc.Shares.Unshare(t.Context(), id, false)
	if err != nil || sess.Share != nil {
		t.Errorf("unshare: %+v, %v", sess.Share, err)
	}
	calls, _ := srv.seen()
	if got, want := calls[len(calls)-1], "DELETE /api/share/pub1 hush-"+string(id); got != want {
		t.Errorf("last call %q, want %q", got, want)
	}
	if _, err := svc.Shares.Unshare(t.Context(), id, false); err != nil {
		t.Errorf("unshare twice: %v", err)
	}
	if again, _ := srv.seen(); len(again) != len(calls) {
		t.Errorf("calls after the session was taken back: %q", again[len(calls):])
	}
}

// TestShareFollowsAcrossProcesses shares in one process and goes on in another.
func TestShareFollowsAcrossProcesses(t *testing.T) {
	srv := newShareServer(t)
	w := sharing(t, map[string]any{"enterprise": map[string]any{"url": srv.URL}})
	svc, stop := w.playing(oneCall{"bash", "command"})
	id := w.create(svc)
	if _, err := svc.Shares.Share(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	stop()
	svc, stop = w.service()
	defer func() { stop() }()
	w.ask(svc, id, "true")
	stop()
	svc, stop = w.service()
	_, objects := srv.seen()
	delete(objects, "model ")
	if diff := cmp.Diff(stored(t, svc, id), objects); diff != "" {
		t.Errorf("sent (-stored +sent):\n%s", diff)
	}
}

func TestShareDeleted(t *testing.T) {
	srv := newShareServer(t)
	w := sharing(t, map[string]any{"enterprise": map[string]any{"url": srv.URL}})
	svc, stop := w.service()
	defer stop()
	id := w.create(svc)
	if _, err := svc.Shares.Share(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	srv.set(503)
	if err := svc.Delete(t.Context(), id); lathe.CodeOf(err) != lathe.CodeProvider {
		t.Errorf("deleted although it stays published: %v", err)
	}
	if _, err := svc.Shares.Unshare(t.Context(), id, true); err != nil {
		t.Errorf("forget: %v", err)
	}
	if err := svc.Delete(t.Context(), id); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// TestShareOfAnImport holds that a share of another program is not taken over.
func TestShareOfAnImport(t *testing.T) {
	w := newWorld(t)
	svc, stop := w.service()
	defer stop()
	in := session.Import{Hash: "h", Session: lathe.Session{
		ID: "ses_imported", ProjectID: "p", Directory: w.repo, Share: &lathe.Share{URL: "https://share.example.com/x"},
	}}
	if _, err := svc.Importer.Add(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if sess, err := svc.Get(t.Context(), "ses_imported"); err != nil || sess.Share != nil {
		t.Errorf("share %+v, %v", sess.Share, err)
	}
	if err := svc.Delete(t.Context(), "ses_imported"); err != nil {
		t.Error(err)
	}
}

func TestAutoShare(t *testing.T) {
	srv := newShareServer(t)
	w := sharing(t, map[string]any{"share": "auto", "enterprise": map[string]any{"url": srv.URL}})
	svc, stop := w.playing(oneCall{"bash", "command"})
	came := srv.next() // create
	id := w.create(svc)
	<-came
	w.ask(svc, id, "true")
	child, err := svc.Create(t.Context(), session.Create{Directory: w.repo, ParentID: id})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	svc, stop = w.service()
	defer stop()
	_, objects := srv.seen()
	delete(objects, "model ")
	if diff := cmp.Diff(stored(t, svc, id), objects); diff != "" {
		t.Errorf("sent (-stored +sent):\n%s", diff)
	}
	if c, err := svc.Get(t.Context(), child.ID); err != nil || c.Share != nil {
		t.Errorf("child: %+v, %v", c.Share, err)
	}
}

func TestShareRefused(t *testing.T) {
	srv := newShareServer(t)
	url := func(u string) map[string]any { return map[string]any{"enterprise": map[string]any{"url": u}} }
	for _, tt := range []struct {
		name   string
		conf   map[string]any
		env    map[string]string
		status int
		want   string
		code   lathe.Code
	}{
		{"no service", map[string]any{}, nil, 0, "no share service is configured", lathe.CodeInvalid},
		{"disabled", map[string]any{"share": "disabled", "enterprise": map[string]any{"url": srv.URL}}, nil, 0, "sharing is disabled", lathe.CodeInvalid},
		{"disabled by the environment", url(srv.URL), map[string]string{"OPENCODE_DISABLE_SHARE": "1"}, 0, "sharing is disabled", lathe.CodeInvalid},
		{"not encrypted", url("http://share.example.com"), nil, 0, "https only", lathe.CodeInvalid},
		{"with a password", url("https://u:p@share.example.com"), nil, 0, "is not an address", lathe.CodeInvalid},
		{"no address", url("share"), nil, 0, "is not an address", lathe.CodeInvalid},
		{"broken", url(srv.URL), nil, 500, "500 Internal Server Error", lathe.CodeProvider},
		{"elsewhere", url(srv.URL), nil, 307, "307 Temporary Redirect", lathe.CodeProvider},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := sharing(t, tt.conf)
			for k, v := range tt.env {
				w.env[k] = v
			}
			srv.set(tt.status)
			svc, stop := w.service()
			defer stop()
			sess, err := svc.Shares.Share(t.Context(), w.create(svc))
			if err == nil || !strings.Contains(err.Error(), tt.want) || lathe.CodeOf(err) != tt.code || sess.Share != nil {
				t.Errorf("share: %v (%s), %+v; want %q (%s)", err, lathe.CodeOf(err), sess.Share, tt.want, tt.code)
			}
		})
	}
	calls, _ := srv.seen()
	for _, c := range calls {
		if !strings.HasPrefix(c, "POST /api/share ") {
			t.Errorf("unexpected call %q", c)
		}
	}
}

// TestShareNeverDisturbs runs turns while the service hangs or fails.
func TestShareNeverDisturbs(t *testing.T) {
	for _, status := range []int{500, 404, 200} {
		srv := newShareServer(t)
		w := sharing(t, map[string]any{"enterprise": map[string]any{"url": srv.URL}})
		svc, stop := w.playing(oneCall{"bash", "command"})
		id := w.create(svc)
		if _, err := svc.Shares.Share(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		srv.set(status)
		if out := w.ask(svc, id, "true"); out.Failure != nil {
			t.Errorf("status %d: %v", status, out.Failure)
		}
		stop()
	}
}

// TestShareQueue holds what goes out and when: once a second has passed without
// a change, each object in its newest state.
func TestShareQueue(t *testing.T) {
	synctestShare(t, func(t *testing.T, svc *session.Service, rt *recordedTrips, sess lathe.Session, publish func(lathe.Event)) {
		shareNow(t, svc, sess.ID)
		rt.take()
		part := func(id, text string) lathe.Event {
			return lathe.PartUpdated{Part: lathe.Part{ID: lathe.PartID(id), SessionID: sess.ID, MessageID: "m", Body: &lathe.Text{Text: text}}}
		}
		for i := range 5 {
			publish(part("a", fmt.Sprint("draft ", i)))
			publish(part("b", fmt.Sprint("other ", i)))
			sleep(t, 400*time.Millisecond)
		}
		publish(lathe.PartRemoved{SessionID: sess.ID, MessageID: "m", PartID: "b"})
		publish(lathe.PartUpdated{Part: lathe.Part{ID: "x", SessionID: "ses_other", Body: &lathe.Text{Text: "x"}}})
		sleep(t, 999*time.Millisecond)
		if got := rt.take(); got != nil {
			t.Errorf("sent before a second of quiet: %q", got)
		}
		sleep(t, time.Millisecond)
		if diff := cmp.Diff([]string{"part a draft 4"}, rt.take()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		// Changes without a pause go out all the same.
		for i := range 24 {
			publish(part("a", fmt.Sprint("long ", i)))
			sleep(t, 500*time.Millisecond)
		}
		if got := rt.take(); len(got) != 1 {
			t.Errorf("sent while changes came for 12 s: %q", got)
		}
		sleep(t, time.Second)
		if diff := cmp.Diff([]string{"part a long 23"}, rt.take()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		// What fails is sent again, in its newest state.
		rt.fail(true)
		publish(part("a", "first"))
		publish(part("c", "kept"))
		sleep(t, time.Second)
		publish(part("a", "second"))
		rt.fail(false)
		sleep(t, 1500*time.Millisecond)
		if got := rt.take(); got != nil {
			t.Errorf("tried again too early: %q", got)
		}
		sleep(t, 500*time.Millisecond)
		if diff := cmp.Diff([]string{"part a second", "part c kept"}, rt.take()); diff != "" {
			t.Errorf("sent after a failure (-want +got):\n%s", diff)
		}
		// Too much for the queue: the whole session is sent from the store.
		rt.fail(true)
		for i := range 1100 {
			publish(part(fmt.Sprint("p", i), "x"))
		}
		sleep(t, time.Second)
		rt.fail(false)
		sleep(t, 2*time.Second)
		if got := rt.take(); !slices.Contains(got, "session "+string(sess.ID)+" named") || len(got) > 110 {
			t.Errorf("whole session: %d objects", len(got))
		}
	})
}

func shareNow(t *testing.T, svc *session.Service, id lathe.SessionID) {
	t.Helper()
	if _, err := svc.Shares.Share(context.Background(), id); err != nil {
		t.Fatal(err)
	}
}
