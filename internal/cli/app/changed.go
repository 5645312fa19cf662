package app

import (
	"context"
	"time"

	"lathe/internal/store/local"
)

// lookPause is how long writes of other processes are gathered before they are looked at.
const lookPause = 200 * time.Millisecond

// changed tells when another process may have written to the database; nil where the database
// tells by itself.
func (d *Database) changed(data string) func(ctx context.Context, changed func()) error {
	if d.Files == nil {
		return nil
	}
	return func(ctx context.Context, changed func()) error {
		return local.Watch(ctx, data, "lathe.db", lookPause, changed)
	}
}
