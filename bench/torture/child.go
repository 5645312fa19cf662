package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"lathe/internal/cli"
	"lathe/internal/cli/console"
	"lathe/internal/shell"
)

// childEnv makes this program be lathe.
const childEnv = "LATHE_TORTURE_CHILD"

// supervise is the argument that makes it the supervisor of commands.
const supervise = "__supervise"

// asLathe runs lathe if this process is to be one. It does not return then.
func asLathe() bool {
	if len(os.Args) > 1 && os.Args[1] == supervise {
		os.Exit(shell.SupervisorMain(os.Args[2:]))
	}
	if os.Getenv(childEnv) == "" {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(console.ExitFailed)
	}
	if spec := os.Getenv(faultEnv); spec != "" {
		armFault(spec)
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(cli.Main(console.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Dir: dir, Getenv: os.Getenv, Environ: os.Environ(), Supervisor: []string{self, supervise}, Now: time.Now,
		Signals: signals, Exit: os.Exit,
	}))
	return true
}
