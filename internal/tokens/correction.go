package tokens

import "sync"

// Bounds of what a provider's report may say about an estimate. Beyond them it
// does not count what was sent (a proxy that reports zero, or a made-up number),
// and teaches nothing.
const (
	lowestRatio  = 0.4
	highestRatio = 3.0
)

// Correction is the factor between estimates and what a provider counts, learned
// from its reports. The zero value corrects nothing yet. It is safe for
// concurrent use.
type Correction struct {
	mu     sync.Mutex
	factor float64 // 0: nothing learned
}

// NewCorrection returns a Correction that starts with a factor learned earlier,
// or with none if it is not plausible.
func NewCorrection(factor float64) *Correction {
	if !(factor >= lowestRatio && factor <= highestRatio) {
		factor = 0
	}
	return &Correction{factor: factor}
}

// Plausible reports whether a reported count can stand for what was estimated.
func Plausible(estimated, reported int64) bool {
	if estimated <= 0 || reported <= 0 {
		return false
	}
	r := float64(reported) / float64(estimated)
	return r >= lowestRatio && r <= highestRatio
}

// Observe learns from a request: what was estimated for it, uncorrected, and
// what the provider counted. Reports that are not plausible are ignored.
func (c *Correction) Observe(estimated, reported int64) {
	if !Plausible(estimated, reported) {
		return
	}
	r := float64(reported) / float64(estimated)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.factor == 0 {
		c.factor = r
		return
	}
	c.factor += (r - c.factor) / 2
}

// Apply corrects an estimate.
func (c *Correction) Apply(n int64) int64 { return int64(float64(n)*c.Factor() + 0.5) }

// Factor returns the factor; 1 when nothing was learned.
func (c *Correction) Factor() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.factor == 0 {
		return 1
	}
	return c.factor
}
