package builtin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/judge"
	"lathe/internal/netguard"
	"lathe/internal/permission"
	"lathe/internal/sandbox/proxy"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// OpenWay opens one command's way to other hosts: a door that asks a judge, and the
// variables that lead the command's programs to it. Whoever gets the door closes it.
type OpenWay func(proxy.Judge) (*proxy.Door, map[string]string, error)

// way is how one command reaches other hosts.
type way struct {
	e    shellTools
	call *tool.Call
	in   bashInput
	// known are the hosts that were asked about before the command ran.
	known []string
	ctx   context.Context // of the call, for its values
	door  *proxy.Door

	mu     sync.Mutex
	denied map[string]string // hosts that a rule denies, and the rule's pattern
}

// open gives a command its way. Commands that the person typed have the machine's
// network, as they would in a terminal.
func (e shellTools) open(ctx context.Context, call *tool.Call, in bashInput, known []string, c *shell.Command) (*way, error) {
	if e.Network == nil || call.UserAsked {
		return nil, nil
	}
	w := &way{e: e, call: call, in: in, known: known, ctx: context.WithoutCancel(ctx), denied: map[string]string{}}
	door, vars, err := e.Network(w.judge)
	if err != nil {
		return nil, failf("The command was not run: its way to the network could not be opened: %v", err)
	}
	w.door = door
	c.Network, c.Env, c.Kind = door, shell.Env(c.Env, vars), shell.KindGuarded
	return w, nil
}

// close closes the way of a command that did not start.
func (w *way) close() {
	if w != nil {
		w.door.Close()
	}
}

// judge asks for one host. The end of ctx, which is the command's, withdraws the ask.
func (w *way) judge(ctx context.Context, a proxy.Attempt) error {
	if slices.Contains(w.known, a.Label()) && !a.Leads.IsValid() {
		return nil
	}
	asking, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	err := w.call.Ask(asking, w.e.hostRequest(a, w.in))
	if err == nil {
		return nil
	}
	if _, quiet := errors.AsType[*permission.Reporting](err); quiet {
		return fmt.Errorf("%w: %w", proxy.ErrQuiet, err)
	}
	if d, ok := errors.AsType[*permission.Denied](err); ok {
		w.mu.Lock()
		w.denied[a.Label()] = d.Rule.Pattern
		w.mu.Unlock()
	}
	return errors.New(whyNot(err))
}

// hostRequest asks for a host on behalf of a command.
func (e shellTools) hostRequest(a proxy.Attempt, in bashInput) tool.Request {
	req := HostRequest(a)
	req.Metadata["command"] = in.Command
	if in.Description != "" {
		req.Metadata["description"] = in.Description
	}
	return req
}

// HostRequest asks for a host.
func HostRequest(a proxy.Attempt) tool.Request {
	label := a.Label()
	req := tool.Request{
		Permission: permission.Network, Patterns: []string{label}, Always: []string{lathe.LiteralPattern(label)},
		Metadata: map[string]any{"host": a.Host, "port": int(a.Port), "sent": a.Sent},
		Doing:    "this command would reach " + label,
	}
	switch {
	case a.Leads.IsValid():
		protect(&req, a.Host, fmt.Sprintf("%s leads to %s, which is on this machine or in a private network", a.Host, a.Leads))
		req.Always = nil
	case a.Kind == netguard.Internal:
		protect(&req, a.Host, a.Host+" is an address of the local link or of a cloud's metadata service")
		req.Always = nil
	case a.Kind == netguard.Private:
		protect(&req, a.Host, a.Host+" is on this machine or in a private network")
	case a.Sent > 0:
		req.Metadata["reason"] = "it has sent " + grouped(a.Sent) + " bytes to other hosts so far"
	}
	return req
}

// byRule begins the reason why a host was not allowed if a person's rule decided that beforehand.
const byRule = "the rule "

// whyNot says in a few words why a host was not allowed.
func whyNot(err error) string {
	if d, ok := errors.AsType[*permission.Denied](err); ok {
		return fmt.Sprintf(byRule+"%q for the network denies it", d.Rule.Pattern)
	}
	if c, ok := errors.AsType[*permission.Corrected](err); ok {
		return "the user refused it: " + c.Feedback
	}
	if _, ok := errors.AsType[*permission.Rejected](err); ok {
		return "the user refused it"
	}
	return err.Error()
}

