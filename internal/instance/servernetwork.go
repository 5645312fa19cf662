package instance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/sandbox/proxy"
	"lathe/internal/shell"
)

// serverWays opens programs that are not commands in a network of their own, in which the
// proxy is the only way out: language servers, formatters, hooks of a repository, and
// MCP servers that are set up so. Nobody is asked on their behalf: a host that the rules
// would ask about is refused, and the person is told once.
type serverWays struct {
	c       *Confinement
	runner  *shell.Runner
	network *network
	judge   func(permission.AskInput) error
	rules   func() permission.Policy
	tell    func(title, text string)
	log     func(program, host string, why error)

	mu      sync.Mutex
	refused map[string][]string // hosts by the title of who wanted them
}

// titles name in notices who wanted to reach a host, by kind.
var titles = map[shell.Kind]string{
	shell.KindLSP: "Language servers", shell.KindFormatter: "Formatters", shell.KindGuardedHook: "Hooks", shell.KindGuardedMCP: "MCP servers",
}

// Open opens a program, as a [shell.Runner] does.
func (w *serverWays) Open(p shell.Program) (*shell.Service, error) { return w.open(p, "", nil) }

// open opens a program that may reach some hosts in addition to what the rules allow.
// Under a name its refusals are kept apart from those of others.
func (w *serverWays) open(p shell.Program, name string, hosts []string) (*shell.Service, error) {
	if titles[p.Kind] == "" || !w.c.OwnNetwork() {
		return w.runner.Open(p)
	}
	box, runner := w.c.boxOf(p.Kind), w.runner
	if p.Kind == shell.KindGuardedMCP { // it may reach what others may not
		box = w.c.servers.of(name)
		runner = runner.Confined(func(kind shell.Kind) (*sandbox.Box, sandbox.Policy) {
			_, policy := w.c.confine(kind)
			return box, policy
		})
	}
	door, vars, err := w.network.openIn(box.Listen, func(_ context.Context, a proxy.Attempt) error {
		return w.decide(p, name, hosts, a)
	})
	if err != nil {
		return nil, fmt.Errorf("start %q: its way to the network could not be opened: %w", p.Args[0], err)
	}
	p.Network, p.Env = door, shell.Env(p.Env, vars)
	return runner.Open(p)
}

// serverBoxes are the boxes of MCP servers, one for each by name.
type serverBoxes struct {
	opts sandbox.Options

	mu  sync.Mutex
	all map[string]*sandbox.Box
}

func (s *serverBoxes) of(name string) *sandbox.Box {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*sandbox.Box{}
	}
	if s.all[name] == nil {
		s.all[name] = sandbox.NewBox(s.opts)
	}
	return s.all[name]
}

// Close releases them.
func (s *serverBoxes) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, box := range s.all {
		err = errors.Join(err, box.Close())
	}
	return err
}

// decide says whether a program may reach a host.
func (w *serverWays) decide(p shell.Program, name string, hosts []string, a proxy.Attempt) error {
	policy := w.rules()
	for _, host := range hosts {
		policy.Rules = append(slices.Clip(policy.Rules), lathe.Rule{Permission: permission.Network, Pattern: host, Action: lathe.Allow})
	}
	err := w.judge(permission.AskInput{Request: builtin.HostRequest(a), Policy: policy})
	if err == nil {
		return nil
	}
	if _, quiet := errors.AsType[*permission.Reporting](err); quiet {
		return fmt.Errorf("%w: %w", proxy.ErrQuiet, err)
	}
	w.note(p, name, a.Label(), err)
	return err
}

// note tells of a refusal, once for each host.
func (w *serverWays) note(p shell.Program, name, host string, why error) {
	title := titles[p.Kind]
	program := filepath.Base(p.Args[0])
	w.log(program, host, why)
	key := title + name
	w.mu.Lock()
	known := slices.Contains(w.refused[key], host)
	if !known && len(w.refused[key]) < maxRefusedHosts {
		w.refused[key] = append(w.refused[key], host)
	}
	w.mu.Unlock()
	if known {
		return
	}
	if name != "" {
		program = name
	}
	w.tell(title, fmt.Sprintf("%s was not let reach %s. If it needs that, say \"network\": {%q: \"allow\"} in your configuration.", program, host, host))
}

// maxRefusedHosts bounds how many are remembered of one kind of programs.
const maxRefusedHosts = 50

// words says which hosts were refused to some programs; empty: none.
func (w *serverWays) words(kind shell.Kind, name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	hosts := w.refused[titles[kind]+name]
	if len(hosts) == 0 {
		return ""
	}
	return "not let reach " + strings.Join(hosts, ", ")
}

// serverWays makes the instance's.
func (i *Instance) serverWays(o Options, n *network) *serverWays {
	return &serverWays{
		c: i.Confinement, runner: o.Runner, network: n, refused: map[string][]string{},
		judge: i.Permission.Settled, rules: i.Confinement.persons,
		tell: func(title, text string) { o.Publish(i.Root.Dir, lathe.Notice{Title: title, Text: text}) },
		log: func(program, host string, why error) {
			i.Log.Warn("a program was not let reach a host", "dir", i.Root.Dir, "program", program, "host", host, "err", why)
		},
	}
}
