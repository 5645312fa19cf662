package forward

import (
	"context"
	"net/http"
	"time"
)

const (
	// settleTime bounds how long an answer waits for the events of what it answers; they
	// usually take milliseconds, and more on a machine that is overloaded.
	settleTime = 5 * time.Second
	settleStep = 2 * time.Millisecond // how often they are looked for
)

// settle waits until this server has published what the one that answered had published by
// then: clients leave with the answer, and are to have heard everything before it. A server
// of an older version does not say how far it was.
func (f *Forwarder) settle(ctx context.Context, a answer) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	tick := time.NewTicker(settleStep)
	defer tick.Stop()
	for {
		if _, here := f.o.Bus.At(); here >= a.At {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// reads reports whether a request changes nothing, so that no events belong to its answer.
func reads(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}
