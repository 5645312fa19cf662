package instance

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"lathe/internal/netguard"
	"lathe/internal/sandbox/proxy"
	"lathe/internal/sandbox/registry"
	"lathe/internal/shell"
)

// network is the part through which commands reach other hosts: a proxy, made for the
// first command. Commands in a network of their own have no other way out; to the
// others it is only a suggestion in their environment.
type network struct {
	own     *netguard.Listeners
	environ []string // lathe's own, which names the person's proxy
	env     []string // the commands'
	connect []string // see Options.Connect
	listen  listen   // in the network that commands have
	parts   *Parts

	mu    sync.Mutex
	proxy *proxy.Proxy
}

// listen returns a listener in a network, or nil where that is the machine's.
type listen func() (net.Listener, error)

// Name is that of the part.
func (n *network) Name() string { return "network" }

// Status is always empty.
func (n *network) Status() string { return "" }

// Start makes the proxy. It listens nowhere before a command needs it.
func (n *network) Start(context.Context, func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	get := func(name string) string { return shell.Getenv(n.environ, name) }
	either := func(upper, lower string) string {
		if v := get(lower); v != "" {
			return v
		}
		return get(upper)
	}
	theirs := httpproxy.Config{
		HTTPProxy: either("HTTP_PROXY", "http_proxy"), HTTPSProxy: either("HTTPS_PROXY", "https_proxy"), NoProxy: either("NO_PROXY", "no_proxy"),
	}
	o := proxy.Options{Own: n.own}
	if theirs.HTTPProxy != "" || theirs.HTTPSProxy != "" {
		o.Upstream = theirs.ProxyFunc()
	}
	n.proxy = proxy.New(o)
	return nil
}

// Close ends the proxy and what goes through it.
func (n *network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proxy.Close()
}

// open opens a way out of a network.
func (n *network) open(l listen, judge proxy.Judge) (*proxy.Door, map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	door := n.proxy.Open(judge)
	at, err := address(door, l)
	if err != nil {
		door.Close()
		return nil, nil, err
	}
	return door, proxy.Env(at, n.connect, func(name string) string { return shell.Getenv(n.env, name) }), nil
}

// address offers a door where programs find it.
func address(door *proxy.Door, in listen) (*url.URL, error) {
	l, err := in()
	if err != nil {
		return nil, err
	}
	if l == nil {
		return door.Local()
	}
	return door.Offer(l), nil
}

// newNetwork makes the part.
func (i *Instance) newNetwork(o Options, env []string) *network {
	n := &network{own: o.Own, environ: o.Environ, env: env, connect: o.Connect, listen: i.Confinement.Listen, parts: i.Parts}
	if err := i.Parts.Add(n); err != nil {
		panic(err) // it is the only one of its name
	}
	return n
}

// commands is a [builtin.OpenWay] of the commands.
func (n *network) commands(judge proxy.Judge) (*proxy.Door, map[string]string, error) {
	return n.openIn(n.listen, judge)
}

// openIn is open, and starts the part when it is first used.
func (n *network) openIn(l listen, judge proxy.Judge) (*proxy.Door, map[string]string, error) {
	if err := n.parts.Start(context.Background(), n.Name()); err != nil {
		return nil, nil, err
	}
	return n.open(l, judge)
}

// usualHosts returns a function that reports the hosts of the project's package
// managers. The project is examined once, on first use.
func (i *Instance) usualHosts() func(host string) bool {
	hosts := sync.OnceValue(func() []string {
		var out []string
		for _, used := range registry.Of(i.Root.Dir) {
			out = append(out, used.Hosts...)
		}
		if i.Root.Worktree != i.Root.Dir && i.Root.VCS != "" {
			for _, used := range registry.Of(i.Root.Worktree) {
				out = append(out, used.Hosts...)
			}
		}
		return out
	})
	return func(host string) bool {
		return slices.ContainsFunc(hosts(), func(h string) bool { return registry.Names(h, host) })
	}
}
