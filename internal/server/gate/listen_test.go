package gate

import "testing"

func TestListen(t *testing.T) {
	if l, err := Listen(t.Context(), "0.0.0.0", 0, false); err == nil {
		l.Close()
		t.Error("listens for everybody without a password")
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		l, err := Listen(t.Context(), host, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
