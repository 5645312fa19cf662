package lsp

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A file that changes often is reported only so often, but its last state always; nothing
// is reported after the end.
func TestDiagnosedTellsTheLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		begin, told := time.Now(), []string{}
		s := New(Options{Place: Place{Dir: "/r", Worktree: "/r"}, Pool: NewPool(PoolOptions{}), Diagnosed: func(server, path string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprint(server, path, " ", time.Since(begin)))
		}})
		for range 5 {
			s.diagnosed("x", "/r/a")
			time.Sleep(time.Millisecond)
		}
		s.diagnosed("x", "/r/b")
		s.diagnosed("x", "/elsewhere")
		time.Sleep(10 * often)
		s.diagnosed("x", "/r/a")
		s.diagnosed("x", "/r/a")
		s.Close()
		time.Sleep(often)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := []string{"x/r/a 0s", "x/r/b 5ms", "x/r/a 100ms", "x/r/a 1.005s"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
