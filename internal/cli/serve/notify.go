package serve

import (
	"net"
	"strings"
)

// notifyManager tells the service manager (systemd with Type=notify) a state, if
// there is one. Nothing depends on it, so failures are ignored.
func notifyManager(getenv func(string) string, state string) {
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if name, ok := strings.CutPrefix(path, "@"); ok { // in the abstract namespace
		path = "\x00" + name
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state))
}
