package serve

import (
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"lathe/internal/server/gate"
)

// TestWhoMayUse: the warning of a server without a password says what is so.
func TestWhoMayUse(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	want := "every program of every user of this machine can use the server"
	if gate.TellsUsers() {
		want = "every program of yours can use the server; other users of this machine are refused"
	}
	if got := whoMayUse([]net.Listener{tcp}); got != want {
		t.Errorf("over TCP: %q, want %q", got, want)
	}
	if runtime.GOOS == "windows" {
		return
	}
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	if got, want := whoMayUse([]net.Listener{unix}), "every program of yours can use the server"; got != want {
		t.Errorf("over a socket: %q, want %q", got, want)
	}
}
