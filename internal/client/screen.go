package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe"
	"lathe/internal/api"
)

// Setup returns how lathe is set up for the directory.
func (c *Client) Setup(ctx context.Context) (api.Setup, error) {
	return get(ctx, c, "/lathe/setup", nil, plain[api.Setup])
}

// Found returns what can answer where the engine runs.
func (c *Client) Found(ctx context.Context) (api.Found, error) {
	return get(ctx, c, "/lathe/found", nil, plain[api.Found])
}

// TestKey tries the key of a connected provider with one small request.
func (c *Client) TestKey(ctx context.Context, provider string) (api.KeyTest, error) {
	return post(ctx, c, "/lathe/provider/"+url.PathEscape(provider)+"/test", nil, plain[api.KeyTest])
}

// RemoveKey forgets a provider's key, and lets the directory's configuration be
// read anew.
func (c *Client) RemoveKey(ctx context.Context, provider string) error {
	if _, err := c.call(ctx, http.MethodDelete, "/auth/"+url.PathEscape(provider), nil, nil); err != nil {
		return err
	}
	_, err := c.call(ctx, http.MethodPost, "/instance/dispose", nil, nil)
	return err
}

// Window returns what the next request of a session would send and cost.
func (c *Client) Window(ctx context.Context, id lathe.SessionID) (api.Window, error) {
	return get(ctx, c, "/lathe"+sessionPath(id)+"/weight", nil, plain[api.Window])
}

// Approvals returns what was allowed from then on in the directory's project.
func (c *Client) Approvals(ctx context.Context) ([]api.Approval, error) {
	return get(ctx, c, "/lathe/approval", nil, plain[[]api.Approval])
}

// Revoke takes an approval back.
func (c *Client) Revoke(ctx context.Context, a api.Approval) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/approval/revoke", nil, a)
	return err
}

// TrustState returns what the directory's repository brings, and whether it counts.
func (c *Client) TrustState(ctx context.Context) (api.Trust, error) {
	return get(ctx, c, "/lathe/trust", nil, plain[api.Trust])
}

// Decide trusts the repository as a [Client.TrustState] showed it.
func (c *Client) Decide(ctx context.Context, d api.Decision) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/trust/decision", nil, d)
	return err
}

// Distrust takes the decisions about the repository back.
func (c *Client) Distrust(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodDelete, "/lathe/trust/decision", nil, nil)
	return err
}
