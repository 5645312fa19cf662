package forward

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

var other = store.Owner{ID: "o", Name: "the other"}

// others is one other server, with an ask that waits in /d, and one that does not answer.
type others struct{ store.Mail }

func (others) Others(context.Context) ([]store.Owner, error) {
	return []store.Owner{other, {ID: "gone", Name: "gone"}}, nil
}

func (others) Send(_ context.Context, to store.Owner, body []byte) ([]byte, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil || to != other {
		return nil, errors.Join(err, store.ErrAway)
	}
	a := answer{Status: 200, Body: []byte(`[]`)}
	if r.Method == "GET" && r.URI == "/permission?directory=%2Fd" {
		a.Body = []byte(`[{"id":"per_old","sessionID":"ses_old"}]`)
	}
	return json.Marshal(a)
}

// What changes a session goes where that is held; reading does not.
func TestSessionOfARequest(t *testing.T) {
	b := bus.New(bus.Options{})
	f := New(Options{Bus: b, Store: &store.Store{Mail: others{}}, Log: slog.New(slog.DiscardHandler)})
	defer f.Close()
	b.Publish("/d", lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_p"}})
	b.Publish("/d", lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_q"}})
	b.Publish("/d", lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_2", SessionID: "ses_p"}})
	b.Publish("/d", lathe.PermissionReplied{SessionID: "ses_p", AskID: "per_2"})
	for _, tt := range []struct {
		method, path string
		want         lathe.SessionID
	}{
		{"POST", "/session/ses_1/prompt_async?directory=%2Fd", "ses_1"},
		{"POST", "/lathe/session/ses_1/prompt", "ses_1"},
		{"POST", "/api/session/ses_1/prompt", "ses_1"},
		{"DELETE", "/session/ses_1", "ses_1"},
		{"PATCH", "/session/ses_1", "ses_1"},
		{"POST", "/session/ses_1/permissions/per_9", "ses_1"},
		{"POST", "/permission/per_1/reply", "ses_p"},
		{"POST", "/question/que_1/reject", "ses_q"},
		{"POST", "/permission/per_2/reply", ""},
		{"POST", "/permission/per_old/reply?directory=%2Fd", "ses_old"}, // asked before this server started
		{"POST", "/question/per_old/reply", ""},
		{"GET", "/session/ses_1/message", ""},
		{"POST", "/session", ""},
		{"POST", "/config", ""},
		{"POST", "/", ""},
	} {
		if got := f.sessionOf(httptest.NewRequest(tt.method, tt.path, nil)); got != tt.want {
			t.Errorf("%s %s is about %q, want %q", tt.method, tt.path, got, tt.want)
		}
	}
}

// held is a session in /d that the other server holds.
type held struct {
	store.Leases
	store.SessionReader
}

func (held) Holder(context.Context, lathe.SessionID) (store.Holder, bool, error) {
	return store.Holder{Owner: other}, true, nil
}

func (held) Session(_ context.Context, id lathe.SessionID) (lathe.Session, error) {
	return lathe.Session{ID: id, Directory: "/d"}, nil
}

// empty is a queue with nothing in it.
type empty struct{ store.Queue }

func (empty) Drop(context.Context, lathe.SessionID) (int, []store.Owner, error) { return 0, nil, nil }

func untold(string) {}

// Who may not use a directory here does not get at it through another server.
func TestServeWhereTheCallerMay(t *testing.T) {
	s := &store.Store{Mail: others{}, Leases: held{}, SessionReader: held{}, Queue: empty{}}
	f := New(Options{Bus: bus.New(bus.Options{}), Store: s, Log: slog.New(slog.DiscardHandler)})
	defer f.Close()
	refused := errors.New("refused")
	r := httptest.NewRequest("POST", "/session/ses_1/abort", nil)
	done, err := f.Serve(httptest.NewRecorder(), r, func(dir string) error {
		if dir != "/d" {
			t.Errorf("asked about %q", dir)
		}
		return refused
	}, untold)
	if !done || !errors.Is(err, refused) {
		t.Errorf("got %v, %v", done, err)
	}
	w := httptest.NewRecorder()
	told := ""
	done, err = f.Serve(w, r, func(string) error { return nil }, func(dir string) { told = dir })
	if !done || err != nil || w.Body.String() != "[]" || told != "/d" {
		t.Errorf("got %v, %v, %q, told of %q", done, err, w.Body, told)
	}
}

// A session is looked at where it is worked on, whichever worker of its directory that is.
func TestLookWhereItIsHeld(t *testing.T) {
	s := &store.Store{Mail: others{}, Leases: held{}, SessionReader: held{}, Queue: empty{}}
	f := New(Options{Bus: bus.New(bus.Options{}), Store: s, Log: slog.New(slog.DiscardHandler)})
	defer f.Close()
	refused := errors.New("refused")
	for may, want := range map[error]string{nil: "[]", refused: ""} {
		w := httptest.NewRecorder()
		done, err := f.Serve(w, httptest.NewRequest("GET", "/lathe/session/ses_1/review", nil), func(string) error { return may }, untold)
		if !done || !errors.Is(err, may) || w.Body.String() != want {
			t.Errorf("%v: %t, %v, %q", may, done, err, w.Body)
		}
	}
}

// free is a session in /d that nobody holds.
type free struct{ held }

func (free) Holder(context.Context, lathe.SessionID) (store.Holder, bool, error) {
	return store.Holder{}, false, nil
}

// waits is a queue with a prompt in it.
type waits struct {
	store.Queue
	left int
}

func (q *waits) Drop(context.Context, lathe.SessionID) (int, []store.Owner, error) {
	n := q.left
	q.left = 0
	return n, nil, nil
}

// What waits for a worker is taken back only by who may use the directory: the right is
// looked at first, and a refusal leaves the prompt where it was.
func TestDropNeedsTheRight(t *testing.T) {
	q := &waits{left: 1}
	s := &store.Store{Mail: others{}, Leases: free{}, SessionReader: free{}, Queue: q}
	told := 0
	f := New(Options{Bus: bus.New(bus.Options{}), Store: s, Log: slog.New(slog.DiscardHandler), Tell: func(string, lathe.Event) { told++ }})
	defer f.Close()
	refused := errors.New("refused")
	for _, method := range []string{"POST /session/ses_1/abort", "DELETE /session/ses_1"} {
		method, path, _ := strings.Cut(method, " ")
		done, err := f.Serve(httptest.NewRecorder(), httptest.NewRequest(method, path, nil), func(string) error { return refused }, untold)
		if !done || !errors.Is(err, refused) || q.left != 1 || told != 0 {
			t.Errorf("%s of somebody who may not: %v, %v, %d left, %d told", method, done, err, q.left, told)
		}
	}
	w := httptest.NewRecorder()
	done, err := f.Serve(w, httptest.NewRequest("POST", "/session/ses_1/abort", nil), func(string) error { return nil }, untold)
	if !done || err != nil || q.left != 0 || told != 1 || w.Body.String() != "true" {
		t.Errorf("of one who may: %v, %v, %d left, %d told, %q", done, err, q.left, told, w.Body)
	}
}

// Work that was refused because its session was being taken over is tried again; what is refused
// for good is not.
func TestWorkWhoseSessionChangesHands(t *testing.T) {
	busy := []byte(`{"name":"SessionBusyError"}`)
	soon := http.Header{"Retry-After": {"1"}}
	for _, tt := range []struct {
		uri  string
		a    answer
		want bool
	}{
		{"/session/ses_1/prompt_async?directory=%2Fd", answer{Status: 409, Body: busy}, true},
		{"/session/ses_1/message", answer{Status: 409, Body: busy}, true},
		{"/session/ses_1/shell", answer{Status: 409, Body: busy}, false}, // a turn runs
		{"/session/ses_1/shell", answer{Status: 409, Body: busy, Header: soon}, true},
		{"/session/ses_1/prompt_async", answer{Status: 409, Body: []byte(`{"name":"MessageAbortedError"}`)}, false},
		{"/session/ses_1/prompt_async", answer{Status: 409}, false},
	} {
		asked, err := json.Marshal(request{Method: "POST", URI: tt.uri})
		if err != nil {
			t.Fatal(err)
		}
		answered, err := json.Marshal(tt.a)
		if err != nil {
			t.Fatal(err)
		}
		if got := changesHands(asked, answered); got != tt.want {
			t.Errorf("%s with %d %s %v: %t", tt.uri, tt.a.Status, tt.a.Body, tt.a.Header, got)
		}
	}
}
