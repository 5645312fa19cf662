package plugin

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"lathe/internal/order"
	"lathe/internal/printable"
)

// NotCalled is the error of a hook that did not finish: it took too long, or its
// process died. It stops nothing.
type NotCalled struct{ Why string }

// Error returns why.
func (e *NotCalled) Error() string { return e.Why }

// ErrNotMeant is the error of a hook that is not meant for what it was called for: it counts
// as if there were no such hook.
var ErrNotMeant = errors.New("the hook is not meant for this")

// Refusal is the error of a hook that refuses what it was called for. Reason is for
// whoever asked: the model or the person.
type Refusal struct{ Plugin, Reason string }

// Error names the plugin and its reason.
func (e *Refusal) Error() string { return e.Plugin + ": " + e.Reason }

// Doubt is the error of a hook before a call that wants the person to be asked. The
// hook's changes to the call's arguments count.
type Doubt struct{ Plugin, Reason string }

// Error names the plugin and its reason.
func (e *Doubt) Error() string { return e.Plugin + ": " + e.Reason }

// DoubtPermission is the permission that a [Doubt] asks for.
const DoubtPermission = "hook"

// Account sums up the calls of one hook of a plugin.
type Account struct {
	Plugin    string        `json:"plugin"`
	Hook      string        `json:"hook"`
	Calls     int           `json:"calls"`
	Failed    int           `json:"failed,omitempty"`
	Time      time.Duration `json:"ns"` // of all calls
	Longest   time.Duration `json:"longest"`
	LastError string        `json:"error,omitempty"`
}

// plus returns an account with a later one of the same hook added.
func (a Account) plus(b Account) Account {
	a.Calls += b.Calls
	a.Failed += b.Failed
	a.Time += b.Time
	a.Longest = max(a.Longest, b.Longest)
	a.LastError = cmp.Or(b.LastError, a.LastError)
	return a
}

func byPlugin(a, b Account) int {
	return cmp.Or(cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Hook, b.Hook))
}

const (
	mostKept    = 256         // calls after which accounts are handed over
	longestKept = time.Minute // after which they are, if there were any
	maxError    = 300         // characters of an error that are kept
)

// account counts calls until they are taken. The zero value is ready and keeps them.
type account struct {
	mu    sync.Mutex
	all   map[[2]string]Account
	calls int
	full  func()      // hands them over; nil: nobody wants them
	timer *time.Timer // until they are handed over anyway
}

func (a *account) add(plugin, hook string, took time.Duration, err error) {
	if due := a.count(plugin, hook, took, err); due != nil {
		due()
	}
}

// count counts a call, and returns what hands the accounts over if that is due.
func (a *account) count(plugin, hook string, took time.Duration, err error) (due func()) {
	one := Account{Plugin: plugin, Hook: hook, Calls: 1, Time: took, Longest: took}
	if err != nil {
		one.Failed, one.LastError = 1, printable.Shorten(printable.Line(err.Error()), maxError)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[[2]string]Account{}
	}
	key := [2]string{plugin, hook}
	if before, ok := a.all[key]; ok {
		one = before.plus(one)
	}
	a.all[key] = one
	a.calls++
	if a.full == nil {
		return nil
	}
	if a.timer == nil {
		a.timer = time.AfterFunc(longestKept, a.full)
	}
	if a.calls < mostKept {
		return nil
	}
	return a.full
}

// OnAccounts has f called when there are accounts to take: after some hundred calls, and a
// minute after the first of them. A nil f ends that.
func (c *Chain) OnAccounts(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = f
	c.disarm()
}

// HandOver has the accounts taken now, if somebody takes them.
func (c *Chain) HandOver() {
	if c == nil {
		return
	}
	c.mu.Lock()
	full := c.full
	c.mu.Unlock()
	if full != nil {
		full()
	}
}

// Take returns the accounts of what was called since the last time, by plugin and hook.
func (c *Chain) Take() []Account {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Collect(maps.Values(c.all))
	order.Stable(out, byPlugin)
	c.all, c.calls = nil, 0
	c.disarm()
	return out
}

// disarm stops the timer. The caller holds mu.
func (a *account) disarm() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// Plugins returns the names of the plugins, in load order, each once.
func (c *Chain) Plugins() []string {
	if c == nil {
		return nil
	}
	var out []string
	for i := range c.hooks {
		if name := c.hooks[i].Name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
