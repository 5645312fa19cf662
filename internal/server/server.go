// Package server is the HTTP face of lathe: OpenCode's routes and event streams
// over the session service, safe by default.
//
// Every request passes, in this order: the gate (package gate: the Host and Origin
// checks, the password, who made the connection), the limits, its route. Routes stand
// in one table (routes.go), from which the OpenAPI document is made too; what answers
// them falls into groups, each a type that holds nothing but the call: sessions,
// messages, asks, files, projects, terminals, screens, equipment, apis for 1.18's /api,
// and faces for lathe's own below /lathe. Streams of events are package events. Wire
// shapes come from internal/opencode/wire, and one table maps error codes to statuses.
//
// docs/compat.md lists where answers differ from OpenCode's, and why.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/bus"
	"lathe/internal/catalog"
	"lathe/internal/config"
	"lathe/internal/job"
	"lathe/internal/keyring"
	"lathe/internal/server/events"
	"lathe/internal/server/gate"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/terminal"
)

// Options configure a [Server]. Service, Store, Bus and Dir are needed. There are many, since
// the server is given everything that it does not make itself.
type Options struct {
	Service   *session.Service
	Store     *store.Store
	Elsewhere Elsewhere // nil when no other server shares the store
	Bus       *bus.Bus
	Auth      *auth.Store
	Keys      *keyring.Ring // what people with names have for providers; nil: they have no names
	Paths     config.Paths
	Catalog   *catalog.Catalog // what is known about models, wherever they are used; may be nil
	// Getenv reads the environment, which may hold keys; nil: it is empty.
	Getenv func(string) string
	// Refresh, when set, fetches the newest catalogue.
	Refresh func(ctx context.Context) error
	IDs     *lathe.IDs
	Now     func() time.Time
	Log     *slog.Logger

	Dir string // used where a request names no directory
	// Directories are those that requests may name, including what is below them,
	// in addition to Dir and, without a password, the projects that lathe knows.
	// With a password, if none are listed, requests may name any.
	Directories []string

	// Password, if set, is required with every request. User is the name that
	// goes with it; "opencode" if empty.
	User, Password string
	// Hosts are names under which requests may address the server, besides this
	// machine's loopback names and the address that a connection came to.
	Hosts []string
	// Origins are web origins that may call, besides (with a password) those of
	// this machine.
	Origins []string
	// Proxies are believed when they say whom they pass on, in X-Forwarded-For.
	Proxies []netip.Prefix
	// Named says that people have names: a request has to come with the token of one
	// ([store.People]), or with the password, which is an owner's.
	Named bool
	// OIDC, if set, names people by what an issuer says; it needs Named.
	OIDC *OIDC
	// Trusted says that the transport itself authenticates callers (a private
	// unix socket, a call within the process): no Host check or password is
	// needed.
	Trusted bool
	// Commands, when set, are those whose processes may not call; see package gate.
	Commands gate.Commands

	// Jobs are the sessions' processes that outlive their calls; nil: there are none.
	Jobs *job.Manager

	// Environ is what terminals inherit, Shell the program they run.
	Environ []string
	Shell   string
	// Terminals, when set, are shared by the servers of a process, and closed by who made them;
	// nil: the server has its own.
	Terminals *terminal.Manager

	Heartbeat time.Duration // of event streams; 10 s when zero

	// Metrics, when set, is what the server has counted.
	Metrics Metrics
	// Served, if set, is called for every answered request, with its pattern,
	// status and start.
	Served func(r *http.Request, status int, start time.Time)

	// Trusting, when set, keeps the person's decisions about repositories.
	Trusting Trusting
	// Local says that the only caller is the program itself: its requests are not
	// logged as news.
	Local bool
}

// Server answers requests. Use [New], serve its handler, and [Server.Close] it
// before the service.
type Server struct {
	opts   Options
	gate   *gate.Gate
	mux    *routeMux
	events *events.Streams
	ptys   *terminal.Manager

	runs    runs
	uploads gate.Uploads
	reach   reach
	listing listing
	own     func() ownPlaces
	rights  *rights // nil: people have no names
	failed  *failedLogins

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // streams and waiting prompts

	patience gate.Patience
	draining atomic.Bool // no new work is taken

	mu     sync.Mutex
	closed bool
}

var errStopping = errors.New("the server is stopping")

// New returns a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IDs == nil {
		o.IDs = lathe.NewIDs(o.Now, nil)
	}
	if o.User == "" {
		o.User = "opencode"
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 10 * time.Second
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Server{opts: o, ctx: ctx, stop: stop,
		patience: gate.Patience{Header: headerTimeout, Body: bodyTimeout, Idle: idleTimeout, Stall: stallTimeout},
	}
	admission := gate.Options{
		User: o.User, Password: o.Password, Hosts: o.Hosts, Origins: o.Origins, Trusted: o.Trusted, Commands: o.Commands, Public: pageRequest, Now: o.Now,
		Logins: loginsOf(o),
	}
	if o.Named && !o.Trusted {
		s.rights = &rights{s: s, known: gate.Beliefs[store.Grant]{Now: o.Now}}
		s.rights.admission(&admission)
		if o.OIDC != nil {
			s.rights.sights = &sights{o: *o.OIDC, s: s, by: map[string]sight{}}
			admission.Issued, admission.Landing = s.rights.sights.issued, isCallback
		}
	}
	s.failed = newFailedLogins(o)
	admission.Failed = func(r *http.Request, name string) { s.failed.note(r, name, "wrong password or token") }
	admission.Proxies = o.Proxies
	s.gate = gate.New(admission)
	s.own = sync.OnceValue(func() ownPlaces { return newOwnPlaces(o.Paths) })
	s.listing.excludes = func(dir string) []string { return s.own().excludes(dir) }
	s.events = events.New(events.Options{
		Bus: o.Bus, Journal: journalOf(o.Store), Heartbeat: o.Heartbeat, Epoch: strings.ToLower(o.IDs.New(lathe.PrefixEvent)[4+12:]), Project: s.projectOf,
	})
	s.ptys = o.Terminals
	if s.ptys == nil {
		s.ptys = terminal.NewManager(terminal.Options{IDs: o.IDs, Publish: s.publishPTY})
	}
	s.mux = &routeMux{s: s, groups: map[string]*http.ServeMux{}}
	return s
}

// Close ends event streams, waiting prompts and terminals, and returns when they
// have ended. Turns go on until the service is closed. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop(errStopping)
	err := s.closeTerminals()
	s.wg.Wait()
	s.listing.close()
	s.events.Close()
	s.failed.Close()
	return err
}

// enter counts a request, so that Close waits for it.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Add(1)
	return true
}

const (
	headerLimit   = 64 << 10
	headerTimeout = 10 * time.Second
	bodyTimeout   = 60 * time.Second
	stallTimeout  = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// HTTP returns an http.Server for the handler, with limits set. The caller
// serves and shuts it down; closing the Server first ends its streams.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: s.patience.Header, IdleTimeout: s.patience.Idle, MaxHeaderBytes: headerLimit,
		ConnContext: gate.WithCaller,
		ErrorLog:    slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
}
