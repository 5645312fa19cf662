// Package cli is the command line: it reads arguments, builds everything else, wires it
// together, and turns errors into messages and exit codes.
//
// A command is a file named after it: its options, how they are read, and a function that
// runs it. Commands reach the engine through a face (connect.go): a server that is
// already running, or an app in this process (app.go), both called through package
// client. runview.go has what lathe run shows, tuiengine.go the engine as the screen sees
// it, and sink.go standard output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lathe"
)

// Exit codes of the program. They are part of the interface; see docs/cli.md.
const (
	ExitDone       = 0
	ExitFailed     = 1   // the model, the provider or lathe itself failed
	ExitUsage      = 2   // wrong arguments or configuration; nothing was done
	ExitPermission = 3   // a permission was refused and the work stopped
	ExitLimit      = 4   // a step, cost, time, retry or loop limit was reached
	ExitBusy       = 5   // the session is busy in another process
	ExitAborted    = 130 // stopped by Ctrl-C or a signal
	ExitUnread     = 141 // whoever read standard output went away, as head does
)

// Env is the environment the program runs in: arguments, variables, streams, clock.
type Env struct {
	Args   []string // without the program's name
	Stdin  *os.File
	Stdout io.Writer
	Stderr io.Writer
	Dir    string
	Getenv func(string) string
	// Environ is what commands that tools run inherit.
	Environ []string
	// Supervisor is the command line that becomes [shell.SupervisorMain]; see
	// [shell.Options] for what is lost without one.
	Supervisor []string
	// Connect is the command line that becomes [proxy.Connect]; empty: there is none.
	Connect []string
	// Keeper is the command line that becomes [job.KeeperMain]; empty: no job can be kept.
	Keeper []string
	// Hide keeps other programs from reading this process; nil: nothing does.
	Hide func() error
	Now  func() time.Time
	// Signals delivers interrupts; nil means none. The first aborts what runs,
	// the second ends the program at once.
	Signals <-chan os.Signal
	// Exit ends the program at once; used for the second interrupt.
	Exit func(code int)
	// StdoutTTY and StderrTTY tell whether these are terminals.
	StdoutTTY, StderrTTY, StdinTTY bool
	Width                          int // columns of the terminal; 0 when unknown

	signals *signals
}

// usageError marks an error in how the program was called.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// exitError ends the program with a code; a nil err prints nothing more.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}
func (e exitError) Unwrap() error { return e.err }

// Main runs the program and returns its exit code.
func Main(env Env) int {
	env.hideSecrets()
	env.Getenv = fromHere(env.Getenv, env.Dir)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	env.signals = &signals{from: env.Signals, exit: env.Exit}
	stop := env.signals.watch(cancel)
	defer stop()
	out := &sink{to: env.Stdout, stop: cancel}
	env.Stdout = out
	root := newRoot(&env)
	root.SetArgs(env.Args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if lost := out.failed(); lost != nil {
		err = exitError{code: ExitFailed, err: lost}
		if unread(lost) {
			err = exitError{code: ExitUnread}
		}
	}
	if _, ended := errors.AsType[exitError](err); err != nil && !ended && errors.Is(context.Cause(ctx), errInterrupted) {
		err = errInterrupted // whatever the interrupt broke off
	}
	if err != nil {
		report(&env, err)
	}
	return exitCode(err)
}

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

func newRoot(env *Env) *cobra.Command {
	var version bool
	var screen tuiOptions
	root := &cobra.Command{
		Use:   "lathe [directory] [request]",
		Short: "An AI coding agent for your terminal",
		Long: `lathe takes a request, and reads, edits and runs code in your repository until
the work is done. It shows everything it does.

Without an account it starts with the offline guide, which shows how lathe works.

A directory opens the screen there, and a request in quotes is sent at once; without
a terminal the request is carried out as by lathe run.`,
		Example: `  lathe
  lathe ../other
  lathe "explain main.go"
  lathe run "give me a tour of this project"
  lathe run -c "now add a test for it"
  git diff | lathe run "review this change"
  lathe models`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return printVersion(env)
			}
			if len(args) > 0 {
				return openWith(cmd.Context(), cmd, env, screen, args)
			}
			if interactive(env) || screen != (tuiOptions{}) {
				return runTUI(cmd.Context(), env, screen)
			}
			return cmd.Help()
		},
	}
	addTUIFlags(root, &screen)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	root.PersistentFlags().Bool("print-logs", false, "write the log to standard error")
	root.PersistentFlags().String("log-level", "", "DEBUG, INFO, WARN or ERROR")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return logFlags(env, cmd) }
	root.SetFlagErrorFunc(usageOf)
	root.AddCommand(
		newRun(env), newTUI(env), newACP(env), newAttach(env), newCommands(env), newModels(env), newAuth(env), newSession(env), newServe(env), newWeb(env), newConfig(env), newContext(env), newTrust(env), newPermissions(env), newAgents(env),
		newStats(env), newSearch(env), newLearn(env), newJob(env), newWorktree(env), newMCP(env), newLSP(env), newPlugin(env), newExport(env), newImport(env), newShare(env), newUnshare(env), newDB(env), newDoctor(env), newDebug(env),
		&cobra.Command{
			Use: "version", Short: "Print the version", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return printVersion(env) },
		},
	)
	typeUsage(root)
	return root
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}

func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("expected %s, got %d arguments", what, len(args))}
		}
		return nil
	}
}

func printVersion(env *Env) error {
	_, err := fmt.Fprintln(env.Stdout, lathe.Version)
	return err
}

// report prints an error and what to do about it.
func report(env *Env, err error) {
	if e, ok := errors.AsType[exitError](err); ok && e.err == nil {
		return
	}
	st := newStyle(env.StderrTTY, env.Getenv)
	fmt.Fprintf(env.Stderr, "lathe: %s %s\n", st.red("error:"), clean(err.Error()))
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
		fmt.Fprintf(env.Stderr, "lathe: %s %s\n", st.bold("hint:"), clean(e.Hint))
		return
	}
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(env.Stderr, "lathe: %s see: lathe --help\n", st.bold("hint:"))
	}
}

// exitCode maps an error to the program's exit code.
func exitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return ExitUsage
	}
	if errors.Is(err, errInterrupted) {
		return ExitAborted
	}
	switch lathe.CodeOf(err) {
	case lathe.CodeInvalid, lathe.CodeNotFound, lathe.CodeAuth:
		return ExitUsage
	case lathe.CodeBusy:
		return ExitBusy
	case lathe.CodePermission:
		return ExitPermission
	case lathe.CodeLimit:
		return ExitLimit
	case lathe.CodeAborted:
		return ExitAborted
	}
	// cobra's own complaints about unknown commands have no type.
	if msg := err.Error(); len(msg) > 15 && msg[:15] == "unknown command" {
		return ExitUsage
	}
	return ExitFailed
}
