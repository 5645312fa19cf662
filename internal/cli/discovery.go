package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/config"
	"lathe/internal/server/gate"
)

// runDir is where servers make themselves known to programs of the same user.
func runDir(paths config.Paths) string { return filepath.Join(paths.Data, "run") }

// socketPath bounds the path of a unix socket: systems take about 100 bytes.
const socketPath = 100

// beFound makes a server known to lathe attach: it listens on a private socket as
// well and leaves a file that says where. Without them the server still works. The
// function it returns removes the file.
func (a *app) beFound(ctx context.Context, listeners []net.Listener, dir string) (all []net.Listener, leave func()) {
	run := runDir(a.paths)
	if err := config.Ensure(run); err != nil {
		a.log.Debug("the server cannot make itself known", "err", err)
		return listeners, func() {}
	}
	r := client.Running{PID: os.Getpid(), Dir: dir, Started: a.env.Now()}
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
			a.log.Debug("the server has no socket of its own", "err", err)
		}
	}
	leave, err := client.Announce(run, r)
	if err != nil {
		a.log.Debug("the server cannot make itself known", "err", err)
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

// findServer returns a running server of this user: the one that was started in
// the directory, else the newest one.
func findServer(ctx context.Context, env *Env, dir string) (client.Running, error) {
	paths, _, _, err := places(env)
	if err != nil {
		return client.Running{}, err
	}
	all, err := client.Find(ctx, runDir(paths))
	if err != nil {
		return client.Running{}, err
	}
	if len(all) == 0 {
		return client.Running{}, lathe.Errorf(lathe.CodeNotFound, "start one with: lathe serve; or name its address", "no server of yours runs on this machine")
	}
	for _, r := range all {
		if r.Dir == dir {
			return r, nil
		}
	}
	return all[0], nil
}