// note tells the model what was not reached, and how it could be.
func (w *way) note() string {
	if w == nil {
		return ""
	}
	var out []string
	hint := ""
	for _, r := range w.door.Refused() {
		out = append(out, fmt.Sprintf("%s was not reached: %s", r.Label(), strings.TrimSuffix(r.Why, ".")))
		if hint == "" && !strings.HasPrefix(r.Why, byRule) {
			hint = fmt.Sprintf("Commands reach other hosts by rule alone. The user can allow one: \"network\": {%q: \"allow\"} in their configuration.", r.Label())
		}
	}
	if hint != "" {
		out = append(out, hint)
	}
	return strings.Join(out, "\n")
}

// tell adds what was sent and what was refused to a result's metadata.
func (w *way) tell(meta map[string]any) {
	if w == nil {
		return
	}
	if traffic := w.door.Traffic(); len(traffic) > 0 {
		var list []any
		for _, t := range traffic {
			list = append(list, map[string]any{"host": t.Host, "sent": t.Sent, "received": t.Received})
		}
		meta["network"] = list
	}
	if refused := w.door.Refused(); len(refused) > 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		var list []any
		for _, r := range refused {
			list = append(list, unreached(r.Label(), r.Why, w.denied[r.Label()]))
		}
		meta["unreached"] = list
	}
}

// unreached describes a host that a command did not reach, with the pattern of the rule
// that denies it, if one does.
func unreached(host, why, rule string) map[string]any {
	one := map[string]any{"host": host, "why": why}
	if rule != "" {
		one["rule"] = rule
	}
	return one
}

// deniedHost is the result of a command that was not run because a rule denies a host that
// its words name.
func deniedHost(err error) (tool.Result, bool) {
	d, ok := errors.AsType[*permission.Denied](err)
	if !ok || d.Permission != permission.Network {
		return tool.Result{}, false
	}
	res := tool.Failf("%v", err)
	res.Metadata = map[string]any{"unreached": []any{unreached(d.Pattern, whyNot(err), d.Rule.Pattern)}}
	return res, true
}

// hosts returns the hosts that a command's words say it reaches: addresses among
// the arguments of programs that use the network. Servers on this machine are left
// out, as they may be the command's own.
func hosts(a judge.Analysis) []proxy.Target {
	var out []proxy.Target
	for _, c := range a.Commands {
		if len(c.Args) < 2 || !reaches(a, c.Args[0]) {
			continue
		}
		for _, arg := range c.Args[1:] {
			t, ok := targetIn(arg)
			if ok && !netguard.Loopback(t.Host) && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// reaches reports whether a program is among those that use the network.
func reaches(a judge.Analysis, program string) bool {
	program = program[strings.LastIndexByte(program, '/')+1:]
	return slices.ContainsFunc(a.Reaches, func(what string) bool {
		name, _, _ := strings.Cut(what, " ")
		return name == program
	})
}

var schemes = map[string]uint16{"http": 80, "https": 443, "ssh": 22, "git+ssh": 22, "ftp": 21, "git": 9418, "ws": 80, "wss": 443}

// targetIn returns the host that an argument names as an address.
func targetIn(arg string) (proxy.Target, bool) {
	if !strings.Contains(arg, "://") {
		return proxy.Target{}, false
	}
	u, err := url.Parse(arg)
	if err != nil || schemes[u.Scheme] == 0 {
		return proxy.Target{}, false
	}
	t, err := proxy.ParseTarget(u.Host, schemes[u.Scheme])
	return t, err == nil
}

// reach returns the requests for the hosts that a command names, so that they are asked
// for with the rest, before it runs.
func (e shellTools) reach(a judge.Analysis, in bashInput) (reqs []tool.Request, labels []string) {
	if e.Network == nil {
		return nil, nil
	}
	for _, t := range hosts(a) {
		kind, _ := netguard.KindOfHost(t.Host)
		reqs = append(reqs, e.hostRequest(proxy.Attempt{Target: t, Kind: kind}, in))
		labels = append(labels, t.Label())
	}
	return reqs, labels
}
