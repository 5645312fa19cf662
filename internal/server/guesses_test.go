package server

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Guessing the password is slow, however many guess at once; requests without one
// are no guesses, and the right one goes through again after the pause.
func TestGuessingIsSlow(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1e9, 0)
	r := newRig(t, func(o *Options) {
		o.Password = "s3cret"
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	})
	with := func(password string) []string {
		return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("opencode:"+password))}
	}
	for range 30 {
		if res := r.do("GET", "/path", ""); res.status != http.StatusUnauthorized {
			t.Fatalf("without a password: %d", res.status)
		}
		if res := r.do("GET", "/path", "", with("s3cret")...); res.status != http.StatusOK {
			t.Fatalf("the right password: %d", res.status)
		}
	}
	var wg sync.WaitGroup
	statuses := map[int]int{}
	for i := range 50 {
		wg.Go(func() {
			res := r.do("GET", "/path", "", with(fmt.Sprint(i))...)
			mu.Lock()
			defer mu.Unlock()
			statuses[res.status]++
		})
	}
	wg.Wait()
	want := map[int]int{http.StatusUnauthorized: 10, http.StatusTooManyRequests: 40}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if res := r.do("GET", "/path", "", with("s3cret")...); res.status != http.StatusTooManyRequests || res.header.Get("Retry-After") != "1" {
		t.Errorf("a guesser is told that it is right: %d %v", res.status, res.header)
	}
	mu.Lock()
	now = now.Add(time.Second)
	mu.Unlock()
	if res := r.do("GET", "/path", "", with("s3cret")...); res.status != http.StatusOK {
		t.Errorf("after the pause: %d", res.status)
	}
}
