package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/mcp"
)

// servers answers the routes of MCP servers.
type servers struct{ *call }

// mcpRoutes are OpenCode's.
func mcpRoutes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		{get, "/mcp", on(servers.status), ""},
		{post, "/mcp", on(servers.add), ""},
		{post, "/mcp/{name}/connect", on(servers.connect), ""},
		{post, "/mcp/{name}/disconnect", on(servers.disconnect), ""},
		{post, "/mcp/{name}/auth", on(servers.login), ""},
		{del, "/mcp/{name}/auth", on(servers.logout), ""},
		{post, "/mcp/{name}/auth/callback", on(servers.callback), ""},
		{post, "/mcp/{name}/auth/authenticate", on(servers.authenticate), ""},
		{get, "/experimental/resource", on(servers.resources), ""},
	}
}

// ownServerRoutes are lathe's own.
func ownServerRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "/lathe/mcp", on(servers.list), ""},
		{get, "/lathe/mcp/{name}", on(servers.one), ""},
		{get, "/lathe/mcp-resource", on(servers.known), ""},
		{post, "/lathe/mcp/{name}/login", on(servers.beginOpen), ""},
		{post, "/lathe/mcp/{name}/login/wait", on(servers.await), ""},
		{post, "/lathe/mcp/{name}/seen", on(servers.seen), ""},
		{post, "/lathe/session/{sessionID}/mcp/refresh", on(servers.refresh), ""},
	}
}

// mcpStatus is a server's state in OpenCode's form.
type mcpStatus struct {
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

// settleTime is how long a request for states waits for servers that nobody has
// started yet. After that the states are returned as they are.
const settleTime = 3 * time.Second

func encodeServer(s mcp.Status) mcpStatus {
	switch s.State {
	case mcp.Failed, mcp.NeedsRegistration:
		return mcpStatus{string(s.State), s.Why}
	case mcp.Starting:
		if s.Known == nil {
			return mcpStatus{string(mcp.Failed), "it is still starting"}
		}
	case mcp.Disabled, mcp.NeedsAuth:
		return mcpStatus{Status: string(s.State)}
	}
	if s.Known == nil && s.State == mcp.Waiting {
		return mcpStatus{string(mcp.Failed), "it was not started yet"}
	}
	return mcpStatus{Status: string(mcp.Connected)} // or as good as: it starts with its first call
}

func encodeServers(list []mcp.Status) map[string]mcpStatus {
	out := map[string]mcpStatus{}
	for _, s := range list {
		out[s.Name] = encodeServer(s)
	}
	return out
}

func (c servers) all() (*mcp.Servers, *instance.Instance, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, nil, err
	}
	return inst.Servers(c.ctx()), inst, nil
}

// settled returns the servers once they have had time to start.
func (c servers) settled() (*mcp.Servers, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(c.ctx(), settleTime)
	defer stop()
	all.Settle(ctx)
	return all, nil
}

func (c servers) status() (any, error) {
	all, err := c.settled()
	if err != nil {
		return nil, err
	}
	return encodeServers(all.List()), nil
}

func (c servers) add() (any, error) {
	all, inst, err := c.all()
	if err != nil {
		return nil, err
	}
	var in struct {
		Name   string
		Config json.RawMessage
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("name", in.Name); err != nil {
		return nil, err
	}
	if len(in.Config) == 0 {
		return nil, &invalid{path: []string{"config"}, msg: "expected object"}
	}
	conf, err := config.ParseMCP(in.Name, in.Config)
	if err != nil {
		return nil, badPayload("%v", err)
	}
	all.Add(conf)
	all = inst.Servers(c.ctx())
	if conf.Enabled == nil || *conf.Enabled {
		_ = all.Connect(c.ctx(), in.Name) // its state says how that went
	}
	return encodeServers(all.List()), nil
}

// name returns the server that a path means.
func (c servers) name() string { return c.r.PathValue("name") }

func (c servers) connect() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	if err := unknownServer(all.Connect(c.ctx(), c.name())); err != nil {
		return nil, err
	}
	return true, nil // its state says how it went
}

