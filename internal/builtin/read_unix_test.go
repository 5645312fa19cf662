//go:build unix

package builtin

import (
	"syscall"
	"testing"
)

// What never ends, or waits for somebody, is not read.
func TestReadRefusesDevices(t *testing.T) {
	r := newRig(t)
	if err := syscall.Mkfifo(r.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.fails("read", m{"filePath": "pipe"}, "named pipe")
	r.fails("read", m{"filePath": "/dev/zero"}, "device")
}
