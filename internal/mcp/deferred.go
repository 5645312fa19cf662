package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/order"
	"lathe/internal/tool"
)

const (
	foundShown  = 8
	searchWait  = 20 * time.Second // for servers that start with a search
	foundBudget = 24 << 10         // bytes of definitions in one answer
)

// searchTool finds servers' tools that were not sent to the model.
type searchTool struct {
	set   *Servers
	offer *Offer
	known []Named
	suits func(name string) bool
	quiet bool
}

// Spec describes it to the model.
func (t *searchTool) Spec() tool.Spec {
	return tool.Spec{
		Name: "mcp_search", ReadOnly: true, Quiet: t.quiet,
		Description: "Find tools of the connected MCP servers. Their definitions are not in this request: search by what you want to do, or by a tool's name, " +
			"then call what you found with mcp_call. With \"server\" alone all tools of that server are listed.\nServers:" + t.offer.Index(),
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"Words for what the tool does, or its name"},` +
			`"server":{"type":"string","description":"Only this server"}},"additionalProperties":false}`),
	}
}

// Run finds tools, and starts servers about which nothing is known yet.
func (t *searchTool) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	var in struct{ Query, Server string }
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Failf("%v", err), nil
	}
	if strings.TrimSpace(in.Query) == "" && in.Server == "" {
		return tool.Failf("say what you look for (query), or which server (server). The servers are:%s", t.offer.Index()), nil
	}
	notes := t.wake(ctx, in.Server)
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	now := t.set.Offer()
	found := rank(now.Tools, in.Query, in.Server)
	found = slices.DeleteFunc(found, func(n Named) bool { return t.suits != nil && !t.suits(n.Key) })
	return tool.Result{Title: clean(cmp.Or(in.Query, in.Server), 80), Output: tellFound(found, in.Query == "") + notes, Metadata: map[string]any{"found": len(found)}}, nil
}

// wake starts the servers that are new, or the one that is asked for, and says which of
// them cannot be used.
func (t *searchTool) wake(ctx context.Context, only string) string {
	short, stop := context.WithTimeout(ctx, searchWait)
	defer stop()
	var waiting []*server
	for _, srv := range t.set.all() {
		if srv.enabled() && srv.known() == nil && (only == "" || only == srv.conf.Name) {
			srv.startBeside()
			waiting = append(waiting, srv)
		}
	}
	var b strings.Builder
	for _, srv := range waiting {
		srv.awaitStart(short)
		switch st := srv.status(); st.State {
		case Connected:
		case Starting:
			fmt.Fprintf(&b, "\n\nMCP server %s is still starting; search again later.", clean(st.Name, 80))
		default:
			fmt.Fprintf(&b, "\n\nMCP server %s cannot be used: %s", clean(st.Name, 80), st.Why)
		}
	}
	return b.String()
}

// rank returns the tools that match a query, best first.
func rank(all []Named, query, server string) []Named {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" ,.;:/_-\"'()", r) })
	type scored struct {
		Named
		score int
	}
	var list []scored
	for _, t := range all {
		if server != "" && t.Server != server && Sanitize(t.Server) != server {
			continue
		}
		if s := score(t, strings.ToLower(query), words); s > 0 || query == "" {
			list = append(list, scored{t, s})
		}
	}
	order.Stable(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]Named, len(list))
	for i, s := range list {
		out[i] = s.Named
	}
	return out
}

// score weighs a tool: its name counts more than its description.
func score(t Named, query string, words []string) int {
	name, title, text := strings.ToLower(t.Key), strings.ToLower(t.Title), strings.ToLower(t.Description)
	n := 0
	if query == name || query == strings.ToLower(t.Name) {
		n += 100
	}
	for _, w := range words {
		if strings.Contains(name, w) {
			n += 10
		}
		if strings.Contains(title, w) {
			n += 4
		}
		if strings.Contains(text, w) {
			n += 3
		}
	}
	return n
}

// tellFound writes down what was found: whole definitions of the best, names of the rest.
func tellFound(found []Named, list bool) string {
	if len(found) == 0 {
		return "No tool was found. Try other words, or list the tools of one server with \"server\" alone."
	}
	most := foundShown
	if list {
		most = len(found)
	}
	var b strings.Builder
	for i, t := range found {
		full := i < most && b.Len() < foundBudget
		switch {
		case full && !list:
			fmt.Fprintf(&b, "## %s\n%s\nArguments: %s\n\n", t.Key, shorten((&remoteTool{Named: t}).description(), 1500), shorten(string(t.Schema), 6000))
		case full || i < 4*foundShown:
			fmt.Fprintf(&b, "- %s: %s\n", t.Key, clean(t.Description, 160))
		default:
			fmt.Fprintf(&b, "and %d more; search for them by words\n", len(found)-i)
			return b.String()
		}
	}
	if list {
		b.WriteString("\nSearch for a tool by name to see its arguments.")
	}
	return strings.TrimSpace(b.String()) + "\n\nCall one with mcp_call: {\"name\": …, \"arguments\": {…}}"
}

// callTool is how a model calls a tool whose definition it was not sent. The registry
// turns the call into one of that tool, so that rules, hooks and everyone else see its
// own name.
type callTool struct {
	set   *Servers
	quiet bool
}

// Spec describes it to the model.
func (t *callTool) Spec() tool.Spec {
	return tool.Spec{
		Name: "mcp_call", Quiet: t.quiet, Description: "Call a tool of an MCP server that mcp_search found, by the name and with the arguments told there.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The tool's name as mcp_search tells it"},` +
			`"arguments":{"type":"object","description":"The tool's arguments"}},"required":["name"],"additionalProperties":false}`),
	}
}

// Stands returns the call that is meant.
func (t *callTool) Stands(input json.RawMessage) (name string, args json.RawMessage, ok bool) {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(input, &in) != nil || in.Name == "" {
		return "", nil, false
	}
	if len(in.Arguments) == 0 || string(in.Arguments) == "null" {
		in.Arguments = json.RawMessage("{}")
	}
	return in.Name, in.Arguments, true
}

// Run is only reached for a tool that does not exist.
func (t *callTool) Run(_ context.Context, call *tool.Call) (tool.Result, error) {
	name, _, _ := t.Stands(call.Input)
	return tool.Failf("there is no MCP tool %q, or you may not use it; look for one with mcp_search", clean(name, 80)), nil
}
