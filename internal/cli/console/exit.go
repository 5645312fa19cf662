package console

import (
	"errors"
	"fmt"

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

// UsageError marks an error in how the program was called.
type UsageError struct{ err error }

func (e UsageError) Error() string { return e.err.Error() }
func (e UsageError) Unwrap() error { return e.err }

// Usagef makes an error in how the program was called.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// ExitError ends the program with a code; a nil err prints nothing more.
type ExitError struct {
	Code int
	Err  error
}

func (e ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}
func (e ExitError) Unwrap() error { return e.Err }

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// ExitCode maps an error to the program's exit code.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[ExitError](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[UsageError](err); ok {
		return ExitUsage
	}
	if errors.Is(err, ErrInterrupted) {
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
