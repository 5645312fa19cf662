//go:build unix && !linux

package shell

import "syscall"

func (o pipes) attr(sys *syscall.SysProcAttr, _ bool) { sys.Setctty = o.Terminal }

func interruptGroup(leader int) bool { return syscall.Kill(-leader, syscall.SIGINT) == nil }
