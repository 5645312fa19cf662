package screen

import (
	"context"
	"errors"
	"io"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// Abilities are the engine's optional capabilities for the screen, through the client.
type Abilities struct{ c *client.Client }

// AbilitiesOf returns what the screen can do beyond its first needs.
func AbilitiesOf(c *client.Client) Abilities { return Abilities{c} }

// Archive puts a session away, or brings it back.
func (t Abilities) Archive(ctx context.Context, id lathe.SessionID, on bool) error {
	_, err := t.c.Archive(ctx, id, on)
	return err
}

// Archived returns the sessions that were put away.
func (t Abilities) Archived(ctx context.Context) ([]lathe.Session, error) {
	return t.c.List(ctx, api.SessionFilter{OnlyArchived: true})
}

// Share publishes a session.
func (t Abilities) Share(ctx context.Context, id lathe.SessionID) (string, error) {
	s, err := t.c.Share(ctx, id)
	if err != nil || s.Share == nil {
		return "", err
	}
	return s.Share.URL, nil
}

// Unshare withdraws a published session.
func (t Abilities) Unshare(ctx context.Context, id lathe.SessionID) error {
	_, err := t.c.Unshare(ctx, id, false)
	return err
}

// Export exports a session as lathe export does.
func (t Abilities) Export(ctx context.Context, id lathe.SessionID, format string) (data []byte, err error) {
	file, err := t.c.Export(ctx, id, api.Export{Format: format})
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(file)
	return data, errors.Join(err, file.Close())
}

// Found returns what can answer.
func (t Abilities) Found(ctx context.Context) (api.Found, error) { return t.c.Found(ctx) }

// Test tries a key that is not stored yet.
func (t Abilities) Test(ctx context.Context, provider, key string) (api.KeyTest, error) {
	if err := keyOf(provider, key); err != nil {
		return api.KeyTest{}, err
	}
	return t.c.TestKey(ctx, provider, key)
}

// Approvals returns what was allowed from now on.
func (t Abilities) Approvals(ctx context.Context) ([]api.Approval, error) {
	return t.c.Approvals(ctx)
}

// Revoke withdraws an approval.
func (t Abilities) Revoke(ctx context.Context, a api.Approval) error { return t.c.Revoke(ctx, a) }

// Trust says what the repository brings.
func (t Abilities) Trust(ctx context.Context) (api.Trust, error) { return t.c.TrustState(ctx) }

// Decide trusts the repository as it was shown.
func (t Abilities) Decide(ctx context.Context, shown api.Trust, keep bool) error {
	return t.c.Decide(ctx, api.Decision{Digest: shown.Digest, Keep: keep})
}

// Distrust withdraws a decision.
func (t Abilities) Distrust(ctx context.Context) error {
	out, err := t.c.Distrust(ctx, "")
	if err == nil && out.Still != "" {
		err = lathe.Errorf(lathe.CodeInvalid, "start lathe without it", "%s", out.Still)
	}
	return err
}

// Checks looks at what lathe needs to work.
func (t Abilities) Checks(ctx context.Context) ([]api.Check, error) { return t.c.Checks(ctx) }

// Weigh returns what fills a session's window.
func (t Abilities) Weigh(ctx context.Context, id lathe.SessionID) (api.Window, error) {
	return t.c.Window(ctx, id)
}

// Setup says how lathe is set up.
func (t Abilities) Setup(ctx context.Context) (api.Setup, error) { return t.c.Setup(ctx) }

// Search finds what was said in the directory's sessions.
func (t Abilities) Search(ctx context.Context, words string, limit int) ([]api.Hit, error) {
	return t.c.Search(ctx, api.Search{Words: words, Limit: limit})
}
