//go:build !unix

package gate

import (
	"context"
	"net"
)

func listenPrivate(ctx context.Context, lc *net.ListenConfig, path string) (net.Listener, error) {
	return lc.Listen(ctx, "unix", path)
}
