// Package servertest wires a server over an engine for tests as a process does: with a
// store, credentials and directories of the test's own.
package servertest

import (
	"log/slog"
	"testing"

	"lathe/internal/auth"
	"lathe/internal/bus"
	"lathe/internal/config"
	"lathe/internal/enginetest"
	"lathe/internal/server"
	"lathe/internal/workspace"
)

// Open starts an engine and a server that works in a directory, and closes both with the
// test. Env names HOME and LATHE_HOME; what it says, the server's clients may read as
// lathe's environment. Of the engine's options, those about the bus, the credentials and
// trust are set: everything is trusted.
func Open(t testing.TB, dir string, o enginetest.Options) *server.Server {
	t.Helper()
	getenv := func(name string) string { return o.Env[name] }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := paths.AuthFile()
	creds := auth.Open(auth.Options{Path: own})
	b := bus.New(bus.Options{})
	o.Session.Bus, o.Instance.Auth = b, creds
	o.Instance.Trusted = func(workspace.Root) bool { return true }
	e, err := enginetest.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	srv := server.New(server.Options{
		Service: e.Service, Store: e.Store, Bus: b, Jobs: e.Jobs, Auth: creds, Paths: paths, IDs: e.Instance.IDs, Dir: dir, Getenv: getenv,
		Environ: e.Instance.Environ, Shell: "/bin/sh", Trusted: true, Local: true, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		for _, close := range []func() error{e.Service.Close, srv.Close, e.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	return srv
}
