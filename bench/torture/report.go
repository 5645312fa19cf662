package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// tellEach is how many violations of a kind are told; more are counted, so that one
// kind does not keep the others from being seen.
const tellEach = 20

// report counts what was done and tells of violations.
type report struct {
	out   io.Writer
	began time.Time

	mu         sync.Mutex
	rounds     int
	violations int
	counts     map[string]int
	kinds      map[string]int // violations by kind
}

func (r *report) count(name string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[name] += n
}

func (r *report) violation(kind, where, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		r.kinds = map[string]int{}
	}
	r.violations++
	r.kinds[kind]++
	if r.kinds[kind] > tellEach {
		return
	}
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(r.out, "VIOLATION %s (%s): %.600s\n", kind, where, text)
}

// progress says how far it is, once in a while.
func (r *report) progress(what string, n, of int) {
	if step := max(of/20, 1); n%step == 0 || n == of {
		r.mu.Lock()
		defer r.mu.Unlock()
		fmt.Fprintf(r.out, "%s %d of %d, %d violations, %s\n", what, n, of, r.violations, time.Since(r.began).Round(time.Second))
	}
}

func (r *report) print() {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%d rounds in %s\n", r.rounds, time.Since(r.began).Round(time.Second))
	for _, name := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Fprintf(r.out, "%10d %s\n", r.counts[name], name)
	}
	fmt.Fprintf(r.out, "%10d violations %v\n", r.violations, r.kinds)
}
