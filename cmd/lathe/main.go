// Command lathe is an AI coding agent; see the README.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"lathe/internal/cli"
	"lathe/internal/cli/console"
	"lathe/internal/job"
	"lathe/internal/sandbox/proxy"
	"lathe/internal/shell"
)

// supervise is the argument that makes this program the supervisor of its commands.
const supervise = "__supervise"

// connect is the argument that makes this program ssh's way through the proxy of commands.
const connect = "__connect"

// keep makes it the keeper of a job that outlives it.
const keep = "__keep"

func main() { program(0) }

// program is lathe, which waits for a database as long as is said; see [console.Env].
func program(storeWait time.Duration) {
	if len(os.Args) > 1 && os.Args[1] == supervise {
		os.Exit(shell.SupervisorMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == keep {
		os.Exit(job.KeeperMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == connect {
		if err := proxy.Connect(context.Background(), os.Args[2:], os.Getenv, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "lathe:", err)
			os.Exit(console.ExitFailed)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lathe: find the running program:", err)
		os.Exit(console.ExitFailed)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader that went away makes writes fail instead of killing the program, so
	// that a run can end cleanly. Unlike ignoring it, this is not inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0
	}
	hide := shell.HideSelf
	if os.Getenv("LATHE_ALLOW_DEBUGGER") != "" {
		hide = nil
	}
	os.Exit(cli.Main(console.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Dir: dir, Getenv: os.Getenv, Environ: os.Environ(), Supervisor: []string{self, supervise}, Keeper: []string{self, keep}, Hide: hide, Now: time.Now, StoreWait: storeWait,
		Signals: signals, Exit: os.Exit, Width: width,
		StdinTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		StdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		StderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}))
}