// unknownServer keeps only the error that a server does not exist.
func unknownServer(err error) error {
	if e, ok := errors.AsType[*mcp.UnknownError](err); ok {
		return notFound("%v", e)
	}
	return nil
}

func (c servers) disconnect() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	if err := unknownServer(all.Disconnect(c.name())); err != nil {
		return nil, err
	}
	return true, nil
}

// noLogin is what OpenCode answers for a server without logins, with the fields that it
// promises for a bad request.
type noLogin struct {
	Error   string    `json:"error"`
	Data    struct{}  `json:"data"`
	Errors  []problem `json:"errors"`
	Success bool      `json:"success"`
}

// begin begins a login; a nil Login says that the request has been answered.
func (c servers) begin() (*mcp.Servers, *mcp.Login, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, nil, err
	}
	f, err := all.Login(c.ctx(), c.name())
	_, unknown := errors.AsType[*mcp.UnknownError](err)
	if unknown || errors.Is(err, mcp.ErrNoLogin) {
		c.s.reply(c.w, c.r, http.StatusBadRequest, noLogin{
			Error: "MCP server " + clip(c.name(), 80) + " does not support OAuth", Data: struct{}{}, Errors: []problem{},
		})
		return all, nil, nil
	}
	if err != nil {
		return nil, nil, badPayload("%v", err)
	}
	return all, f, nil
}

func (c servers) login() (any, error) {
	_, f, err := c.begin()
	if err != nil || f == nil {
		return done{}, err
	}
	return api.MCPLogin{URL: f.URL, State: f.State(), Listens: f.Listens, Already: f.Already}, nil
}

func (c servers) callback() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	var in struct{ Code string }
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("code", in.Code); err != nil {
		return nil, err
	}
	if err := all.FinishLogin(c.ctx(), c.name(), in.Code); err != nil {
		if nf := unknownServer(err); nf != nil {
			return nil, nf
		}
		return nil, badPayload("%v", err)
	}
	return c.state(all)
}

// authenticate opens the browser and answers when the person has logged in.
func (c servers) authenticate() (any, error) {
	all, f, err := c.begin()
	if err != nil || f == nil {
		return done{}, err
	}
	if !f.Already {
		all.OpenBrowser(c.name(), f)
		_ = http.NewResponseController(c.w).SetWriteDeadline(time.Time{})
	}
	if err := all.AwaitLogin(c.ctx(), c.name(), f); err != nil {
		return nil, badPayload("%v", err)
	}
	return c.state(all)
}

func (c servers) state(all *mcp.Servers) (any, error) {
	for _, s := range all.List() {
		if s.Name == c.name() {
			return encodeServer(s), nil
		}
	}
	return nil, notFound("there is no MCP server %q", clip(c.name(), 80))
}

func (c servers) logout() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	if err := all.Logout(c.name()); err != nil {
		if nf := unknownServer(err); nf != nil {
			return nil, nf
		}
		return nil, err
	}
	return map[string]bool{"success": true}, nil
}

