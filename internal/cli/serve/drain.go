package serve

import (
	"context"
	"fmt"
	"time"

	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/say"
)

const (
	// handOverTime is how long the running step of a turn that is handed over may take, unless
	// --drain says so.
	handOverTime = 20 * time.Second
	drainUsage   = "how long running turns may go on after an interrupt (default: 20s with --store, where another server goes on with them; else they are aborted)"
)

// drainTime is how long a server on its store lets turns run when it stops.
func drainTime(a *app.App, told time.Duration, given bool) time.Duration {
	if !given && a.DB.Shared != nil {
		return handOverTime
	}
	return told
}

// drain lets running turns finish, for a while or until the next interrupt. Where servers
// share a database, turns end after the step that they are at, and another goes on with them.
type drain struct {
	env      *console.Env
	app      *app.App
	patience time.Duration
	again    bool // what runs was queued, and is queued again
}

func (d *drain) run() {
	ctx, cancel := context.WithTimeout(context.Background(), d.patience)
	defer cancel()
	d.env.Interrupts.OnSecond(cancel)
	if d.patience == 0 {
		return
	}
	turns := d.app.Service.Turns
	shared := d.app.HandOver(d.again) // a turn may begin that was taken just now
	n := turns.Running()
	if n == 0 {
		return
	}
	d.app.Log.Info("the server drains", "running", n, "limit", d.patience, "shared", shared)
	if shared {
		fmt.Fprintf(d.env.Stderr, "lathe: stopping: %s still running; another server goes on when their steps are over, for which there is %s (interrupt again to abort)\n", say.Plural(n, "session"), d.patience)
	} else {
		fmt.Fprintf(d.env.Stderr, "lathe: stopping: %s still running; waiting up to %s (interrupt again to abort)\n", say.Plural(n, "session"), d.patience)
	}
	if turns.Drain(ctx) != nil {
		turns.Interrupt()
		fmt.Fprintf(d.env.Stderr, "lathe: aborting %s\n", say.Plural(turns.Running(), "session"))
	}
}
