package shell

import (
	"errors"
	"os"
	"syscall"
)

func (o pipes) attr(*syscall.SysProcAttr, bool) {}

func interruptGroup(int) bool { return false }

func (o pipes) terminal() (e ends, err error) {
	return e, errors.New("commands cannot have a terminal on this system")
}

func setSize(*os.File, uint16, uint16) error { return errors.ErrUnsupported }
