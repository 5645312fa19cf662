package instance

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// socketNames begin what programs that do what they are told put into /tmp: agents,
// terminals, editors, desktops.
var socketNames = []string{"ssh-", "tmux-", "vscode-ipc-", "vscode-git-", "emacs", "dbus-", "keyring-", "screens"}

// tmpSockets finds their sockets in /tmp, anew whenever something came or went there.
type tmpSockets struct {
	dir string // instead of /tmp, for tests

	mu    sync.Mutex
	at    time.Time // when the directory had last changed
	found []string
}

// list lists them as they are now.
func (s *tmpSockets) list() []string {
	dir := s.dir
	if dir == "" {
		dir = "/tmp"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	// What changed a moment ago may change again within the same tick of the file system's clock.
	if settled := time.Since(info.ModTime()) > time.Second; settled && info.ModTime().Equal(s.at) {
		return s.found
	}
	s.at, s.found = info.ModTime(), nil
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		for _, prefix := range socketNames {
			if strings.HasPrefix(name, prefix) {
				s.found = append(s.found, filepath.Join(dir, name))
			}
		}
	}
	return s.found
}
