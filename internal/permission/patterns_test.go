package permission

import (
	"strings"
	"testing"
	"testing/synctest"

	"lathe"
)

// TestOwnPatterns holds that patterns which a person wrote count in place of those
// that were offered, for the ask at hand as well.
func TestOwnPatterns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := record(Options{})
		ask := make(chan error, 1)
		go func() { ask <- s.Ask(t.Context(), input("a", nil, "go test ./...")) }()
		synctest.Wait()
		id := s.Pending()[0].ID
		for _, bad := range [][]string{{""}, {"a\x1b"}, {strings.Repeat("x", maxPattern+1)}, make([]string, maxPatterns+1)} {
			if err := s.Reply(t.Context(), id, lathe.Reply{Kind: lathe.Always, Patterns: bad}); err == nil {
				t.Errorf("%.20q is taken", bad)
			}
		}
		if err := s.Reply(t.Context(), id, lathe.Reply{Kind: lathe.Always, Patterns: []string{"go test *"}}); err != nil {
			t.Fatal(err)
		}
		if err := <-ask; err != nil {
			t.Error(err)
		}
		if err := s.Ask(t.Context(), input("b", nil, "go test ./x")); err != nil {
			t.Errorf("what the pattern covers: %v", err)
		}
		in := input("b", nil, "rm x")
		in.Request.Always = nil
		go func() { ask <- s.Ask(t.Context(), in) }()
		synctest.Wait()
		if err := s.Reply(t.Context(), s.Pending()[0].ID, lathe.Reply{Kind: lathe.Always, Patterns: []string{"*"}}); err == nil {
			t.Error("an ask that offers no pattern takes one")
		}
		s.Close()
		<-ask
	})
}
