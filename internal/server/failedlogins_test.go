package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/store"
)

// kept is an audit in memory.
type kept struct {
	store.Audit
	mu  sync.Mutex
	all []store.Change
}

func (k *kept) Record(_ context.Context, c store.Change) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, c)
	return nil
}

func (k *kept) take() (out []store.Change) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out, k.all = k.all, nil
	return out
}

// Failed logins are recorded with where they came from and as whom, soon, and then in one entry
// for each address at a time; a flood adds few entries, and what may be a password is not told.
func TestFailedLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		f := &failedLogins{audit: k, people: &crowd{all: map[string]store.Person{"ann": {Name: "ann"}}}, log: slog.New(slog.DiscardHandler), now: time.Now}
		from := func(address, name string) {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = address
			f.note(r, name, "wrong password or token")
		}
		entry := func(from, about string) store.Change {
			return store.Change{From: from, What: "login failed", About: about, Refused: true}
		}
		holds := func(want ...store.Change) {
			t.Helper()
			if diff := cmp.Diff(want, k.take()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		from("192.0.2.1:999", "ann")
		from("192.0.2.1:1000", "hunter2")
		from("[2001:db8::1]:1", "")
		time.Sleep(failedSoon + time.Millisecond)
		holds(entry("192.0.2.1", "2 times: wrong password or token, as ann"), entry("2001:db8::1", "1 time: wrong password or token"))
		for i := range 10_000 {
			from(fmt.Sprintf("198.51.100.%d:1", i%250), "opencode")
		}
		time.Sleep(failedEvery / 2)
		holds()
		time.Sleep(failedEvery / 2)
		flood := k.take()
		last := flood[len(flood)-1]
		if len(flood) != mostFailed+1 || flood[0] != entry("198.51.100.0", "40 times: wrong password or token") || last != entry("", "9200 times from other addresses") {
			t.Errorf("of a flood there are %d entries, first %+v, last %+v", len(flood), flood[0], last)
		}
		from("192.0.2.1:999", "")
		f.Close()
		f.Close()
		holds(entry("192.0.2.1", "1 time: wrong password or token"))
		from("192.0.2.1:999", "") // too late
	})
}

// Whichever way somebody tries to come in, a failure is recorded; a request without any
// credentials is none, and nor is one with the right ones.
func TestFailedLoginsAtTheServer(t *testing.T) {
	r, c := namedRig(t)
	try := func(method, path, body string, header ...string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Lathe-Page", "1")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	try("GET", "/session", "")
	try("GET", "/session", "", "Authorization", "Bearer "+tokenOf("reader"))
	try("GET", "/session", "", "Authorization", "Bearer lathe_wrong")
	try("GET", "/session", "", "Authorization", "Basic YXV0aG9yOnd4eXo=") // author:wxyz
	try("POST", "/lathe/login", `{"password":"wxyz"}`)
	try("POST", "/lathe/login", `{"password":"sesame"}`)
	r.srv.failed.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	told := slices.DeleteFunc(slices.Clone(c.told), func(ch store.Change) bool { return ch.What != "login failed" })
	if len(told) != 1 || told[0].From != "127.0.0.1" || told[0].About != "3 times: wrong password or token, as author" {
		t.Errorf("recorded is %+v", told)
	}
}
