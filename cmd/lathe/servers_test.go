package main

import (
	"sync"

	"lathe/internal/llm/llmtest"
)

// serverMap finds a script's model server.
type serverMap struct {
	mu sync.Mutex
	m  map[string]*llmtest.Server
}

func (s *serverMap) put(key string, v *llmtest.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[string]*llmtest.Server{}
	}
	s.m[key] = v
}

func (s *serverMap) get(key string) *llmtest.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[key]
}
