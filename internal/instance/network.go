package instance

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"lathe/internal/builtin"
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
	// listen returns a listener in the network that commands have, or nil where that is
	// the machine's.
	listen func() (net.Listener, error)

	mu    sync.Mutex
	proxy *proxy.Proxy
}

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

// open is a [builtin.OpenWay].
func (n *network) open(judge proxy.Judge) (*proxy.Door, map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	door := n.proxy.Open(judge)
	at, err := n.address(door)
	if err != nil {
		door.Close()
		return nil, nil, err
	}
	return door, proxy.Env(at, n.connect, func(name string) string { return shell.Getenv(n.env, name) }), nil
}

// address offers a door where commands find it.
func (n *network) address(door *proxy.Door) (*url.URL, error) {
	l, err := n.listen()
	if err != nil {
		return nil, err
	}
	if l == nil {
		return door.Local()
	}
	return door.Offer(l), nil
}

// ways returns what opens the ways of commands, which starts the part when it is first
// used.
func (i *Instance) ways(o Options, env []string) builtin.OpenWay {
	n := &network{own: o.Own, environ: o.Environ, env: env, connect: o.Connect, listen: i.Confinement.Listen}
	if err := i.Parts.Add(n); err != nil {
		panic(err) // it is the only one of its name
	}
	return func(judge proxy.Judge) (*proxy.Door, map[string]string, error) {
		if err := i.Parts.Start(context.Background(), n.Name()); err != nil {
			return nil, nil, err
		}
		return n.open(judge)
	}
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
