// Package cli is the command line: it puts the commands together, reads arguments, and
// turns errors into messages and exit codes.
//
// Each group of commands is a package below, and each command a file named after it: its
// options, how they are read, and a function that runs it. They stand on console (streams,
// exit codes, printing) and face (the connection to an engine, which app wires); show
// prints what a run does. No group knows another.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/complete"
	"lathe/internal/cli/console"
	"lathe/internal/cli/screen"
)

// Main runs the program and returns its exit code.
func Main(env console.Env) int {
	env.HideSecrets()
	env.Getenv = fromHere(env.Getenv, env.Dir)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	env.Interrupts = &console.Interrupts{From: env.Signals, Exit: env.Exit}
	stop := env.Interrupts.Watch(cancel)
	defer stop()
	out := &console.Sink{To: env.Stdout, Stop: cancel}
	env.Stdout = out
	env.Stderr = &console.Speaker{To: env.Stderr, Language: env.Language}
	root := rootFor(&env)
	if len(env.Args) > 0 && strings.HasPrefix(env.Args[0], cobra.ShellCompRequestCmd) {
		complete.Add(root, &env)
	}
	root.SetArgs(env.Args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	complete.Scripts(root, env.Args...) // they are printed to what is standard output now
	err := root.ExecuteContext(ctx)
	if lost := out.Failed(); lost != nil {
		err = console.ExitError{Code: console.ExitFailed, Err: lost}
		if console.Unread(lost) {
			err = console.ExitError{Code: console.ExitUnread}
		}
	}
	if _, ended := errors.AsType[console.ExitError](err); err != nil && !ended && errors.Is(context.Cause(ctx), console.ErrInterrupted) {
		err = console.ErrInterrupted // whatever the interrupt broke off
	}
	if err != nil {
		report(&env, err)
	}
	return console.ExitCode(err)
}

// bareRoot is the root command without the commands below it.
func bareRoot(env *console.Env) *cobra.Command {
	var version bool
	var window screen.Options
	root := &cobra.Command{
		Use:   "lathe [directory] [request]",
		Short: "An AI coding agent for your terminal",
		Long: `lathe takes a request, and reads, edits and runs code in your repository until
the work is done. It shows everything it does.

Without an account it starts with the offline guide, which shows how lathe works.

A directory opens the screen there, and a request in quotes is sent at once; without
a terminal the request is carried out as by lathe run.

lathe help TOPIC explains models, permissions, trust, undo, confinement, network,
hooks, plugins, exit codes and languages.`,
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
				return openWith(cmd.Context(), cmd, env, window, args)
			}
			if env.Interactive() || window != (screen.Options{}) {
				return screen.Run(cmd.Context(), env, window)
			}
			return cmd.Help()
		},
	}
	screen.AddFlags(root, &window)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	root.PersistentFlags().Bool("print-logs", false, "write the log to standard error")
	root.PersistentFlags().String("log-level", "", "DEBUG, INFO, WARN or ERROR")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return logFlags(env, cmd) }
	root.SetFlagErrorFunc(usageOf)
	speak(env, root)
	return root
}

func printVersion(env *console.Env) error {
	_, err := fmt.Fprintln(env.Stdout, lathe.Version)
	return err
}

// report prints an error and what to do about it.
func report(env *console.Env, err error) {
	if e, ok := errors.AsType[console.ExitError](err); ok && e.Err == nil {
		return
	}
	st := console.NewStyle(env.StderrTTY, env.Getenv)
	l := env.Language()
	tell := func(label, text string) {
		fmt.Fprintf(console.Raw(env.Stderr), "lathe: %s %s\n", label, console.Clean(l.Text(text)))
	}
	tell(st.Red(l.Text("error:")), err.Error())
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
		tell(st.Bold(l.Text("hint:")), e.Hint)
		return
	}
	if _, ok := errors.AsType[console.UsageError](err); ok {
		tell(st.Bold(l.Text("hint:")), "see: lathe --help")
	}
}
