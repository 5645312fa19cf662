package cli

import (
	"net/http"
	"sync"

	"lathe/internal/client"
	"lathe/internal/server"
)

// pluginDoor answers the requests that plugins send to the engine of their own process.
// It has no address: requests come only through the pipe of the plugins' process. The
// zero value is ready.
type pluginDoor struct {
	once sync.Once
	srv  *server.Server
}

// open returns the transport for these requests, making the server on first use.
func (d *pluginDoor) open(a *app) http.RoundTripper {
	d.once.Do(func() {
		d.srv = server.New(server.Options{
			Service: a.svc, Store: a.store, Bus: a.bus, Jobs: a.jobs, Auth: a.auth, Paths: a.paths, Catalog: a.models, Refresh: a.refreshCatalog,
			Now: a.env.Now, Getenv: a.env.Getenv, Log: a.log, Dir: a.env.Dir, Trusted: true, Local: true, Trusting: a.decisions,
		})
	})
	return client.InProcess(d.srv)
}

func (d *pluginDoor) close() error {
	d.once.Do(func() {})
	if d.srv == nil {
		return nil
	}
	return d.srv.Close()
}
