package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/server/gate"
)

// countingOptions say where a worker tells what it has done. It has no other address.
type countingOptions struct {
	address, passwordFile string
}

// counting answers GET /metrics, and nothing else.
type counting struct {
	hs     *http.Server
	ended  chan error
	finish func()
}

// open listens, unless no address was named. The result may be nil, and is to be closed.
func (o countingOptions) open(ctx context.Context, env *console.Env, a *app.App) (*counting, error) {
	if o.address == "" {
		return nil, nil
	}
	host, text, err := net.SplitHostPort(o.address)
	port, bad := strconv.Atoi(text)
	if err != nil || host == "" || bad != nil || port < 0 || port > 65535 {
		return nil, lathe.Errorf(lathe.CodeInvalid, "write it as 127.0.0.1:9464", "--metrics %q is not an address with a port", o.address)
	}
	password, err := serverPassword(a, o.passwordFile)
	if err != nil {
		return nil, err
	}
	if !gate.Loopback(host) && password == "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "use --password-file, set LATHE_SERVER_PASSWORD, or stay on 127.0.0.1", "refuse to tell figures on %s without a password", host)
	}
	l, err := gate.Listen(ctx, host, port, password != "")
	if err != nil {
		return nil, err
	}
	counts := a.Metrics()
	g := gate.New(gate.Options{User: a.Flags.ServerUsername, Password: password, Hosts: []string{host}, Commands: a.Runner, Now: env.Now})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if password != "" { // a page that was led here by another name of this machine does not have it
			r.Host = o.address
		}
		if _, ok := g.Admit(w, r); !ok {
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if err := counts.WriteTo(r.Context(), w); err != nil {
			a.Log.Warn("what was counted could not be told", "err", err)
		}
	})
	c := &counting{hs: &http.Server{Handler: mux, ReadHeaderTimeout: countingTime, IdleTimeout: time.Minute, ConnContext: gate.WithCaller}, ended: make(chan error, 1)}
	forget := a.Own.Add(l.Addr())
	c.finish = func() { forget(); counts.Close() }
	go func() { c.ended <- c.hs.Serve(l) }()
	fmt.Fprintf(env.Stderr, "lathe: figures for Prometheus are at http://%s/metrics\n", l.Addr())
	return c, nil
}

// countingTime is how long a request may take to come.
const countingTime = 10 * time.Second

// Close ends it. A nil one has nothing to close.
func (c *counting) Close() error {
	if c == nil {
		return nil
	}
	err := c.hs.Close()
	if end := <-c.ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	c.finish()
	return err
}
