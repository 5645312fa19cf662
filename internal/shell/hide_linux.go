package shell

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// HideSelf hides this process from other processes of the same user: the kernel's
// copy of its environment is blanked, except for the mark of an outer lathe, and
// the process is made not dumpable, which closes its memory and its descriptors to
// all but root, debuggers included. The program's own view, [os.Environ], stays. It
// may be called again.
func HideSelf() error {
	if on, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err == nil && on != 1 {
		return nil
	}
	err := blankEnviron()
	if no := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err == nil {
		err = no
	}
	if err != nil {
		return fmt.Errorf("hide the environment of lathe from commands: %w", err)
	}
	return nil
}

// blankEnviron overwrites the memory that /proc/self/environ shows. The runtime has
// copied what it needs.
func blankEnviron() error {
	raw, err := os.ReadFile("/proc/self/environ")
	if err != nil || len(raw) == 0 {
		return err
	}
	start, err := environStart()
	if err != nil {
		return err
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	_, err = mem.WriteAt(blank(raw), start)
	return err
}

// blank returns an environment of the same length with nothing but the mark.
func blank(raw []byte) []byte {
	out := make([]byte, len(raw))
	at := 0
	for kv := range bytes.SplitSeq(raw, []byte{0}) {
		if bytes.HasPrefix(kv, []byte(markVar+"=")) {
			copy(out[at:], kv)
		}
		at += len(kv) + 1
	}
	return out
}

// environStart returns where the environment begins, from proc_pid_stat(5).
func environStart() (int64, error) {
	const field = 50 - 3 // of those after the name
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) <= field {
		return 0, fmt.Errorf("/proc/self/stat has %d fields", len(fields))
	}
	return strconv.ParseInt(fields[field], 10, 64)
}

// closeOnExec keeps commands from inheriting what lathe has open, also what lathe
// inherited itself.
func closeOnExec() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, _ := os.ReadDir("/proc/self/fd") // before Linux 5.11
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
