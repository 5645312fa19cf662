package instance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// TestDesktopIsOutOfReach holds that commands reach neither the person's display, with its
// keys and its clipboard, nor their session bus, wherever those lie; and that status says how
// far commands are confined.
func TestDesktopIsOutOfReach(t *testing.T) {
	if sandbox.Detect() < sandbox.Full {
		t.Skip("sockets are only out of reach with namespaces: " + sandbox.Missing())
	}
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is not installed")
	}
	home, vars := everydayHome(t)
	dir, desk := filepath.Join(home, "work"), filepath.Join(home, "desk")
	display := 20000 + os.Getpid()%10000
	screen := fmt.Sprint("/tmp/.X11-unix/X", display)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(desk, 0o755), os.MkdirAll("/tmp/.X11-unix", 0o1777),
		os.WriteFile(filepath.Join(desk, "cookie"), []byte("planted-secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	sockets := []string{screen, filepath.Join(desk, "bus")}
	for _, path := range sockets {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
	}
	vars = append(vars, fmt.Sprintf("DISPLAY=:%d.0", display), "XAUTHORITY="+filepath.Join(desk, "cookie"),
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+sockets[1]+",guid=0")
	getenv := func(name string) string { return shell.Getenv(vars, name) }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	runner := shell.New(shell.Options{})
	defer runner.Close()
	inst, err := instance.Open(t.Context(), dir, instance.Options{
		Paths: paths, Getenv: getenv, Environ: vars, Log: slog.New(slog.DiscardHandler), Now: time.Now, Runner: runner, Publish: func(string, lathe.Event) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	if got := inst.Setup().Sandbox; !strings.HasPrefix(got, "full: ") {
		t.Errorf("status says %q", got)
	}
	bash, _ := inst.Tools.Lookup("bash")
	var script strings.Builder
	for _, path := range sockets {
		fmt.Fprintf(&script, "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => q(%s)) ? q(REACHED) : q(held )'\n", path)
	}
	script.WriteString("cat $XAUTHORITY; echo done")
	if err := os.WriteFile(filepath.Join(dir, "reach.sh"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"command": "sh reach.sh"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := bash.Run(t.Context(), &tool.Call{
		SessionID: "ses_1", MessageID: "msg_1", CallID: "call_1", Agent: "build", Input: input,
		Ask: func(context.Context, tool.Request) error { return nil },
	})
	if err != nil || strings.Count(res.Output, "held") != 2 || !strings.Contains(res.Output, "done") || strings.Contains(res.Output, "REACHED") || strings.Contains(res.Output, "planted-secret") {
		t.Errorf("%v:\n%s", err, res.Output)
	}
}
