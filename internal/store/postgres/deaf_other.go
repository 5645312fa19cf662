//go:build !linux

package postgres

import (
	"syscall"
	"time"
)

// deafAfter leaves it to the system when a connection ends.
func deafAfter(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
