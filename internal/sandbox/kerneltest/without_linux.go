//go:build amd64 || arm64

package kerneltest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Where the kernel puts a call's number and the lower halves of its arguments.
const (
	number = 0
	first  = 16
	second = 24
)

// Without takes a feature away from this process and all that it starts, for good: its
// calls fail as they do where the feature is not there.
func Without(feature string) error {
	var code []unix.SockFilter
	switch feature {
	case UserNamespaces: // as in a container that forbids them
		code = append(code, fails(unix.SYS_CLONE, first, unix.CLONE_NEWUSER, unix.EPERM)...)
		code = append(code, fails(unix.SYS_UNSHARE, first, unix.CLONE_NEWUSER, unix.EPERM)...)
		code = append(code, fails(unix.SYS_CLONE3, 0, 0, unix.ENOSYS)...)
	case Landlock:
		for _, nr := range []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF} {
			code = append(code, fails(nr, 0, 0, unix.ENOSYS)...)
		}
	case Notification: // as in another program's sandbox that listens itself
		code = fails(unix.SYS_SECCOMP, second, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, unix.EBUSY)
	default:
		return fmt.Errorf("no such feature: %q", feature)
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	return FilterCalls(code)
}

// fails makes a call fail; with flags only if its argument at a place has one of them.
func fails(nr uint32, at uint32, flags uint32, errno unix.Errno) []unix.SockFilter {
	load := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: k}
	}
	refuse := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
	is := func(skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: skip}
	}
	if flags == 0 {
		return []unix.SockFilter{load(number), is(1), refuse}
	}
	return []unix.SockFilter{load(number), is(3), load(at), {Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: flags, Jf: 1}, refuse}
}
