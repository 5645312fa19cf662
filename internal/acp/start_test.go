package acp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"lathe/internal/client"
)

// said is what was written so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// The editor has the answer to initialize before the engine is opened, however long that takes.
func TestInitializeComesFirst(t *testing.T) {
	in, editor := io.Pipe()
	var out said
	opened := make(chan string)
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.WithoutCancel(t.Context()), Options{In: in, Out: &out, Open: func() (*client.Client, error) {
			opened <- out.String()
			return nil, errors.New("there is no engine here")
		}})
	}()
	if _, err := io.WriteString(editor, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if before := <-opened; !strings.Contains(before, `"protocolVersion":1`) {
		t.Errorf("when the engine was opened the editor had %q", before)
	}
	if err := editor.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