type mcpResource struct {
	Name        string `json:"name"`
	URI         string `json:"uri"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	Client      string `json:"client"`
}

// resources lists what servers can be asked to read, by server and name; by server and
// address where two have one name.
func (c servers) resources() (any, error) {
	all, err := c.settled()
	if err != nil {
		return nil, err
	}
	out := map[string]mcpResource{}
	for _, r := range all.Resources() {
		key := mcp.Sanitize(r.Server) + ":" + mcp.Sanitize(r.Name)
		if _, taken := out[key]; taken {
			key = mcp.Sanitize(r.Server) + ":" + r.URI
		}
		out[key] = mcpResource{r.Name, r.URI, r.Description, r.MIME, r.Server}
	}
	return out, nil
}

// list describes all servers to lathe's own faces, without starting or stopping any.
func (c servers) list() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	if c.query("start") == "true" {
		if all, err = c.settled(); err != nil {
			return nil, err
		}
	}
	out := []api.MCPServer{}
	for _, s := range all.List() {
		out = append(out, describeServer(all, s))
	}
	return out, nil
}

func describeServer(all *mcp.Servers, s mcp.Status) api.MCPServer {
	out := api.MCPServer{Name: s.Name, Where: s.Where, Remote: s.Remote, State: string(s.State), Why: s.Why, Free: s.Free, Memory: s.Memory}
	if s.OAuth {
		out.Login = all.LoginState(s.Name)
	}
	if k := s.Known; k != nil {
		out.Known, out.Title, out.Protocol, out.Notes, out.Changed = true, k.Title, k.Protocol, k.Notes, k.Changed
		out.Tools, out.Resources, out.Prompts = len(k.Tools), len(k.Resources), len(k.Prompts)
	}
	return out
}

// one describes a server with its tools, and starts it if its tools are not known.
func (c servers) one() (any, error) {
	all, inst, err := c.all()
	if err != nil {
		return nil, err
	}
	if c.query("connect") == "true" {
		if err := unknownServer(all.Connect(c.ctx(), c.name())); err != nil {
			return nil, err
		}
	}
	for _, s := range all.List() {
		if s.Name != c.name() {
			continue
		}
		out := api.MCPDetail{MCPServer: describeServer(all, s), List: []api.MCPTool{}}
		offer := all.Offer()
		for _, t := range offer.Tools {
			if t.Server == s.Name {
				if t.Renamed() {
					out.Notes = append(slices.Clip(out.Notes), "the tool "+t.Tool.Name+" is called "+t.Key+", since its usual name is taken or too long")
				}
				out.List = append(out.List, api.MCPTool{Key: t.Key, Name: t.Tool.Name, Description: t.Description, Schema: t.Schema, Hints: t.Hints.Words()})
			}
		}
		for _, p := range inst.Commands.Prompts() {
			if p.Server == s.Name && p.Renamed() {
				out.Notes = append(slices.Clip(out.Notes), "the prompt "+p.Name+" is called /"+p.Command+", since its usual name is taken")
			}
		}
		return out, nil
	}
	return nil, notFound("there is no MCP server %q", clip(c.name(), 80))
}

// beginOpen begins a login, and opens a browser where that is asked for.
func (c servers) beginOpen() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	f, err := all.Login(c.ctx(), c.name())
	switch {
	case unknownServer(err) != nil:
		return nil, unknownServer(err)
	case errors.Is(err, mcp.ErrNoLogin):
		return nil, badPayload("MCP server %q does not support OAuth", clip(c.name(), 80))
	case err != nil:
		return nil, badPayload("%v", err)
	}
	out := api.MCPLogin{URL: f.URL, State: f.State(), Listens: f.Listens, Already: f.Already}
	if c.query("open") == "true" && !f.Already {
		out.Opened = all.OpenBrowser(c.name(), f)
	}
	return out, nil
}

// await answers when the login in progress has succeeded or failed.
func (c servers) await() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Time{})
	f := all.PendingLogin(c.name())
	if f == nil {
		return nil, notFound("no login to %q is under way", clip(c.name(), 80))
	}
	if err := all.AwaitLogin(c.ctx(), c.name(), f); err != nil {
		return nil, badPayload("%v", err)
	}
	return true, nil
}

// known lists the resources of servers without starting any.
func (c servers) known() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	out := []api.MCPResource{}
	for _, r := range all.Resources() {
		out = append(out, api.MCPResource{Name: r.Name, URI: r.URI, Description: r.Description, MIME: r.MIME, Server: r.Server})
	}
	return out, nil
}

// seen notes that a person has looked at what a server says about its tools.
func (c servers) seen() (any, error) {
	all, _, err := c.all()
	if err != nil {
		return nil, err
	}
	if err := all.Seen(c.name()); err != nil {
		if nf := unknownServer(err); nf != nil {
			return nil, nf
		}
		return nil, err
	}
	return true, nil
}

// refresh makes a session use what the servers offer now.
func (c servers) refresh() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Windows.RefreshServers(c.ctx(), lathe.SessionID(sess.ID))
}
