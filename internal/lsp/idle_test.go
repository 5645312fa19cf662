package lsp

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/shell"
)

// quietProcess is a program that reads what it is sent, says nothing and ends when it is
// stopped.
type quietProcess struct {
	done chan struct{}
	stop sync.Once
}

func (p *quietProcess) Done() <-chan struct{}     { return p.done }
func (p *quietProcess) Exit() (shell.Exit, error) { return shell.Exit{}, nil }
func (p *quietProcess) PIDs() []int               { return nil }
func (p *quietProcess) Stop(time.Duration)        { p.stop.Do(func() { close(p.done) }) }

// runQuiet puts a server that runs into a pool.
func runQuiet(p *Pool, s *Servers) *quietProcess {
	proc := &quietProcess{done: make(chan struct{})}
	spec := &Spec{ID: "quiet"}
	c := newClient(launch{spec: spec, root: "/", now: time.Now, told: func(string) {}})
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = out.Close()
	}()
	c.attach(proc, stdout, stdin, handler{c})
	_, cancel := context.WithCancelCause(context.Background())
	e := &entry{pool: p, spec: spec, ready: make(chan struct{}), users: map[*Servers][]string{s: {"/"}}, cancel: cancel, used: time.Now()}
	p.mu.Lock()
	p.all = append(p.all, e)
	p.mu.Unlock()
	p.started(e, c, nil)
	return proc
}

// A server that nobody uses for ten minutes is stopped without anybody asking; one that is
// used stays.
func TestIdleServersStopByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Memory: func([]int) int64 { return 0 }})
		defer p.Close()
		s := New(Options{Pool: p, Place: Place{Dir: "/", Worktree: "/"}})
		defer s.Close()
		proc := runQuiet(p, s)
		running := func() bool {
			synctest.Wait()
			select {
			case <-proc.done:
				return false
			default:
				return true
			}
		}
		for range 3 { // it is used before its time is over
			time.Sleep(DefaultIdle - time.Second)
			if !running() {
				t.Fatal("a server in use was stopped")
			}
			p.mu.Lock()
			p.all[0].used = time.Now()
			p.mu.Unlock()
		}
		time.Sleep(DefaultIdle - time.Second)
		if !running() {
			t.Fatal("it was stopped too early")
		}
		time.Sleep(lookAfter + endGrace + time.Second)
		if running() || len(s.Status()) != 0 {
			t.Errorf("an idle server goes on: %+v", s.Status())
		}
	})
}
