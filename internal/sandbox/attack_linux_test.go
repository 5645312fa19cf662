//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attack tries something by system calls that no shell has, and returns 0 if it
// succeeds.
func attack(name string) int {
	base := os.Getenv("BASE")
	lathe, _ := strconv.Atoi(os.Getenv("LATHE"))
	outside := filepath.Join(base, "outside/file.txt")
	raw := func(nr uintptr, args ...uintptr) error {
		var a [6]uintptr
		copy(a[:], args)
		if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
			return errno
		}
		return nil
	}
	socket := func(family, kind int) error {
		_, err := unix.Socket(family, kind, 0)
		return err
	}
	var err error
	switch name {
	case "io_uring":
		err = raw(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&[64]uint64{})))
	case "bpf":
		err = raw(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&[16]uint64{2, 4, 4, 1})), 64)
	case "perf":
		err = raw(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&[16]uint64{1 | 112<<32})), 0, ^uintptr(0), ^uintptr(0), 0)
	case "keyctl":
		_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	case "userfaultfd":
		err = raw(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1)
	case "handle":
		var h unix.FileHandle
		if h, _, err = unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(base, "secret"), 0); err == nil {
			_, err = unix.OpenByHandleAt(unix.AT_FDCWD, h, unix.O_RDONLY)
		}
	case "mount":
		err = unix.Mount("none", "/mnt", "tmpfs", 0, "")
	case "bind":
		err = unix.Mount(filepath.Join(base, "outside"), filepath.Join(base, "work/sub"), "", unix.MS_BIND, "")
	case "open_tree":
		_, err = unix.OpenTree(unix.AT_FDCWD, base, unix.OPEN_TREE_CLONE)
	case "open_tree_attr":
		path, attr := []byte(base+"\x00"), unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
		here := unix.AT_FDCWD
		err = raw(467, uintptr(here), uintptr(unsafe.Pointer(&path[0])), unix.OPEN_TREE_CLONE, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
		if err == unix.ENOSYS {
			err = nil // the filter comes before the kernel
		}
	case "file_setattr":
		path, attr := []byte(outside+"\x00"), [4]uint64{}
		here := unix.AT_FDCWD
		err = raw(469, uintptr(here), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
		if err != unix.EPERM {
			err = nil
		}
	case "umount":
		err = unix.Unmount(filepath.Join(base, "secret"), unix.MNT_DETACH)
	case "remount":
		err = unix.Mount("", filepath.Join(base, "work/.git/config"), "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "setns":
		var fd int
		if fd, err = unix.Open(fmt.Sprintf("/proc/%d/ns/mnt", lathe), unix.O_RDONLY, 0); err == nil {
			err = unix.Setns(fd, 0)
		}
	case "ptrace":
		err = unix.PtraceAttach(lathe)
	case "vm_write":
		local, remote := []unix.Iovec{{Base: &[]byte{0}[0], Len: 1}}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&base)), Len: 1}}
		_, err = unix.ProcessVMWritev(lathe, local, remote, 0)
	case "kill":
		err = unix.Kill(lathe, 0)
	case "kill_init":
		err = unix.Kill(1, 0)
	case "pidfd":
		var fd int
		if fd, err = unix.PidfdOpen(lathe, 0); err == nil {
			_, err = unix.PidfdGetfd(fd, 0, 0)
		}
	case "prlimit":
		err = unix.Prlimit(lathe, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: 1}, nil)
	case "packet":
		err = socket(unix.AF_PACKET, unix.SOCK_RAW)
	case "raw":
		err = socket(unix.AF_INET, unix.SOCK_RAW)
	case "vsock":
		err = socket(unix.AF_VSOCK, unix.SOCK_STREAM)
	case "alg":
		err = socket(unix.AF_ALG, unix.SOCK_SEQPACKET)
	case "tiocsti":
		err = raw(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&[]byte("x")[0])))
		if err == unix.ENOTTY {
			err = errors.New("reached the terminal") // the filter did not see it
			fmt.Println(err)
			return 0
		}
	case "truncate":
		err = unix.Truncate(outside, 0)
	case "openat2":
		_, err = unix.Openat2(unix.AT_FDCWD, outside, &unix.OpenHow{Flags: unix.O_WRONLY})
	case "dirfd": // a directory that was opened before, and a way up from it
		var fd int
		if fd, err = unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0); err == nil {
			_, err = unix.Openat(fd, "../outside/new", unix.O_CREAT|unix.O_WRONLY, 0o644)
		}
	case "opath": // a descriptor without rights that is opened again
		var fd int
		if fd, err = unix.Open(outside, unix.O_PATH, 0); err == nil {
			_, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_WRONLY, 0)
		}
	case "link":
		err = os.Link(outside, "linked")
	case "linkat_empty":
		var fd int
		if fd, err = unix.Open(outside, unix.O_RDONLY, 0); err == nil {
			err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "linked", unix.AT_SYMLINK_FOLLOW)
		}
	case "rename_exchange":
		err = unix.Renameat2(unix.AT_FDCWD, "a.txt", unix.AT_FDCWD, outside, unix.RENAME_EXCHANGE)
	case "exchange_config":
		err = unix.Renameat2(unix.AT_FDCWD, "a.txt", unix.AT_FDCWD, ".git/config", unix.RENAME_EXCHANGE)
	case "memfd": // a program that is in no file is confined as well
		err = os.WriteFile(outside, []byte("x"), 0o644)
	case "mmap": // a mapping that writes a file which is open for reading
		var fd int
		if fd, err = unix.Open(outside, unix.O_RDONLY, 0); err == nil {
			_, err = unix.Mmap(fd, 0, 1, unix.PROT_WRITE, unix.MAP_SHARED)
		}
	case "mknod":
		err = unix.Mknod("disk", unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0)))
		if err == nil {
			_, err = os.ReadFile("disk")
		}
	case "chroot":
		if err = unix.Chroot(filepath.Join(base, "work")); err == nil {
			err = os.WriteFile("/../outside/file.txt", nil, 0o644)
		}
	case "userns":
		if err = unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNS); err == nil {
			err = unix.Unmount(filepath.Join(base, "secret"), unix.MNT_DETACH)
		}
	case "swapon":
		err = raw(unix.SYS_SWAPON, uintptr(unsafe.Pointer(&[]byte("/x\x00")[0])), 0)
	case "hostname":
		err = unix.Sethostname([]byte("evil"))
	case "clock":
		err = unix.ClockSettime(unix.CLOCK_REALTIME, &unix.Timespec{Sec: 1})
	case "module":
		err = raw(unix.SYS_INIT_MODULE, 0, 0, uintptr(unsafe.Pointer(&[]byte("\x00")[0])))
	case "reboot":
		err = unix.Reboot(unix.LINUX_REBOOT_CMD_CAD_OFF)
	case "descriptors": // nothing of lathe's is open
		names, _ := os.ReadDir("/proc/self/fd")
		err = errors.New("none")
		for _, n := range names {
			fd, _ := strconv.Atoi(n.Name())
			link, _ := os.Readlink("/proc/self/fd/" + n.Name())
			if fd > 2 && link != "" && !strings.HasPrefix(link, "/proc/") && !strings.HasPrefix(link, "/sys/fs/cgroup/") && !strings.HasPrefix(link, "anon_inode:[event") {
				fmt.Println(fd, link)
				err = nil
			}
		}
	default:
		fmt.Println("no such attack")
		return 0
	}
	if err != nil {
		fmt.Println(name, "refused:", err)
		return 1
	}
	return 0
}
