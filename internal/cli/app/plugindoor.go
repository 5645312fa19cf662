package app

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
func (d *pluginDoor) open(a *App) http.RoundTripper {
	d.once.Do(func() {
		o := a.localOptions(a.Env.Dir)
		o.Elsewhere = nil // it is for the engine of this process
		d.srv = server.New(o)
	})
	return client.InProcessHTTP(d.srv)
}

func (d *pluginDoor) close() error {
	d.once.Do(func() {})
	if d.srv == nil {
		return nil
	}
	return d.srv.Close()
}
