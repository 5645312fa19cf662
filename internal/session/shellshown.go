package session

import (
	"sync"
	"time"

	"lathe/internal/shell"
)

// shellOutput shows what a user's command prints while it runs, at most once in [shellProgress].
// What came within that time is shown when it is over, although nothing follows.
type shellOutput struct {
	show func(text string)
	now  func() time.Time

	mu    sync.Mutex
	spool *shell.Spool
	last  time.Time // when something was shown
	timer *time.Timer
	over  bool
}

// Write takes more output.
func (o *shellOutput) Write(chunk []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.spool.Write(chunk)
	if o.timer != nil || o.over {
		return
	}
	if rest := shellProgress - o.now().Sub(o.last); rest > 0 {
		o.timer = time.AfterFunc(rest, o.late)
		return
	}
	o.tell()
}

// late shows what came since it was shown last.
func (o *shellOutput) late() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	if !o.over {
		o.tell()
	}
}

func (o *shellOutput) tell() {
	o.last = o.now()
	o.show(shellShown(o.spool))
}

// Close ends it: nothing is shown from then on.
func (o *shellOutput) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	if o.timer != nil {
		o.timer.Stop()
	}
}
