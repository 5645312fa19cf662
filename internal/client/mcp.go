package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe"
	"lathe/internal/api"
)

// Servers lists the MCP servers. With start those that nobody knows yet are given a
// moment to say what they have.
func (c servers) Servers(ctx context.Context, start bool) ([]api.MCPServer, error) {
	q := url.Values{}
	if start {
		q.Set("start", "true")
	}
	return get(ctx, c.conn, "/lathe/mcp", q, plain[[]api.MCPServer])
}

// Server describes a server in full. With connect it is started first.
func (c servers) Server(ctx context.Context, name string, connect bool) (api.MCPDetail, error) {
	q := url.Values{}
	if connect {
		q.Set("connect", "true")
	}
	return get(ctx, c.conn, "/lathe"+serverPath(name), q, plain[api.MCPDetail])
}

// AddServer gives the directory a server of tools, as long as the engine runs. The
// settings have the form of the configuration's.
func (c servers) AddServer(ctx context.Context, name string, settings map[string]any) error {
	_, err := c.call(ctx, http.MethodPost, "/mcp", nil, map[string]any{"name": name, "config": settings})
	return err
}

// SwitchServer turns a server on, and starts it, or off.
func (c servers) SwitchServer(ctx context.Context, name string, on bool) error {
	what := "/disconnect"
	if on {
		what = "/connect"
	}
	_, err := c.call(ctx, http.MethodPost, serverPath(name)+what, nil, struct{}{})
	return err
}

// SeenServer notes that the person has looked at a server's tools.
func (c servers) SeenServer(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe"+serverPath(name)+"/seen", nil, struct{}{})
	return err
}

// BeginLogin begins the login to a server. With open a browser is opened where the
// server of lathe runs.
func (c servers) BeginLogin(ctx context.Context, name string, open bool) (api.MCPLogin, error) {
	path := "/lathe" + serverPath(name) + "/login"
	if open {
		path += "?open=true"
	}
	return post(ctx, c.conn, path, struct{}{}, plain[api.MCPLogin])
}

// AwaitLogin waits until the person has logged in and the server is connected.
func (c servers) AwaitLogin(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe"+serverPath(name)+"/login/wait", nil, struct{}{})
	return err
}

// FinishLogin gives a login the code, or the address that the browser was sent to.
func (c servers) FinishLogin(ctx context.Context, name, answer string) error {
	_, err := c.call(ctx, http.MethodPost, serverPath(name)+"/auth/callback", nil, map[string]string{"code": answer})
	return err
}

// LogoutServer forgets the login to a server.
func (c servers) LogoutServer(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, serverPath(name)+"/auth", nil, nil)
	return err
}

// RefreshServers makes a session use what the servers offer now.
func (c servers) RefreshServers(ctx context.Context, id lathe.SessionID) (api.MCPRefreshed, error) {
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/mcp/refresh", struct{}{}, plain[api.MCPRefreshed])
}

// Resources lists what servers can be asked to read.
func (c servers) Resources(ctx context.Context) ([]api.MCPResource, error) {
	return get(ctx, c.conn, "/lathe/mcp-resource", nil, plain[[]api.MCPResource])
}

// ChangeConfig merges a change into the person's configuration, or into the directory's.
func (c servers) ChangeConfig(ctx context.Context, global bool, patch any) error {
	path := "/config"
	if global {
		path = "/global/config"
	}
	_, err := c.call(ctx, http.MethodPatch, path, nil, patch)
	return err
}

func serverPath(name string) string { return "/mcp/" + url.PathEscape(name) }
