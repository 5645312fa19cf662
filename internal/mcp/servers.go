package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/shell"
)

// Options say what [Servers] work with.
type Options struct {
	Dir     string // the instance's; local servers run in it
	Servers []config.MCP
	// Mode is how tools are offered: "direct", "deferred", or "" for whichever fits.
	Mode    string
	Timeout time.Duration // of a call, where a server has none of its own; 0: a minute
	Cache   string        // directory for what servers had to offer; "": nothing is kept
	Env     []string      // the environment of local servers, before their own
	Open    func(shell.Program) (*shell.Service, error)
	// Launch opens the program of a server, of [shell.KindMCP]; nil: Open does.
	Launch func(server string, p shell.Program) (*shell.Service, error)
	// Unconfined says which servers run without confinement; nil: none.
	Unconfined func(server string) bool
	HTTP       *http.Client // nil: [http.DefaultClient]
	Logins     *Logins      // nil: servers that want a login cannot be used
	Log        *slog.Logger
	Now        func() time.Time
	// Publish reports what changed.
	Publish func(lathe.Event)
	// Reserved returns names that servers' tools must not get.
	Reserved func() []string
	// Host carries out what servers ask of the client.
	Host Host
}

// Servers are the servers of a directory. They are safe for concurrent use. Nothing
// runs before it is needed; Close ends everything.
type Servers struct {
	o      Options
	cache  cache
	ctx    context.Context // the life of all servers
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // background work

	listTime time.Duration // if set: instead of what [server.listTime] says

	mu       sync.Mutex
	list     []*server // in the order of the configuration
	changed  int       // how often what is offered changed
	prepared bool
	warming  bool
}

// New returns the servers of a directory. It starts nothing and reads nothing.
func New(o Options) *Servers {
	s := &Servers{o: o, cache: cache{o.Cache}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	for _, c := range o.Servers {
		if c.Type != "" {
			s.list = append(s.list, newServer(s, c))
		}
	}
	return s
}

// ErrClosed means that the servers of the directory were ended with it.
var ErrClosed = fmt.Errorf("the servers of this directory are closed")

// Name is what it is called among the parts of an instance.
func (s *Servers) Name() string { return "mcp" }

// Start starts the servers that do not wait for their first call. It does not wait for
// them.
func (s *Servers) Start(context.Context, func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepared {
		return nil
	}
	s.prepared = true
	for _, srv := range s.list {
		if !srv.conf.Lazy() && srv.enabled() {
			srv.keepUp()
		}
	}
	return nil
}

// Status says how many servers are connected.
func (s *Servers) Status() string {
	up, all := 0, s.all()
	for _, srv := range all {
		if srv.status().State == Connected {
			up++
		}
	}
	return fmt.Sprintf("%d of %d servers run", up, len(all))
}

// Close ends all servers and background work, and returns when they are gone.
func (s *Servers) Close() error {
	s.cancel(ErrClosed)
	var wg sync.WaitGroup
	for _, srv := range s.all() {
		wg.Go(srv.close)
	}
	wg.Wait()
	s.wg.Wait()
	return nil
}

// Any reports whether there is a server at all.
func (s *Servers) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) > 0
}

func (s *Servers) all() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// find returns a server by its name.
func (s *Servers) find(name string) (*server, error) {
	for _, srv := range s.all() {
		if srv.conf.Name == name {
			return srv, nil
		}
	}
	return nil, &UnknownError{Name: name}
}

// UnknownError means that no server has the name.
type UnknownError struct{ Name string }

// Error names it.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no MCP server %q", clean(e.Name, 80))
}

// Add adds a server, replacing and ending one of the same name. It lasts as long
// as the instance.
func (s *Servers) Add(c config.MCP) {
	srv := newServer(s, c)
	s.mu.Lock()
	i := slices.IndexFunc(s.list, func(old *server) bool { return old.conf.Name == c.Name })
	var old *server
	if i < 0 {
		s.list = append(s.list, srv)
	} else {
		old, s.list[i] = s.list[i], srv
	}
	s.changed++
	s.mu.Unlock()
	if old != nil {
		old.close()
	}
}

// Connect starts a server, even one that was switched off, and waits until it is
// connected or has failed.
func (s *Servers) Connect(ctx context.Context, name string) error {
	srv, err := s.find(name)
	if err != nil {
		return err
	}
	srv.switchOn(true)
	_, err = srv.connect(ctx, true)
	return err
}

// Disconnect ends a server and keeps it from starting again.
func (s *Servers) Disconnect(name string) error {
	srv, err := s.find(name)
	if err != nil {
		return err
	}
	srv.switchOn(false)
	return nil
}

// warmAfter lets the request that is about to be made leave first.
const warmAfter = 250 * time.Millisecond

// Warm starts, a little later and in the background, the servers about which nothing
// is known yet, so that the next session begins with what they offer.
func (s *Servers) Warm() {
	cold := s.cold()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(cold) == 0 || s.warming || s.ctx.Err() != nil {
		return
	}
	s.warming = true
	s.wg.Go(func() {
		if pause(s.ctx, warmAfter) == nil {
			for _, srv := range cold {
				srv.startBeside()
			}
		}
		s.mu.Lock()
		s.warming = false
		s.mu.Unlock()
	})
}

// cold returns the servers about which nothing is known and that nobody has tried to start.
func (s *Servers) cold() []*server {
	return slices.DeleteFunc(s.all(), func(srv *server) bool {
		return !srv.enabled() || srv.known() != nil || !srv.untried()
	})
}

// Settle starts the servers that are not known yet and waits until no server is
// starting any more, or ctx ends.
func (s *Servers) Settle(ctx context.Context) {
	for _, srv := range s.cold() {
		srv.startBeside()
	}
	for _, srv := range s.all() {
		srv.awaitStart(ctx)
	}
}

// List says how all servers are doing.
func (s *Servers) List() []Status {
	all := s.all()
	out := make([]Status, 0, len(all))
	for _, srv := range all {
		st := srv.status()
		st.Memory = srv.memory()
		out = append(out, st)
	}
	return out
}

// generation counts the changes of what there is to offer.
func (s *Servers) generation() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// toolsChanged notes and publishes that a server's tools have changed.
func (s *Servers) toolsChanged(name string) {
	s.mu.Lock()
	s.changed++
	s.mu.Unlock()
	if s.o.Publish != nil {
		s.o.Publish(lathe.MCPToolsChanged{Server: name})
	}
}

// Seen notes that a person has looked at a server's tools as they are now.
func (s *Servers) Seen(name string) error {
	srv, err := s.find(name)
	if err != nil {
		return err
	}
	return srv.accept()
}
