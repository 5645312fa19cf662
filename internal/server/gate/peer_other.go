//go:build !linux

package gate

import "net"

// samePeer relies on the mode of the socket file where the system does not tell.
func samePeer(net.Conn) bool { return true }
