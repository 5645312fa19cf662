package serve

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"lathe/internal/cli/app"
	"lathe/internal/client"
	"lathe/internal/config"
	"lathe/internal/server/gate"
)

// socketPath bounds the path of a unix socket: systems take about 100 bytes.
const socketPath = 100

// beFound makes a server known to lathe attach: it listens on a private socket as
// well and leaves a file that says where. Without them the server still works. The
// function it returns removes the file.
func beFound(ctx context.Context, a *app.App, listeners []net.Listener, dir string) (all []net.Listener, leave func()) {
	run := app.RunDir(a.Paths)
	if err := config.Ensure(run); err != nil {
		a.Log.Debug("the server cannot make itself known", "err", err)
		return listeners, func() {}
	}
	r := client.Running{PID: os.Getpid(), Dir: dir, Started: a.Env.Now()}
	for _, l := range listeners {
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			r.URL = "http://" + reachable(tcp)
		}
	}
	if path := filepath.Join(run, fmt.Sprintf("%d.sock", r.PID)); len(path) <= socketPath {
		l, err := gate.ListenSocket(ctx, path)
		if err == nil {
			listeners, r.Socket = append(listeners[:len(listeners):len(listeners)], l), path
		} else {
			a.Log.Debug("the server has no socket of its own", "err", err)
		}
	}
	leave, err := client.Announce(run, r)
	if err != nil {
		a.Log.Debug("the server cannot make itself known", "err", err)
		return listeners, func() {}
	}
	return listeners, leave
}

// reachable returns an address of this machine in place of one that means all addresses.
func reachable(tcp *net.TCPAddr) string {
	if tcp.IP.IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return tcp.String()
}
