package instance

import (
	"path/filepath"
	"strings"
)

// desktop lists the ways to the programs on the person's screen that lie where the
// environment says: who gets to one can type into their terminals and read what they copy.
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
