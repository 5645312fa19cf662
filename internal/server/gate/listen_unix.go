//go:build unix

package gate

import (
	"context"
	"errors"
	"net"
	"os"
)

// listenPrivate makes a socket for its owner only. Who connects before the mode is
// set is turned away by samePeer where the system says who it is.
func listenPrivate(ctx context.Context, lc *net.ListenConfig, path string) (net.Listener, error) {
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
