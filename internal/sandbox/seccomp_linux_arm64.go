package sandbox

import "golang.org/x/sys/unix"

func auditArch() uint32 { return unix.AUDIT_ARCH_AARCH64 }

var refusedHere []uint32

var olderCalls []uint32

const olderOpen = 0

// isSymlink reports whether a call makes a symbolic link.
func isSymlink(nr int32) bool { return nr == unix.SYS_SYMLINKAT }

func olderSubject(*notif) (op string, dirs []int32, at []uint64) { return "", nil, nil }
