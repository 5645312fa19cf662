package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/cli/console"
	"lathe/internal/config"
)

// A command that is over at once looks for no newer catalogue: not even its lock is made.
func TestShortCommandsFetchNoCatalogue(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(http.StatusNotFound) }))
	defer srv.Close()
	cache := filepath.Join(t.TempDir(), "cache")
	synctest.Test(t, func(t *testing.T) {
		a := &App{Env: &console.Env{Now: time.Now}, Paths: config.Paths{Cache: cache}, Flags: config.Flags{ModelsURL: srv.URL}}
		a.startBackground(nil)
		time.Sleep(refreshAfter - 1)
		synctest.Wait()
		a.background()
		a.wg.Wait()
	})
	if _, err := os.Stat(cache); asked.Load() != 0 || !os.IsNotExist(err) {
		t.Errorf("asked %d times, cache: %v", asked.Load(), err)
	}
}
