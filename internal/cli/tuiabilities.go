package cli

import (
	"context"
	"errors"
	"io"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// tuiAbilities are the engine's optional capabilities for the screen, through the client.
type tuiAbilities struct{ c *client.Client }

// Archive puts a session away, or brings it back.
func (t tuiAbilities) Archive(ctx context.Context, id lathe.SessionID, on bool) error {
	_, err := t.c.Archive(ctx, id, on)
	return err
}

// Archived returns the sessions that were put away.
func (t tuiAbilities) Archived(ctx context.Context) ([]lathe.Session, error) {
	return t.c.List(ctx, api.SessionFilter{OnlyArchived: true})
}

// Share publishes a session.
func (t tuiAbilities) Share(ctx context.Context, id lathe.SessionID) (string, error) {
	s, err := t.c.Share(ctx, id)
	if err != nil || s.Share == nil {
		return "", err
	}
	return s.Share.URL, nil
}

// Unshare withdraws a published session.
func (t tuiAbilities) Unshare(ctx context.Context, id lathe.SessionID) error {
	_, err := t.c.Unshare(ctx, id, false)
	return err
}

// Export exports a session as lathe export does.
func (t tuiAbilities) Export(ctx context.Context, id lathe.SessionID, format string) (data []byte, err error) {
	file, err := t.c.Export(ctx, id, api.Export{Format: format})
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(file)
	return data, errors.Join(err, file.Close())
}

// Found returns what can answer.
func (t tuiAbilities) Found(ctx context.Context) (api.Found, error) { return t.c.Found(ctx) }

// Test tries a stored key.
func (t tuiAbilities) Test(ctx context.Context, provider string) (api.KeyTest, error) {
	return t.c.TestKey(ctx, provider)
}

// Forget removes a stored key.
func (t tuiAbilities) Forget(ctx context.Context, provider string) error {
	return t.c.RemoveKey(ctx, provider)
}

// Approvals returns what was allowed from now on.
func (t tuiAbilities) Approvals(ctx context.Context) ([]api.Approval, error) {
	return t.c.Approvals(ctx)
}

// Revoke withdraws an approval.
func (t tuiAbilities) Revoke(ctx context.Context, a api.Approval) error { return t.c.Revoke(ctx, a) }

// Trust says what the repository brings.
func (t tuiAbilities) Trust(ctx context.Context) (api.Trust, error) { return t.c.TrustState(ctx) }

// Decide trusts the repository as it was shown.
func (t tuiAbilities) Decide(ctx context.Context, shown api.Trust, keep bool) error {
	return t.c.Decide(ctx, api.Decision{Digest: shown.Digest, Keep: keep})
}

// Distrust withdraws a decision.
func (t tuiAbilities) Distrust(ctx context.Context) error {
	out, err := t.c.Distrust(ctx, "")
	if err == nil && out.Still != "" {
		err = lathe.Errorf(lathe.CodeInvalid, "start lathe without it", "%s", out.Still)
	}
	return err
}

// Checks looks at what lathe needs to work.
func (t tuiAbilities) Checks(ctx context.Context) ([]api.Check, error) { return t.c.Checks(ctx) }

// Weigh returns what fills a session's window.
func (t tuiAbilities) Weigh(ctx context.Context, id lathe.SessionID) (api.Window, error) {
	return t.c.Window(ctx, id)
}

// Setup says how lathe is set up.
func (t tuiAbilities) Setup(ctx context.Context) (api.Setup, error) { return t.c.Setup(ctx) }

// Search finds what was said in the directory's sessions.
func (t tuiAbilities) Search(ctx context.Context, words string, limit int) ([]api.Hit, error) {
	return t.c.Search(ctx, api.Search{Words: words, Limit: limit})
}
