package builtin

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
)

// Reading what gives nothing more ends with the call.
func TestReadingEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("some"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	src, stop := bound(ctx, r)
	defer stop()
	buf := make([]byte, 10)
	if n, err := src.Read(buf); err != nil || string(buf[:n]) != "some" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	aborted := errors.New("aborted")
	go cancel(aborted)
	if _, err := io.ReadFull(src, buf); !errors.Is(err, aborted) {
		t.Errorf("got %v", err)
	}
	if _, err := src.Read(buf); !errors.Is(err, aborted) {
		t.Errorf("afterwards: %v", err)
	}
}
