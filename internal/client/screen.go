package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe"
	"lathe/internal/opencode/wire"
)

// Setup returns how lathe is set up for the directory.
func (c *Client) Setup(ctx context.Context) (wire.OwnSetup, error) {
	return get(ctx, c, "/lathe/setup", nil, plain[wire.OwnSetup])
}

// Found returns what can answer where the engine runs.
func (c *Client) Found(ctx context.Context) (wire.OwnFound, error) {
	return get(ctx, c, "/lathe/found", nil, plain[wire.OwnFound])
}

// TestKey tries the key of a connected provider with one small request.
func (c *Client) TestKey(ctx context.Context, provider string) (wire.OwnKeyTest, error) {
	return post(ctx, c, "/lathe/provider/"+url.PathEscape(provider)+"/test", nil, plain[wire.OwnKeyTest])
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

// Weight returns what the next request of a session would send and cost.
func (c *Client) Weight(ctx context.Context, id lathe.SessionID) (wire.OwnWeight, error) {
	return get(ctx, c, "/lathe"+sessionPath(id)+"/weight", nil, plain[wire.OwnWeight])
}

// Approvals returns what was allowed from then on in the directory's project.
func (c *Client) Approvals(ctx context.Context) ([]wire.OwnApproval, error) {
	return get(ctx, c, "/lathe/approval", nil, plain[[]wire.OwnApproval])
}

// Revoke takes an approval back.
func (c *Client) Revoke(ctx context.Context, a wire.OwnApproval) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/approval/revoke", nil, a)
	return err
}

// TrustState returns what the directory's repository brings, and whether it counts.
func (c *Client) TrustState(ctx context.Context) (wire.OwnTrust, error) {
	return get(ctx, c, "/lathe/trust", nil, plain[wire.OwnTrust])
}

// Decide trusts the repository as a [Client.TrustState] showed it.
func (c *Client) Decide(ctx context.Context, d wire.OwnDecision) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/trust/decision", nil, d)
	return err
}

// Distrust takes the decisions about the repository back.
func (c *Client) Distrust(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodDelete, "/lathe/trust/decision", nil, nil)
	return err
}
