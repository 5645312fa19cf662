package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
	"lathe/internal/order"
	"lathe/internal/tool"
)

// Found is a resource and the server that has it.
type Found struct {
	Server string
	Resource
}

// Resources lists the known resources of all servers, in the order of the
// configuration. It starts nothing.
func (s *Servers) Resources() []Found {
	var out []Found
	for _, srv := range s.all() {
		k := srv.known()
		if k == nil || !srv.enabled() {
			continue
		}
		for _, r := range k.Resources {
			out = append(out, Found{srv.conf.Name, r})
		}
	}
	return out
}

// Resource returns a resource that a server is known to have, or may have since it has
// such with addresses to fill in. It starts nothing.
func (s *Servers) Resource(server, uri string) (Found, bool) {
	srv, err := s.find(server)
	if err != nil || !srv.enabled() {
		return Found{}, false
	}
	k := srv.known()
	if k == nil || uri == "" {
		return Found{}, false
	}
	for _, r := range k.Resources {
		if r.URI == uri {
			return Found{server, r}, true
		}
	}
	if strings.TrimRight(uri, `)]}>"':;!?`) != uri { // the end of a sentence, more likely
		return Found{}, false
	}
	scheme, _, whole := strings.Cut(uri, "://")
	return Found{server, Resource{URI: uri, Name: uri}}, whole && slices.ContainsFunc(k.Templates, func(t Template) bool { return strings.HasPrefix(t.URI, scheme+"://") })
}

// Content is what a resource holds.
type Content struct {
	Texts []string
	Files []lathe.File
}

// ReadResource reads a resource, and starts its server if it is not running.
func (s *Servers) ReadResource(ctx context.Context, server, uri string) (Content, error) {
	srv, err := s.find(server)
	if err != nil {
		return Content{}, err
	}
	var res *mcp.ReadResourceResult
	err = srv.with(ctx, func(ctx context.Context, c *conn) error {
		var err error
		res, err = c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return Content{}, err
	}
	g := gather{}
	for _, r := range res.Contents {
		g.resource(r)
	}
	return Content{g.texts, g.files}, nil
}

// with sends a server a request that is not a tool call.
func (s *server) with(ctx context.Context, ask func(context.Context, *conn) error) error {
	c, err := s.connect(ctx, false)
	if err != nil {
		return err
	}
	within, f := c.begin(ctx, nil)
	defer c.over(f)
	err = ask(within, c)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case within.Err() != nil:
		return context.Cause(within)
	}
	return fmt.Errorf("%s", clean(s.hide(s.word(err)), 1000))
}

// resourceTools are the names of the tools for resources.
var resourceTools = []string{"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}

// resourceTool lets a model see the resources of servers.
type resourceTool struct {
	set  *Servers
	spec tool.Spec
	run  func(ctx context.Context, s *Servers, server, uri string) (tool.Result, error)
}

func (s *Servers) resourceTools() []tool.Tool {
	const one = `"server":{"type":"string","description":"The server's name"}`
	list := json.RawMessage(`{"type":"object","properties":{` + one + `},"additionalProperties":false}`)
	read := json.RawMessage(`{"type":"object","properties":{` + one + `,"uri":{"type":"string","description":"The resource's address"}},"required":["server","uri"],"additionalProperties":false}`)
	return []tool.Tool{
		&resourceTool{s, tool.Spec{Name: resourceTools[0], Permission: "read", ReadOnly: true, Schema: list, Description: "List the resources of MCP servers: documents, records and other data that they can be asked for."}, listResources},
		&resourceTool{s, tool.Spec{Name: resourceTools[1], Permission: "read", ReadOnly: true, Schema: list, Description: "List the templates of MCP servers' resources: addresses with parts to fill in."}, listTemplates},
		&resourceTool{s, tool.Spec{Name: resourceTools[2], Permission: "read", ReadOnly: true, Schema: read, Description: "Read a resource of an MCP server by its address."}, readResource},
	}
}

// Spec describes it to the model.
func (t *resourceTool) Spec() tool.Spec { return t.spec }

// Run asks as for reading a file, and reads.
func (t *resourceTool) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	var in struct{ Server, URI string }
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Failf("%v", err), nil
	}
	pattern := "mcp:" + cmp.Or(in.Server, "*") + ":" + cmp.Or(in.URI, "*")
	if err := call.Ask(ctx, tool.Request{
		Permission: "read", Patterns: []string{pattern}, Always: []string{"mcp:" + cmp.Or(in.Server, "*") + ":*"},
		Metadata: map[string]any{"server": clean(in.Server, 80), "uri": clean(in.URI, 300)},
	}); err != nil {
		return tool.Result{}, err
	}
	res, err := t.run(ctx, t.set, in.Server, in.URI)
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return tool.Failf("%v", err), nil
	}
	return res, nil
}

// listed is an entry of a list as a model sees it.
type listed struct {
	Server      string `json:"server"`
	Name        string `json:"name"`
	URI         string `json:"uri"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
}

func tellList(list []listed) (tool.Result, error) {
	order.Stable(list, func(a, b listed) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name), strings.Compare(a.URI, b.URI))
	})
	if list == nil {
		list = []listed{}
	}
	raw, err := json.MarshalIndent(list, "", "  ")
	return tool.Result{Output: string(raw), Metadata: map[string]any{"count": len(list)}}, err
}

func listResources(_ context.Context, s *Servers, server, _ string) (tool.Result, error) {
	var list []listed
	for _, r := range s.Resources() {
		if server == "" || server == r.Server {
			list = append(list, listed{r.Server, r.Name, r.URI, r.Description, r.MIME})
		}
	}
	return tellList(list)
}

func listTemplates(_ context.Context, s *Servers, server, _ string) (tool.Result, error) {
	var list []listed
	for _, srv := range s.all() {
		k := srv.known()
		if k == nil || !srv.enabled() || server != "" && server != srv.conf.Name {
			continue
		}
		for _, t := range k.Templates {
			list = append(list, listed{srv.conf.Name, t.Name, t.URI, t.Description, t.MIME})
		}
	}
	return tellList(list)
}

func readResource(ctx context.Context, s *Servers, server, uri string) (tool.Result, error) {
	content, err := s.ReadResource(ctx, server, uri)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Title: clean(uri, 200), Output: strings.Join(content.Texts, "\n\n"), Attachments: content.Files}, nil
}
