// Package serve has the commands that let other programs in: lathe serve, its page in a
// browser, and lathe acp for editors.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/metrics"
	"lathe/internal/server"
	"lathe/internal/server/gate"
	"lathe/internal/shell"
	"lathe/internal/telemetry"
)

// stopTime is how long a server that stops waits for answers under way.
const stopTime = 5 * time.Second

type serveOptions struct {
	hostname     string
	port         int
	socket       string
	cors         []string
	hosts        []string
	proxies      []string
	passwordFile string
	dir          string
	drain        time.Duration
	metrics      bool
	mdns         bool
	mdnsDomain   string
	open         func(url string) // told the address of the page; may be nil
	directories  []string         // directories that requests may name
	named        bool             // people have tokens
	issuer       *server.OIDC     // names people; nil: none does
	workersOnly  bool             // no directory of this machine is worked in
	store        string           // address of a database that several servers share
	believed     []netip.Prefix   // proxies, as they are written in proxies
	unused       []string         // settings that were found and are not used
}

// New is lathe serve.
func New(env *console.Env) *cobra.Command {
	o := serveOptions{port: -1}
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve the HTTP interface", Args: console.NoArgs,
		Long: `Serve answers OpenCode's HTTP and event interface, for editors, SDKs and other
programs, until it is interrupted. GET /doc describes it.

It listens on this machine only. Any other address needs a password, because whoever
reaches the server can run commands as you: use --password-file with a file that only
you can read (or set LATHE_SERVER_PASSWORD, which your shell and the programs that it
starts can read too). Clients send it as HTTP basic authentication; the user is
"opencode" unless LATHE_SERVER_USERNAME says otherwise. Traffic is not encrypted: for
other machines put a TLS proxy or an SSH tunnel in front.

The flags win over "server" in your configuration (port, hostname, mdns, cors, proxies). A
repository's configuration counts only once you trust it.

An interrupt (Ctrl-C, SIGTERM) stops it: what runs is aborted and recorded, or
with --drain gets that long to finish while no new work is taken. On a database
that servers share, each turn is handed over to another one when the step that it
is at is over, for which there are 20 seconds unless --drain says otherwise. A
second interrupt aborts at once, a third kills.`,
		Example: `  lathe serve
  lathe serve --port 0 --socket ~/.lathe.sock
  lathe serve --cors https://tools.example.com --drain 30s
  lathe serve --hostname 0.0.0.0 --mdns --password-file ~/.lathe-password
  curl http://127.0.0.1:4096/global/health`,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), env, o, cmd.Flags().Changed) },
	}
	addServeFlags(cmd, &o)
	return cmd
}

func addServeFlags(cmd *cobra.Command, o *serveOptions) {
	f := cmd.Flags()
	f.StringVar(&o.hostname, "hostname", "", "address to listen on (default 127.0.0.1)")
	f.IntVar(&o.port, "port", -1, "port to listen on; 0 for any (default 4096, or any when that is taken)")
	f.Lookup("port").DefValue = "0" // the text says the default, and help adds none to a zero
	f.StringVar(&o.socket, "socket", "", "also listen on a unix socket at this path, which only you can reach")
	f.StringArrayVar(&o.cors, "cors", nil, "web origin that may call, such as https://example.com (repeatable)")
	f.StringArrayVar(&o.hosts, "host", nil, "further name or address under which the server is reached, besides localhost and those it listens on (repeatable)")
	f.StringArrayVar(&o.proxies, "proxy", nil, "address or network of a proxy in front, whose X-Forwarded-For is believed (repeatable)")
	f.StringVar(&o.passwordFile, "password-file", "", "file with the password")
	f.StringVar(&o.store, "store", "", "PostgreSQL that several servers share, as postgres://user@host/database (default: files of this machine)")
	f.BoolVar(&o.workersOnly, "workers-only", false, "with --store: work in no directory of this machine; lathe worker does, on others")
	f.StringVar(&o.dir, "dir", "", "directory for requests that name none")
	f.BoolVar(&o.metrics, "metrics", false, "count what happens, for Prometheus: GET /metrics")
	f.DurationVar(&o.drain, "drain", 0, drainUsage)
	f.BoolVar(&o.mdns, "mdns", false, "announce the server on the local network; listens on 0.0.0.0 unless --hostname says otherwise")
	f.StringVar(&o.mdnsDomain, "mdns-domain", "", "name to announce (default "+defaultDomain+")")
}

