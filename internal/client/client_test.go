package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"lathe"
	"lathe/internal/opencode/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAddresses(t *testing.T) {
	for _, u := range []string{"", "localhost:1", "ftp://x", "http://", "://", "user:secret@host"} {
		_, err := New(Options{URL: u})
		if lathe.CodeOf(err) != lathe.CodeInvalid {
			t.Errorf("%q: %v", u, err)
		}
	}
	for address, want := range map[string]string{
		"http://h:1": "http://h:1", "http://u:secret@h:1/x": "http://…@h:1/x", "u:secret@h": "…@h", "unix:/a": "unix:/a",
	} {
		if got := Shown(address); got != want {
			t.Errorf("%q is shown as %q, want %q", address, got, want)
		}
	}
}

// An address may hold a password; it goes to the server and nowhere else.
func TestPasswordInTheAddress(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"version":"1"}`)
	})
	c, err := New(Options{URL: "http://me:secret@localhost", Transport: InProcess(h)})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Health(t.Context()); v != "1" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	c, err = New(Options{URL: "http://localhost", Transport: InProcess(h), Password: "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); lathe.CodeOf(err) != lathe.CodeAuth {
		t.Errorf("wrong password: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		code   lathe.Code
		text   string
	}{
		{404, `{"name":"NotFoundError","data":{"message":"there is no session","hint":"h"}}`, lathe.CodeNotFound, "there is no session"},
		{409, `{"name":"SessionBusyError","data":{"message":"busy"}}`, lathe.CodeBusy, "busy"},
		{409, `{"name":"MessageAbortedError","data":{"message":"aborted"}}`, lathe.CodeAborted, "aborted"},
		{400, `{"name":"ProviderAuthError","data":{"message":"no key"}}`, lathe.CodeAuth, "no key"},
		{429, `{"name":"LimitError","data":{"message":"enough"}}`, lathe.CodeLimit, "enough"},
		{400, `{"name":"BadRequest","data":{"message":"wrong"}}`, lathe.CodeInvalid, "wrong"},
		{502, `{"name":"APIError","data":{"message":"down"}}`, lathe.CodeProvider, "down"},
		{403, `no`, lathe.CodePermission, "the server answers 403 Forbidden"},
		{500, ``, lathe.CodeInternal, "the server answers 500 Internal Server Error"},
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "req_1")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		c, err := New(Options{URL: "http://localhost", Transport: InProcess(h)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Health(t.Context()); lathe.CodeOf(err) != tt.code || err.Error() != tt.text {
			t.Errorf("%d %s: %v (%s)", tt.status, tt.body, err, lathe.CodeOf(err))
		}
	}
	c, err := New(Options{URL: "http://localhost", Transport: InProcess(http.NotFoundHandler())})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "../config"); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("no id of a session: %v", err)
	}
}

// A handler within the process answers with its errors as they are.
func TestErrorsOfTheSameProcess(t *testing.T) {
	cause := errors.New("the disk is full")
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(interface{ Fail(error) }).Fail(fmt.Errorf("store the prompt: %w", cause))
	})
	c, err := New(Options{URL: "http://localhost", Transport: InProcess(h)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); !errors.Is(err, cause) || err.Error() != "store the prompt: the disk is full" {
		t.Errorf("%v", err)
	}
}

// streams is a server of events whose connections a test writes by hand.
type streams struct {
	next  chan func(w http.ResponseWriter, r *http.Request)
	asked []string // Last-Event-ID of each connection
}

func (s *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Header.Get("Last-Event-ID"))
	select {
	case serve := <-s.next:
		serve(w, r)
	case <-r.Context().Done():
	}
}

func hello(resumed bool, at string) string {
	return fmt.Sprintf("id: %s\ndata: {\"type\":\"server.connected\",\"properties\":{\"resumed\":%t}}\n\n", at, resumed)
}

func delta(at, text string, end int) string {
	ev, _ := wire.EncodeOwnEvent(lathe.Envelope{Event: lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_1", PartID: "prt_1", Delta: text, End: end}})
	return "id: " + at + "\ndata: " + string(ev.Bytes()) + "\n\n"
}

// say answers with frames and then ends, or hangs.
func say(hang bool, frames ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, f := range frames {
			_, _ = io.WriteString(w, f)
		}
		if hang {
			<-r.Context().Done()
		}
	}
}

// What a reader is told when connections break, hang, are refused and come back.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &streams{next: make(chan func(http.ResponseWriter, *http.Request), 10)}
		refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
		s.next <- say(false, hello(false, "e-4"), delta("e-5", "a", 1))
		s.next <- refuse
		s.next <- say(false, hello(true, "e-5"), delta("e-6", "b", 2), "data: {\"type\":\"server.heartbeat\"}\n\n")
		s.next <- say(true, hello(false, "f-9"), delta("f-10", "c", 3)) // another process; then it says nothing
		s.next <- say(false, hello(true, "f-10"), "id: f-11\ndata: nonsense\n\n")
		s.next <- say(false, hello(true, "f-11"), delta("f-12", "d", 4))
		s.next <- func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		c, err := New(Options{URL: "http://localhost", Transport: InProcess(s)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		began := time.Now()
		for u, err := range c.Follow(t.Context()) {
			switch {
			case err != nil:
				got = append(got, "end: "+string(lathe.CodeOf(err)))
			case u.Event != nil:
				d := u.Event.(lathe.PartDelta)
				got = append(got, fmt.Sprintf("%d %s %d", u.Seq, d.Delta, d.End))
			case u.Open:
				got = append(got, fmt.Sprintf("open at %d, lost %v", u.Seq, u.Lost))
			default:
				got = append(got, fmt.Sprintf("broken, again in %s", u.Retry))
			}
		}
		want := []string{
			"open at 4, lost false", "5 a 1", "broken, again in 200ms", "broken, again in 400ms",
			"open at 5, lost false", "6 b 2", "broken, again in 200ms",
			"open at 9, lost true", "10 c 3", "broken, again in 200ms",
			"open at 10, lost false", "open at 11, lost true", "broken, again in 200ms",
			"open at 11, lost false", "12 d 4", "broken, again in 200ms", "end: auth",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"", "e-5", "e-5", "e-6", "f-10", "f-11", "f-12"}, s.asked); diff != "" {
			t.Errorf("resumed after (-want +got):\n%s", diff)
		}
		if took := time.Since(began); took < silence || took > 2*silence {
			t.Errorf("a silent server was given %s", took)
		}
	})
}

// Waiting for a connection ends with the context.
func TestFollowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("leaving")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c, err := New(Options{URL: "http://localhost", Transport: failing{}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for u, err := range c.Follow(ctx) {
			if n++; n == 3 {
				cancel(cause)
			}
			switch {
			case n <= 3 && !errors.Is(u.Err, ErrUnreachable):
				t.Errorf("round %d: %+v, %v", n, u, err)
			case n == 4 && !errors.Is(err, cause), n > 4:
				t.Errorf("round %d: %v", n, err)
			}
		}
		if n != 4 {
			t.Errorf("%d rounds", n)
		}
	})
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// Servers are found by the files that they left; those that died are cleared away.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	listen := func(network, address string) net.Listener {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	tcp := listen("tcp", "127.0.0.1:0")
	sock := filepath.Join(dir, "2.sock")
	listen("unix", sock)
	gone := listen("tcp", "127.0.0.1:0")
	dead := gone.Addr().String()
	_ = gone.Close()
	if err := os.WriteFile(filepath.Join(dir, "3.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := Running{PID: 1, URL: "http://" + tcp.Addr().String(), Dir: "/a", Started: at}
	young := Running{PID: 2, URL: "http://" + dead, Socket: sock, Dir: "/b", Started: at.Add(time.Hour)}
	for _, r := range []Running{old, young, {PID: 3, Socket: filepath.Join(dir, "3.sock"), Dir: "/c"}, {PID: 4, URL: "http://" + dead, Dir: "/d"}} {
		if _, err := Announce(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, mode os.FileMode, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, data, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("5.json", 0o644, Running{PID: 5, URL: old.URL}) // anybody may have read it
	write("6.json", 0o600, Running{PID: 6, Socket: "relative"})
	write("7.json", 0o600, Running{PID: 7, URL: "file:///etc/passwd"})
	write("8.json", 0o600, "no record")
	write("9.json", 0o600, Running{PID: 9})
	if err := os.Symlink(filepath.Join(dir, "1.json"), filepath.Join(dir, "10.json")); err != nil {
		t.Fatal(err)
	}
	got, err := Find(t.Context(), dir)
	if diff := cmp.Diff([]Running{young, old}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	left, err := filepath.Glob(filepath.Join(dir, "[34].*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	remove, err := Announce(dir, Running{PID: 11, URL: old.URL})
	if err != nil {
		t.Fatal(err)
	}
	remove()
	names, err := filepath.Glob(filepath.Join(dir, "11*"))
	if err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	if none, err := Find(t.Context(), filepath.Join(dir, "no such")); err != nil || len(none) > 0 {
		t.Errorf("no directory: %v, %v", none, err)
	}
	if i := slices.IndexFunc(got, func(r Running) bool { return r.Name() == tcp.Addr().String() }); i != 1 {
		t.Errorf("names: %v", got)
	}
}

// A peer that knows nothing of Go gets a response where a face gets the error itself.
func TestInProcessHTTP(t *testing.T) {
	fails := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if in, ok := w.(interface{ Fail(error) }); ok {
			in.Fail(errors.New("the error itself"))
			return
		}
		http.Error(w, "no", http.StatusTeapot)
		w.(http.Flusher).Flush()
	})
	req := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	if _, err := InProcess(fails).RoundTrip(req); err == nil || err.Error() != "the error itself" {
		t.Errorf("a face gets %v", err)
	}
	resp, err := InProcessHTTP(fails).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusTeapot || string(body) != "no\n" {
		t.Errorf("a peer gets %d %q, %v", resp.StatusCode, body, err)
	}
}
