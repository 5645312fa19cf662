package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/server"
	"lathe/internal/shell"
	"lathe/internal/workspace"
)

// stopTime is how long a server that stops waits for answers under way.
const stopTime = 5 * time.Second

type serveOptions struct {
	hostname     string
	port         int
	socket       string
	cors         []string
	hosts        []string
	passwordFile string
	dir          string
}

func newServe(env *Env) *cobra.Command {
	o := serveOptions{port: -1}
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve the HTTP interface", Args: noArgs,
		Long: `Serve answers OpenCode's HTTP and event interface, for editors, SDKs and other
programs, until it is interrupted. Turns that run are then aborted and recorded.

It listens on this machine only. For any other address a password is needed:
LATHE_SERVER_PASSWORD, or --password-file with a file that only you can read.`,
		Example: `  lathe serve
  lathe serve --port 0 --socket ~/.lathe.sock
  LATHE_SERVER_PASSWORD=… lathe serve --hostname 0.0.0.0`,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), env, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.hostname, "hostname", "127.0.0.1", "address to listen on")
	f.IntVar(&o.port, "port", -1, "port to listen on; 0 for any (default 4096, or any when that is taken)")
	f.StringVar(&o.socket, "socket", "", "also listen on a unix socket at this path")
	f.StringArrayVar(&o.cors, "cors", nil, "web origin that may call, such as https://example.com (repeatable)")
	f.StringArrayVar(&o.hosts, "host", nil, "name that the server is reached by, beside localhost (repeatable)")
	f.StringVar(&o.passwordFile, "password-file", "", "file with the password")
	f.StringVar(&o.dir, "dir", "", "directory for requests that name none")
	return cmd
}

func serve(ctx context.Context, env *Env, o serveOptions) error {
	dir, err := workDir(env, o.dir)
	if err != nil {
		return err
	}
	a, err := openApp(ctx, env, appOptions{dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(serveWith(ctx, env, a, o, dir), a.Close())
}

// serveWith serves until the context ends.
func serveWith(ctx context.Context, env *Env, a *app, o serveOptions, dir string) error {
	password, err := serverPassword(a, o.passwordFile)
	if err != nil {
		return err
	}
	listeners, err := o.listen(ctx, password != "")
	if err != nil {
		return err
	}
	srv := newServer(a, o, dir, password)
	hs := srv.HTTP()
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		a.wg.Go(func() { failed <- hs.Serve(l) })
	}
	announce(env, a, listeners, password != "")
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
	}
	return errors.Join(err, stopServer(context.WithoutCancel(ctx), a, srv, hs))
}

// stopServer ends turns first, so that clients still hear how they ended.
func stopServer(ctx context.Context, a *app, srv *server.Server, hs *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	errs := []error{a.svc.Close(), srv.Close()}
	if err := hs.Shutdown(ctx); err != nil {
		errs = append(errs, hs.Close())
	}
	return errors.Join(errs...)
}

func newServer(a *app, o serveOptions, dir, password string) *server.Server {
	environ := shell.Env(a.env.Environ, nil, secrets...)
	hosts := append([]string{o.hostname}, o.hosts...)
	if name, err := os.Hostname(); err == nil && password != "" {
		hosts = append(hosts, name, name+".local")
	}
	return server.New(server.Options{
		Service: a.svc, Store: a.store, Bus: a.bus, Auth: a.auth, Paths: a.paths, Now: a.env.Now, Log: a.log,
		Dir: dir, User: a.flags.ServerUsername, Password: password, Hosts: hosts, Origins: o.cors,
		Environ: environ, Shell: shell.Choose(environ),
	})
}

// serverPassword returns the password from the file, else from the environment.
func serverPassword(a *app, file string) (string, error) {
	if file == "" {
		return a.flags.ServerPassword, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", usageError{fmt.Errorf("password file: %w", err)}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", lathe.Errorf(lathe.CodeInvalid, "chmod 600 "+file, "password file %s can be read by others", file)
	}
	data, err := workspace.ReadFile(file, 4096)
	if err != nil {
		return "", usageError{fmt.Errorf("password file: %w", err)}
	}
	password := strings.TrimRight(string(data), "\r\n")
	if password == "" {
		return "", lathe.Errorf(lathe.CodeInvalid, "", "password file %s is empty", file)
	}
	return password, nil
}

func (o *serveOptions) listen(ctx context.Context, password bool) ([]net.Listener, error) {
	if !server.Loopback(o.hostname) && !password {
		return nil, lathe.Errorf(lathe.CodeInvalid, "set LATHE_SERVER_PASSWORD, use --password-file, or leave --hostname out",
			"refuse to listen on %s without a password: others could run commands as you", o.hostname)
	}
	if o.port < -1 || o.port > 65535 {
		return nil, usageError{fmt.Errorf("--port %d is not a port", o.port)}
	}
	l, err := server.Listen(ctx, o.hostname, o.port, password)
	if err != nil {
		return nil, err
	}
	if o.socket == "" {
		return []net.Listener{l}, nil
	}
	s, err := server.ListenSocket(ctx, o.socket)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return []net.Listener{l, s}, nil
}

// announce says where the server is. The second line is what launchers of
// OpenCode's SDKs wait for.
func announce(env *Env, a *app, listeners []net.Listener, password bool) {
	if !password {
		fmt.Fprintln(env.Stderr, "lathe: warning: no password is set; every program of this machine's users can use the server")
	}
	for _, l := range listeners {
		if l.Addr().Network() == "unix" {
			fmt.Fprintf(env.Stdout, "lathe server listening on unix:%s\n", l.Addr())
			continue
		}
		fmt.Fprintf(env.Stdout, "lathe server listening on http://%s\n", l.Addr())
		fmt.Fprintf(env.Stdout, "opencode server listening on http://%s\n", l.Addr())
	}
	a.log.Info("the server listens", "password", password)
}
