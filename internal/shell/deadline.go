package shell

import (
	"sync"
	"time"
)

// deadline is the end of a command's time. Time spent waiting for a person does not count.
type deadline struct {
	passed chan struct{} // closed then; nil: never

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

func (c *Command) deadline() *deadline {
	d := &deadline{}
	if c.Timeout <= 0 {
		return d
	}
	d.passed = make(chan struct{})
	var granted time.Duration
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(c.Timeout, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.over {
			return
		}
		if c.Network != nil {
			if waited := c.Network.Waited(); waited > granted {
				d.timer.Reset(max(waited-granted, time.Second)) // it may still be waiting
				granted = waited
				return
			}
		}
		close(d.passed)
	})
	return d
}

// Stop ends the waiting.
func (d *deadline) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over = true; d.timer != nil {
		d.timer.Stop()
	}
}
