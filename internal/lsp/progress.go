package lsp

import (
	"context"
	"encoding/json"
	"sync"
)

const maxWorks = 100 // pieces of work of a server that are known at once

// works are what a server says it is busy with, such as reading the project. The zero
// value means idle.
type works struct {
	mu    sync.Mutex
	names map[string]bool
	idle  chan struct{} // closed when the last of names ends
}

// note takes what a server reports its work.
func (w *works) note(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Token) > maxWords {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch name := string(p.Token); {
	case p.Value.Kind == "begin" && len(w.names) < maxWorks:
		if len(w.names) == 0 {
			w.names, w.idle = map[string]bool{}, make(chan struct{})
		}
		w.names[name] = true
	case p.Value.Kind == "end" && w.names[name]:
		if delete(w.names, name); len(w.names) == 0 {
			close(w.idle)
		}
	}
}

// wait returns when the server is idle, or ctx ends. It waits for work that does not end
// only once.
func (w *works) wait(ctx context.Context) {
	w.mu.Lock()
	idle, busy := w.idle, len(w.names) > 0
	w.mu.Unlock()
	if !busy {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.idle == idle && len(w.names) > 0 {
			clear(w.names)
			close(w.idle)
		}
	}
}