func serve(ctx context.Context, env *console.Env, o serveOptions, given func(string) bool) error {
	dir, err := console.WorkDir(env, o.dir)
	if err != nil {
		return err
	}
	address, err := app.StoreOf(ctx, env, o.store)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, env, app.Options{Dir: dir, Attended: true, Store: address, Bare: o.workersOnly})
	if err != nil {
		return err
	}
	o.drain = drainTime(a, o.drain, given("drain"))
	if err := o.settle(ctx, a, dir, given); err != nil {
		return errors.Join(err, a.Close())
	}
	return errors.Join(serveWith(ctx, env, a, o, dir), a.Close())
}

// settle fills in from the configuration what no flag set, and checks
// all settings.
func (o *serveOptions) settle(ctx context.Context, a *app.App, dir string, given func(string) bool) error {
	opts := instance.Options{Paths: a.Paths, Getenv: a.Env.Getenv, Auth: a.Auth, Log: a.Log}
	full := a.InstanceOptions(nil)
	opts.Trusted, opts.Trust = full.Trusted, full.Trust
	checkout, err := instance.FindCheckout(ctx, dir, opts)
	if err != nil {
		return err
	}
	conf, _, err := checkout.LoadConfig(ctx, opts)
	if err != nil {
		return err
	}
	o.merge(conf.Server, given)
	o.unused = config.UnusedLines(conf.Unused())
	for _, d := range conf.Server.Directories {
		if rest, ok := strings.CutPrefix(d, "~/"); ok || d == "~" {
			d = filepath.Join(a.Paths.Home, rest)
		}
		if !filepath.IsAbs(d) {
			return lathe.Errorf(lathe.CodeInvalid, "write it whole, or with ~/", "server.directories: %q is not an absolute path", d)
		}
		o.directories = append(o.directories, d)
	}
	return o.check()
}

func (o *serveOptions) merge(c config.Server, given func(string) bool) {
	if !given("port") && c.Port != 0 {
		o.port = c.Port
	}
	if !given("mdns") {
		o.mdns = c.MDNS
	}
	if o.mdnsDomain == "" {
		o.mdnsDomain = c.MDNSDomain
	}
	if o.hostname == "" {
		o.hostname = c.Hostname
	}
	if o.hostname == "" && o.mdns {
		o.hostname = "0.0.0.0"
	}
	if o.hostname == "" {
		o.hostname = "127.0.0.1"
	}
	o.cors = append(slices.Clone(o.cors), c.CORS...)
	o.proxies = append(slices.Clone(o.proxies), c.Proxies...)
}

func (o *serveOptions) check() error {
	if o.port < -1 || o.port > 65535 {
		return console.Usagef("%d is not a port; ports go from 0 (any) to 65535", o.port)
	}
	if o.drain < 0 {
		return console.Usagef("--drain %s is below zero", o.drain)
	}
	for _, origin := range o.cors {
		if err := gate.CheckOrigin(origin); err != nil {
			return lathe.Errorf(lathe.CodeInvalid, "write it as in the browser's address, without a path: https://example.com", "--cors %q: %v", origin, err)
		}
	}
	for _, text := range o.proxies {
		p, err := gate.ParseProxy(text)
		if err != nil {
			return lathe.Errorf(lathe.CodeInvalid, "write it as 10.1.2.3 or 10.0.0.0/8", "--proxy %q is neither an address nor a network", text)
		}
		o.believed = append(o.believed, p)
	}
	return o.checkDomain()
}

// serveWith serves until the context ends.
func serveWith(ctx context.Context, env *console.Env, a *app.App, o serveOptions, dir string) error {
	password, err := serverPassword(a, o.passwordFile)
	if err != nil {
		return err
	}
	if o.named, err = hasPeople(ctx, a); err != nil {
		return err
	}
	if o.issuer, err = issuerOf(ctx, env, a); err != nil {
		return err
	}
	o.named = o.named || o.issuer != nil
	listeners, err := o.listen(ctx, o.asks(password))
	if err != nil {
		return err
	}
	tracer, err := telemetry.Start(ctx, telemetry.Options{Bus: a.Bus, Getenv: env.Getenv, Version: lathe.Version, Log: a.Log})
	if err != nil {
		fmt.Fprintf(env.Stderr, "lathe: warning: %v\n", err)
	}
	var counts *metrics.Recorder
	if o.metrics {
		counts = a.Metrics()
		defer counts.Close()
	}
	srv := newServer(a, o, dir, password, both(tracer.Served, counts.Served), counts)
	hs := srv.HTTP()
	all, leave := beFound(ctx, a, listeners, dir)
	failed := make(chan error, len(all))
	var listening sync.WaitGroup
	defer listening.Wait() // they end when the server is stopped
	for _, l := range all {
		defer a.Own.Add(l.Addr())()
		listening.Go(func() { failed <- hs.Serve(l) })
	}
	announce(env, a, listeners, o.asks(password))
	o.openPage(listeners)
	for _, line := range o.unused {
		fmt.Fprintf(env.Stderr, "lathe: warning: %s\n", console.Clean(line))
	}
	known := o.makeKnown(env, a, listeners[0].Addr())
	notifyManager(env.Getenv, "READY=1")
	listening.Go(func() { a.Adopt(ctx) })
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
	}
	notifyManager(env.Getenv, "STOPPING=1")
	known()
	leave()
	srv.Drain()
	stop := drain{env: env, app: a, patience: o.drain}
	stop.run()
	return errors.Join(err, stopServer(a, srv, hs, tracer))
}

