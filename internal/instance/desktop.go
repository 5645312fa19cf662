package instance

import (
	"path/filepath"
	"strings"
)

// desktop lists the sockets of the person's screen, where the environment says they are:
// whoever reaches one can type into the terminals there and read what is copied.
func desktop(getenv func(string) string) (list []string) {
	if file := getenv("XAUTHORITY"); filepath.IsAbs(file) {
		list = append(list, file)
	}
	for address := range strings.SplitSeq(getenv("DBUS_SESSION_BUS_ADDRESS"), ";") {
		path, ok := strings.CutPrefix(address, "unix:path=")
		path, _, _ = strings.Cut(path, ",")
		if ok && filepath.IsAbs(path) {
			list = append(list, path)
		}
	}
	return list
}
