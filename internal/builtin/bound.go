package builtin

import (
	"context"
	"errors"
	"os"
	"time"
)

// readTime is how long reading one file may take. Some kernel files wait for more
// data and never end.
const readTime = 10 * time.Second

var errEndless = errors.New("nothing more came within 10 seconds; it is not a file that ends")

// bounded reads a file until the context ends or readTime passes.
type bounded struct {
	ctx  context.Context
	file *os.File
}

// bound returns a reader of the file; stop ends the watching.
func bound(ctx context.Context, f *os.File) (r *bounded, stop func()) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, errEndless)
	unwatch := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) }) // a file on a disk has no deadline and does not need one
	return &bounded{ctx, f}, func() { unwatch(); cancel() }
}

// Read reads as [io.Reader] says.
func (b *bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	n, err := b.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.Cause(b.ctx)
	}
	return n, err
}
