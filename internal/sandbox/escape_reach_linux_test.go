//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

func escapes() []escape { return slices.Concat(fileEscapes(), callEscapes(), reaching) }

// callEscapes make each call that the filter refuses, and some that are only refused
// where they matter.
func callEscapes() (list []escape) {
	for _, nr := range slices.Concat(refusedCalls, refusedHere, absentCalls) {
		list = append(list, escape{name: fmt.Sprint("system call ", nr),
			script: fmt.Sprintf(`perl -e 'syscall(%d, 0, 0, 0, 0, 0, 0); print $ENV{OUT} unless $! == 1 || $! == 38'`, nr)})
	}
	for name, nr := range map[string]int{"ptrace seize": unix.SYS_PTRACE} {
		list = append(list, escape{name: name, script: fmt.Sprintf(`perl -e 'print $ENV{OUT} if syscall(%d, 0x4206, $ENV{VICTIM}+0, 0, 0) == 0'`, nr)})
	}
	return list
}

const sockets = "Landlock does not know of sockets that have a file"

// connect connects to a socket with a file, or with a name that begins with @.
func connect(address string) string {
	return `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); $a = "` + address + `"; $a =~ s/^@/\0/; connect(S, pack_sockaddr_un($a)) && print scalar <S>'`
}

// reaching tries to reach other processes and services.
var reaching = []escape{
	{name: "agent's socket", script: connect(`$ENV{AGENT}`), files: sockets},
	{name: "socket of containers", script: connect(`$ENV{DOCKER}`), files: sockets},
	{name: "socket by the root of the process", script: connect(`/proc/self/root$ENV{AGENT}`), files: sockets},
	{name: "abstract socket", script: connect(`\@$ENV{ABSTRACT}`)},
	{name: "loopback", script: `cat < /dev/tcp/127.0.0.1/$PORT`, network: true},
	{name: "loopback of the other family", script: `cat < /dev/tcp/::ffff:127.0.0.1/$PORT`, network: true},
	{name: "loopback by curl", script: `curl -s -m 1 http://localhost:$PORT/ | cat`, network: true},
	{name: "loopback by packets", script: `echo x > /dev/udp/127.0.0.1/$UDP`, network: true},
	{name: "signal", script: `kill -9 $VICTIM`, alone: true},
	{name: "signal to all", script: `trap '' TERM; kill -TERM -1`, alone: true},
	{name: "stop signal", script: `kill -STOP $VICTIM`, alone: true},
	{name: "signal by pkill", script: `pkill -9 -f 'sleep 1000'`, alone: true},
	{name: "environment", script: `tr '\000' '\n' < /proc/$VICTIM/environ`},
	{name: "environments of all", script: `cat /proc/[0-9]*/environ | tr '\000' '\n' | sed -n 's/^TOKEN=//p'`},
	{name: "environment by ps", script: `ps eww -p $VICTIM`},
	{name: "memory", script: `perl -e 'open(M, "+<", "/proc/$ENV{VICTIM}/mem") && print $ENV{OUT}'`},
	{name: "root", script: `ls /proc/$VICTIM/root/ >/dev/null && echo "$OUT"`},
	{name: "directory", script: `echo x > /proc/$VICTIM/cwd/outside/file.txt`},
	{name: "descriptors", script: `readlink /proc/$VICTIM/fd/0 >/dev/null && echo "$OUT"`},
	{name: "memory by gdb", script: `gdb -p $VICTIM -batch -ex 'call (int)putenv("x=y")' 2>&1 | grep -q 'Attaching.*ok' && echo "$OUT"`},
	{name: "namespaces", script: `nsenter -t $VICTIM -a true && echo "$OUT"`},
	{name: "namespaces of the first process", script: `nsenter -t 1 -m true && echo "$OUT"`},
	{name: "priority of the first process to end", script: `echo 1000 > /proc/$VICTIM/oom_score_adj && echo "$OUT"`},
	{name: "core pattern", script: `echo '|/tmp/x' > /proc/sys/kernel/core_pattern && echo "$OUT"`},
	{name: "modprobe path", script: `echo /tmp/x > /proc/sys/kernel/modprobe && echo "$OUT"`},
	{name: "binfmt", script: `echo x > /proc/sys/fs/binfmt_misc/register && echo "$OUT"`},
	{name: "uevent helper", script: `echo /tmp/x > /sys/kernel/uevent_helper && echo "$OUT"`},
	{name: "release agent (CVE-2022-0492)", script: `unshare -UrmC sh -c 'mount -t cgroup -o rdma c /mnt && echo /tmp/x > /mnt/release_agent' && echo "$OUT"`},
	{name: "own mounts", script: `unshare -Urm sh -c 'mount -t tmpfs t "$BASE/home" && echo "$OUT"'`},
	{name: "own mounts by overlay (CVE-2023-0386)", script: `unshare -Urm sh -c 'mount -t overlay o -o lowerdir="$BASE/outside",upperdir="$BASE/work/sub",workdir="$BASE/cache" /mnt && echo "$OUT"'`},
	{name: "chroot and back", script: `unshare -Ur perl -e 'chroot("$ENV{BASE}/work"); chdir("../.."); chroot("."); open(F, ">>", "$ENV{BASE}/outside/file.txt") && print F "x"'`},
	{name: "memory of the kernel", script: `for d in /dev/mem /dev/kmem /dev/port /proc/kcore; do head -c 1 $d >/dev/null && echo "$OUT"; done`},
	{name: "disks", script: `for d in /dev/sda /dev/vda /dev/nvme0n1; do [ -b $d ] && echo > $d && echo "$OUT"; done`},
	{name: "device of the own", script: `mknod "$BASE/work/disk" b 254 0 && head -c 1 "$BASE/work/disk" && echo "$OUT"`},
	{name: "set user id", script: `cp /bin/sh s && chmod u+s s; sudo -n true && echo "$OUT"`},
	{name: "message queues and shared memory", script: `ipcs -a | grep -q 0x1a7e && echo "$OUT"`},
	{name: "32-bit system calls", script: fmt.Sprintf(`perl -e 'syscall(0x40000000 + %d, 0); print $ENV{OUT} unless $! == 38'`, unix.SYS_MOUNT)},
	{name: "tiocsti (CVE-2023-1523)", script: fmt.Sprintf(`perl -e '$c = "x"; ioctl(STDIN, %d, $c); print $ENV{OUT} unless $! == 1'`, unix.TIOCSTI)},
	{name: "tiocsti with high bits (CVE-2019-10063)", script: fmt.Sprintf(`perl -e '$c = "x"; syscall(%d, 0, %d + (1 << 32), $c); print $ENV{OUT} unless $! == 1'`, unix.SYS_IOCTL, unix.TIOCSTI)},
	{name: "terminal of the person", script: `echo x > $PTS`, files: terminals},
	{name: "keys typed at a terminal", script: `timeout 0.2 head -1 $PTS`, files: terminals},
	{name: "shared memory of others, read", script: `cat "$SHM"`, files: memory},
	{name: "shared memory of others, written", script: `echo x > "$SHM"`, files: memory},
}

const (
	terminals = "/dev/pts is that of the machine"
	memory    = "/dev/shm is that of the machine"
)
