// Package console is what every command stands on: the environment that the program is
// given, how it ends and what its errors mean, and how it prints to and reads from a
// terminal. It knows nothing of the engine.
package console

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"lathe/internal/say"
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
	// StoreWait is how long a database that cannot be reached is waited for; 0: as long as the
	// store itself says.
	StoreWait time.Duration
	// Signals delivers interrupts; nil means none. The first aborts what runs,
	// the second ends the program at once.
	Signals <-chan os.Signal
	// Exit ends the program at once; used for the second interrupt.
	Exit func(code int)
	// StdoutTTY and StderrTTY tell whether these are terminals.
	StdoutTTY, StderrTTY, StdinTTY bool
	Width                          int // columns of the terminal; 0 when unknown

	Interrupts *Interrupts

	language func() say.Language // nil until it is asked for
}

// Secrets are variables that commands must not see: they would let a tool reach
// lathe's own control plane or credentials file.
var Secrets = []string{
	"LATHE_SERVER_PASSWORD", "OPENCODE_SERVER_PASSWORD", "LATHE_SERVER_USERNAME", "OPENCODE_SERVER_USERNAME",
	"LATHE_AUTH_CONTENT", "OPENCODE_AUTH_CONTENT", "LATHE_CONSOLE_TOKEN", "OPENCODE_CONSOLE_TOKEN",
	StoreVar, KeysVar,
}

// StoreVar names the database that several servers share. It may hold a password.
const StoreVar = "LATHE_STORE"

// KeysVar holds the secrets with which people's own provider keys are sealed, the newest first.
const KeysVar = "LATHE_KEYS_SECRET"

// HideSecrets hides the process from other programs right away if its environment
// holds secrets; otherwise it is hidden before the first command.
func (e *Env) HideSecrets() {
	if e.Hide == nil || !slices.ContainsFunc(Secrets, func(name string) bool { return e.Getenv(name) != "" }) {
		return
	}
	if err := e.Hide(); err != nil {
		fmt.Fprintln(e.Stderr, "lathe: warning:", err)
	}
}

// Interactive reports whether a screen can be shown.
func (e *Env) Interactive() bool {
	return e.StdinTTY && e.StdoutTTY
}
