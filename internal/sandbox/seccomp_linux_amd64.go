package sandbox

import "golang.org/x/sys/unix"

func auditArch() uint32 { return unix.AUDIT_ARCH_X86_64 }

var refusedHere = []uint32{unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_USELIB, unix.SYS_CREATE_MODULE, unix.SYS__SYSCTL}

// olderCalls change files, too, on machines that had them first.
var olderCalls = []uint32{unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_MKNOD}

const olderOpen = unix.SYS_OPEN

// isSymlink reports whether a call makes a symbolic link.
func isSymlink(nr int32) bool { return nr == unix.SYS_SYMLINKAT || nr == unix.SYS_SYMLINK }

func olderSubject(req *notif) (op string, dirs []int32, at []uint64) {
	a, here := req.args, int32(unix.AT_FDCWD)
	switch int(req.nr) {
	case unix.SYS_OPEN, unix.SYS_CREAT:
		return "write", []int32{here}, []uint64{a[0]}
	case unix.SYS_MKDIR, unix.SYS_MKNOD:
		return "create", []int32{here}, []uint64{a[0]}
	case unix.SYS_UNLINK, unix.SYS_RMDIR:
		return "remove", []int32{here}, []uint64{a[0]}
	case unix.SYS_SYMLINK:
		return "create", []int32{here}, []uint64{a[1]}
	case unix.SYS_RENAME:
		return "rename", []int32{here, here}, []uint64{a[0], a[1]}
	case unix.SYS_LINK:
		return "link", []int32{here, here}, []uint64{a[0], a[1]}
	}
	return "", nil, nil
}
