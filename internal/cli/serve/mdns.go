package serve

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/mdns"
	"lathe/internal/server/gate"
)

// defaultDomain and the name of the service are OpenCode's, so that its clients
// find the server.
const defaultDomain = "opencode.local"

func (o *serveOptions) domain() string {
	if o.mdnsDomain == "" {
		return defaultDomain
	}
	return strings.TrimSuffix(o.mdnsDomain, ".")
}

func (o *serveOptions) checkDomain() error {
	label, ok := strings.CutSuffix(o.domain(), ".local")
	if !ok || label == "" || len(label) > 50 || strings.ContainsAny(label, "./: \x00") {
		return lathe.Errorf(lathe.CodeInvalid, "name one in .local, such as "+defaultDomain, "%q is no name for the local network", o.mdnsDomain)
	}
	return nil
}

// makeKnown announces the server on the local network, if it should be and can
// be reached there, until the function it returns is called.
func (o *serveOptions) makeKnown(env *console.Env, a *app.App, at net.Addr) (end func()) {
	tcp, ok := at.(*net.TCPAddr)
	if !o.mdns || !ok {
		return func() {}
	}
	err := errors.New("it can only be reached from this machine; give --hostname an address of the network")
	var r *mdns.Responder
	if !gate.Loopback(o.hostname) {
		r, err = mdns.Announce(mdns.Service{
			Instance: fmt.Sprintf("opencode-%d", tcp.Port), Type: "_http._tcp", Host: o.domain(), Port: uint16(tcp.Port),
			Text: []string{"path=/", "server=lathe"}, Addr: tcp.AddrPort().Addr().Unmap(), Log: a.Log,
		})
	}
	if err != nil {
		fmt.Fprintf(env.Stderr, "lathe: warning: the server is not made known on the local network: %v\n", err)
		return func() {}
	}
	fmt.Fprintf(env.Stdout, "lathe server known on the local network as http://%s:%d\n", o.domain(), tcp.Port)
	return func() { _ = r.Close() }
}
