//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// identity is a user that the server runs as: it refuses to run as root.
type identity struct{ uid, gid int }

// unprivileged returns whom the server is to run as; nil for this process itself.
func unprivileged() (*identity, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		return &identity{uid, gid}, errors.Join(err1, err2)
	}
	return nil, errNone
}

func (i *identity) own(dir string) error {
	if i == nil {
		return nil
	}
	return os.Chown(dir, i.uid, i.gid)
}

func (i *identity) use(cmd *exec.Cmd) {
	if i != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(i.uid), Gid: uint32(i.gid)}}
	}
}

func quit(p *os.Process) { _ = p.Signal(syscall.SIGQUIT) }
