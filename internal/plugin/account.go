package plugin

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// NotCalled is the error of a hook that did not finish: it took too long, or its
// process died. It stops nothing.
type NotCalled struct{ Why string }

// Error returns why.
func (e *NotCalled) Error() string { return e.Why }

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
	Plugin, Hook string
	Calls        int
	Failed       int
	Time         time.Duration // of all calls
	Longest      time.Duration
	LastError    string
}

// account counts calls. The zero value is ready.
type account struct {
	mu  sync.Mutex
	all map[[2]string]*Account
}

func (a *account) add(plugin, hook string, took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := [2]string{plugin, hook}
	one := a.all[key]
	if one == nil {
		if a.all == nil {
			a.all = map[[2]string]*Account{}
		}
		one = &Account{Plugin: plugin, Hook: hook}
		a.all[key] = one
	}
	one.Calls++
	one.Time += took
	one.Longest = max(one.Longest, took)
	if err != nil {
		one.Failed++
		one.LastError = err.Error()
	}
}

// Accounts returns the accounts of all hooks so far, by plugin and hook.
func (c *Chain) Accounts() []Account {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Account, 0, len(c.all))
	for _, one := range c.all {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Account) int {
		return cmp.Or(cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Hook, b.Hook))
	})
	return out
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
