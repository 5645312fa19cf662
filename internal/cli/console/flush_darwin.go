package console

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed on a terminal and not read yet.
func flushInput(f *os.File) {
	const read = 1 // FREAD: the input alone
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
