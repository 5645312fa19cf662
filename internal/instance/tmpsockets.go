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

// tick is more than a step of the clock of file systems takes: what changed a moment ago may
// change again and have the same time.
const tick = 50 * time.Millisecond

// tmpSockets finds their sockets in /tmp, anew whenever something came or went there.
type tmpSockets struct {
	dir string // instead of /tmp, for tests

	mu    sync.Mutex
	at    time.Time // when the directory had last changed
	sure  bool      // that was long enough before it was read
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
	if s.sure && info.ModTime().Equal(s.at) {
		return s.found
	}
	s.at, s.found = info.ModTime(), nil
	s.sure = time.Since(s.at) > tick
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
