package gate

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// How fast passwords can be guessed: a number at once, then a number per second.
const (
	guessBurst   = 10
	guessRate    = 2
	guessPause   = 1 // seconds, as a client is told
	mostGuessers = 1024
)

// guesses slow down anybody guessing the password: each client has a number of
// wrong guesses that grows back with time. A client is an address, or for IPv6 a
// network of 64 bits; all unix sockets count as one. The right password costs
// nothing, so nobody who has it is slowed down by a program with an old one, unless
// that tries more than guessRate times a second.
type guesses struct {
	now func() time.Time

	mu sync.Mutex
	by map[string]*guesser
}

type guesser struct {
	left float64
	at   time.Time
}

// try compares a guess, unless the client has to wait before its next one.
// Guesses are compared one at a time, so that sending many at once gains nothing.
func (g *guesses) try(remote string, right func() bool) (ok, wait bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, name := g.now(), clientOf(remote)
	c := g.by[name]
	if c != nil && c.refill(now) < 1 {
		return false, true
	}
	if right() {
		return true, false
	}
	if c == nil {
		c = &guesser{left: guessBurst, at: now}
		g.makeRoom(now)
		g.by[name] = c
	}
	c.left--
	return false, false
}

// makeRoom forgets clients that have all their guesses again, and where those are
// too few, others: their number is bounded.
func (g *guesses) makeRoom(now time.Time) {
	if g.by == nil {
		g.by = map[string]*guesser{}
	}
	if len(g.by) < mostGuessers {
		return
	}
	maps.DeleteFunc(g.by, func(_ string, c *guesser) bool { return c.refill(now) >= guessBurst })
	for name := range g.by {
		if len(g.by) < mostGuessers {
			return
		}
		delete(g.by, name)
	}
}

func (c *guesser) refill(now time.Time) float64 {
	c.left = min(guessBurst, c.left+guessRate*max(0, now.Sub(c.at).Seconds()))
	c.at = now
	return c.left
}

// clientOf returns what identifies a client.
func clientOf(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		net, _ := ip.Prefix(64)
		return net.String()
	}
	return ip.String()
}