// stopServer ends turns first, so that clients still hear how they ended, then
// the clients' streams, then the rest.
func stopServer(a *app.App, srv *server.Server, hs *http.Server, tracer *telemetry.Tracer) error {
	dirs := a.Service.Instances.Directories()
	err := a.Service.Close()
	srv.Farewell(dirs)
	a.Bus.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err = errors.Join(err, srv.Stop(ctx, hs))
	if err := tracer.Close(ctx); err != nil { // an unreachable collector must not stop the server
		a.Log.Warn("telemetry is lost", "err", err)
	}
	a.Log.Info("the server stopped")
	return err
}

func newServer(a *app.App, o serveOptions, dir, password string, served func(*http.Request, int, time.Time), counts *metrics.Recorder) *server.Server {
	environ := shell.Env(a.Env.Environ, nil, console.Secrets...)
	hosts := append([]string{o.hostname}, o.hosts...)
	if name, err := os.Hostname(); err == nil && o.asks(password) {
		hosts = append(hosts, name, name+".local")
	}
	if o.mdns && o.asks(password) {
		hosts = append(hosts, o.domain())
	}
	opts := a.ServerOptions(dir)
	opts.Directories, opts.User, opts.Password, opts.Hosts, opts.Origins = o.directories, a.Flags.ServerUsername, password, hosts, o.cors
	opts.Named, opts.OIDC, opts.Proxies = o.named, o.issuer, o.believed
	if counts != nil {
		opts.Metrics = counts
	}
	opts.Environ, opts.Shell, opts.Served, opts.Commands = environ, shell.Choose(environ), served, a.Runner
	return server.New(opts)
}

func (o *serveOptions) listen(ctx context.Context, password bool) ([]net.Listener, error) {
	if !gate.Loopback(o.hostname) && !password {
		return nil, lathe.Errorf(lathe.CodeInvalid, "use --password-file, set LATHE_SERVER_PASSWORD, give people tokens (lathe user add), or stay on 127.0.0.1",
			"refuse to listen on %s without a password: others could run commands as you", o.hostname)
	}
	l, err := gate.Listen(ctx, o.hostname, o.port, password)
	if err != nil {
		return nil, err
	}
	if o.socket == "" {
		return []net.Listener{l}, nil
	}
	s, err := gate.ListenSocket(ctx, o.socket)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return []net.Listener{l, s}, nil
}

// announce prints where the server is. The second line is what launchers of
// OpenCode's SDKs wait for.
func announce(env *console.Env, a *app.App, listeners []net.Listener, password bool) {
	if !password {
		fmt.Fprintln(env.Stderr, "lathe: warning: no password is set; "+whoMayUse(listeners))
	}
	for _, l := range listeners {
		if l.Addr().Network() == "unix" {
			fmt.Fprintf(env.Stdout, "lathe server listening on unix:%s\n", l.Addr())
			continue
		}
		fmt.Fprintf(env.Stdout, "lathe server listening on http://%s\n", l.Addr())
		fmt.Fprintf(env.Stdout, "opencode server listening on http://%s\n", l.Addr())
	}
	a.Log.Info("the server listens", "password", password)
}

// whoMayUse says who can use a server without a password.
func whoMayUse(listeners []net.Listener) string {
	overTCP := slices.ContainsFunc(listeners, func(l net.Listener) bool { return l.Addr().Network() != "unix" })
	switch {
	case !overTCP:
		return "every program of yours can use the server"
	case gate.TellsUsers():
		return "every program of yours can use the server; other users of this machine are refused"
	}
	return "every program of every user of this machine can use the server"
}

// serverPassword returns the password from the file, else from the environment.
func serverPassword(a *app.App, file string) (string, error) {
	if file == "" {
		return a.Flags.ServerPassword, nil
	}
	return face.Password(file)
}
