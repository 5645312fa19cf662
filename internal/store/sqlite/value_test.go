package sqlite

import (
	"testing"
	"time"

	"lathe"
)

func TestValue(t *testing.T) {
	s, err := openTest(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetValue(t.Context(), "ses_none", "k", []byte("x")); err == nil {
		t.Error("a value of no session was stored")
	}
	if err := s.CreateSession(t.Context(), lathe.Session{ID: "ses_1", Created: time.Now(), Updated: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "one", "two"} {
		if want != "" {
			if err := s.SetValue(t.Context(), "ses_1", "k", []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Value(t.Context(), "ses_1", "k"); err != nil || string(got) != want {
			t.Errorf("value is %q, %v, want %q", got, err, want)
		}
	}
}
