package serve

import (
	"context"

	"lathe/internal/cli/app"
)

// hasPeople reports whether the store that servers share knows people: they have to say
// then who they are.
func hasPeople(ctx context.Context, a *app.App) (bool, error) {
	if a.Store.People == nil {
		return false, nil
	}
	all, err := a.Store.People.People(ctx)
	return len(all) > 0, err
}

// asks reports whether callers have to say who they are.
func (o *serveOptions) asks(password string) bool { return password != "" || o.named }
