package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/api"
)

// replica is one of several servers, and notes what it is asked.
type replica struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	answer http.HandlerFunc
}

func newReplica(t *testing.T, answer http.HandlerFunc) *replica {
	t.Helper()
	r := &replica{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		user, password, _ := req.BasicAuth()
		r.mu.Lock()
		r.asked = append(r.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s:%s %s", req.Method, req.URL.EscapedPath(), user, password, body)))
		r.mu.Unlock()
		r.answer(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *replica) heard() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// A list of addresses is one server as long as that takes requests. What it may have begun is
// not asked of the next one.
func TestSeveralServers(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + gone.Addr().String()
	_ = gone.Close()
	stops, cuts := newReplica(t, says(503, "stopping")), newReplica(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	good := newReplica(t, says(200, `{"version":"1","x":"y"}`))
	behind := strings.Replace(good.URL, "http://", "http://ann:hers@", 1) + "/team/"
	for name, tt := range map[string]struct {
		places []string
		method string
		ok     bool
		server string
	}{
		"nobody is there, read":     {[]string{nobody, good.URL}, "GET", true, good.URL},
		"nobody is there, changed":  {[]string{nobody, good.URL}, "POST", true, good.URL},
		"it stops":                  {[]string{stops.URL, good.URL}, "POST", true, good.URL},
		"it breaks off, read":       {[]string{cuts.URL, good.URL}, "GET", true, good.URL},
		"it breaks off, changed":    {[]string{cuts.URL, good.URL}, "POST", false, good.URL},
		"round the list":            {[]string{nobody, stops.URL, cuts.URL, behind}, "GET", true, Shown(behind)},
		"none":                      {[]string{nobody, nobody}, "GET", false, nobody},
		"all stop":                  {[]string{stops.URL, stops.URL}, "GET", false, stops.URL},
		"with blanks after a comma": {[]string{nobody, " " + good.URL}, "GET", true, good.URL},
	} {
		c, err := New(Options{URL: strings.Join(tt.places, ","), Password: "sesame"})
		if err != nil {
			t.Fatal(err)
		}
		before := len(good.heard())
		_, err = c.call(t.Context(), tt.method, "/a%2Fb", nil, map[string]int{"n": 1})
		if (err == nil) != tt.ok || c.server() != tt.server {
			t.Errorf("%s: %v, then at %s", name, err, c.server())
		}
		want := []string{tt.method + ` /a%2Fb opencode:sesame {"n":1}`}
		switch {
		case !tt.ok:
			want = nil
		case name == "round the list":
			want = []string{tt.method + ` /team/a%2Fb ann:hers {"n":1}`}
		}
		if diff := cmp.Diff(want, good.heard()[before:], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := New(Options{URL: good.URL + ",https://"}); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("one that is no address: %v", err)
	}
	if got := Shown("http://a:secret@b:1,unix:/x,y"); got != "http://…@b:1,unix:/x,y" {
		t.Errorf("shown as %s", got)
	}
}

// Events go on at the next server where they were, when theirs breaks off or says nothing more;
// what happens is told.
func TestFollowMovesOn(t *testing.T) {
	for name, silent := range map[string]bool{"it breaks off": false, "it says nothing more": true} {
		t.Run(name, func(t *testing.T) {
			stream := func(w http.ResponseWriter, r *http.Request, id string) {
				resumed := r.Header.Get("Last-Event-ID") == "a-7"
				fmt.Fprintf(w, "id: %s\ndata: {\"type\":\"server.connected\",\"properties\":{\"resumed\":%t}}\n\n", id, resumed)
				_ = http.NewResponseController(w).Flush()
			}
			var over atomic.Bool
			first := newReplica(t, func(w http.ResponseWriter, r *http.Request) {
				if over.Swap(true) {
					panic(http.ErrAbortHandler)
				}
				stream(w, r, "a-7")
				if silent {
					<-r.Context().Done()
				}
				panic(http.ErrAbortHandler)
			})
			second := newReplica(t, func(w http.ResponseWriter, r *http.Request) {
				stream(w, r, "a-9")
				<-r.Context().Done()
			})
			c, err := New(Options{URL: first.URL + "," + second.URL})
			if err != nil {
				t.Fatal(err)
			}
			c.patience = time.Second
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			type state struct {
				Open, Lost bool
				Server     string
			}
			var got []state
			for u, err := range c.Follow(ctx) {
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					break
				}
				got = append(got, state{u.Open, u.Lost, u.Server})
				if u.Open && u.Server == second.URL {
					cancel()
				}
			}
			next := first.URL
			if silent {
				next = second.URL
			}
			if diff := cmp.Diff([]state{{true, false, first.URL}, {false, false, next}, {true, false, second.URL}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Behind one address, of a proxy that loses its server for a moment, a prompt is sent again under
// its name, and events are asked for again.
func TestOneAddressOfSeveralServers(t *testing.T) {
	var calls atomic.Int32
	statuses := []int{502, 503, 504}
	r := newReplica(t, func(w http.ResponseWriter, r *http.Request) {
		if n := int(calls.Add(1)); n <= len(statuses) {
			w.WriteHeader(statuses[n-1])
			return
		}
		says(200, `{"messageID":"msg_1"}`)(w, r)
	})
	c, err := New(Options{URL: r.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prompt(t.Context(), "ses_1", api.Prompt{}); err != nil {
		t.Error(err)
	}
	heard := r.heard()
	if len(heard) != 4 || len(slices.Compact(slices.Clone(heard))) != 1 {
		t.Errorf("it is sent %q", heard)
	}
	calls.Store(0)
	for u, err := range c.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if calls.Load() == 3 {
			break
		}
		if u.Open {
			t.Error("it is open")
		}
	}
}

// A prompt goes to the next server under its name.
func TestPromptMovesOn(t *testing.T) {
	first := newReplica(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	second := newReplica(t, says(200, `{"messageID":"msg_1"}`))
	c, err := New(Options{URL: first.URL + "," + second.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prompt(t.Context(), "ses_1", api.Prompt{}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(first.heard(), second.heard()); diff != "" || len(second.heard()) != 1 {
		t.Errorf("the servers were sent (-first +second):\n%s", diff)
	}
}
