package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/tool"
)

// remoteTool is a tool of a server.
type remoteTool struct {
	set *Servers
	Named
	quiet bool
}

// Spec describes it to the model. The description begins with the server's name, so
// that no tool can pass for another server's.
func (t *remoteTool) Spec() tool.Spec {
	return tool.Spec{Name: t.Key, Description: t.description(), Schema: t.Schema, Quiet: t.quiet}
}

func (t *remoteTool) description() string {
	text := t.Description
	if text == "" {
		text = t.Title
	}
	return strings.TrimSpace("[MCP server " + clean(t.Server, 80) + "] " + text)
}

// Run asks for permission and makes the call.
func (t *remoteTool) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	srv, err := t.set.find(t.Server)
	if err != nil {
		return tool.Failf("%v; it existed when this session began", err), nil
	}
	if !srv.enabled() {
		return tool.Failf("MCP server %q is switched off", t.Server), nil
	}
	if err := t.ask(ctx, srv, call); err != nil {
		return tool.Result{}, err
	}
	if _, err := srv.connect(ctx, false); err != nil {
		return srv.refusal(ctx, err)
	}
	if srv.changed(t.Name) { // as the start has shown
		if err := t.ask(ctx, srv, call); err != nil {
			return tool.Result{}, err
		}
	}
	return srv.call(ctx, t.Name, call.Input, call)
}

// ask asks for permission. A changed definition counts as approved once a person has
// allowed the call.
func (t *remoteTool) ask(ctx context.Context, srv *server, call *tool.Call) error {
	changed := srv.changed(t.Name)
	if err := call.Ask(ctx, t.request(call, changed)); err != nil || !changed {
		return err
	}
	if err := srv.accept(t.Name); err != nil {
		t.set.o.Log.Warn("that a person allowed a changed tool could not be kept", "server", t.Server, "err", err)
	}
	return nil
}

// maxArguments bounds what an ask shows of a call's arguments, in bytes.
const maxArguments = 4 << 10

// request is what the person is asked, with what the server claims about the tool. A tool
// whose definition changed is asked about whatever the rules allow.
func (t *remoteTool) request(call *tool.Call, changed bool) tool.Request {
	name := clean(t.Server, 80)
	meta := map[string]any{"server": name, "tool": clean(t.Name, 80)}
	if args := cleanText(string(call.Input), maxArguments); args != "" && args != "{}" {
		meta["arguments"] = args
	}
	if hints := t.Hints.Words(); hints != "" {
		meta["hints"] = hints
	}
	doing := fmt.Sprintf("this calls %s of the MCP server %s", clean(t.Name, 80), name)
	if changed {
		doing += ", which has changed what it says of the tool since it was approved"
		meta[tool.MetaProtected] = true
		meta["reason"] = "the server " + name + " has changed what it says of this tool since it was approved; look at it with: lathe mcp tools " + name
	}
	return tool.Request{
		Permission: t.Key, Patterns: []string{"*"}, Always: []string{"*"}, Metadata: meta,
		Doing: doing,
	}
}

// Words tells people what a server claims of a tool.
func (h Hints) Words() string {
	var out []string
	switch {
	case h.ReadOnly:
		out = append(out, "only reads, it says")
	case h.Destructive != nil && *h.Destructive:
		out = append(out, "may destroy")
	case h.Destructive != nil:
		out = append(out, "only adds, it says")
	}
	if h.OpenWorld != nil && *h.OpenWorld {
		out = append(out, "reaches the outside world")
	}
	return strings.Join(out, ", ")
}

// Tools returns the tools for a model with the given window: those of an offer
// and, without sending their definitions, whatever else is known by now, so that
// tools found by a search can be called. Suits says which may be found and called;
// nil: all.
func (s *Servers) Tools(o *Offer, window int, suits func(name string) bool) []tool.Tool {
	if o.Empty() {
		return nil
	}
	deferred := o.deferred(s.o.Mode, window)
	var out []tool.Tool
	var hidden []Named
	offered := map[[2]string]bool{}
	for _, t := range o.Tools {
		offered[[2]string{t.Server, t.Tool.Name}] = true
		out = append(out, &remoteTool{s, t, deferred})
		if deferred {
			hidden = append(hidden, t)
		}
	}
	now := s.Offer()
	taken := map[string]bool{}
	for _, t := range o.Tools {
		taken[t.Key] = true
	}
	for _, t := range now.Tools {
		if !offered[[2]string{t.Server, t.Tool.Name}] && !taken[t.Key] {
			out = append(out, &remoteTool{s, t, true})
			hidden = append(hidden, t)
		}
	}
	quiet := !deferred && !o.anyNew() // they are still understood: tools may come later
	out = append(out, &searchTool{s, o, hidden, suits, quiet}, &callTool{s, quiet})
	if slices.ContainsFunc(o.Servers, func(s Offered) bool { return s.Resources }) {
		out = append(out, s.resourceTools()...)
	}
	return out
}

// State changes whenever [Servers.Tools] would return something different.
func (s *Servers) State() int { return s.generation() }
