//go:build unix && !linux

package pgtest

import "syscall"

func tie(*syscall.SysProcAttr) {}

func lock() {}
