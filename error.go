package lathe

import (
	"errors"
	"fmt"
)

// Code classifies an [Error] for callers: the server maps it to an HTTP status,
// the command line to an exit code.
type Code string

// Codes of an Error.
const (
	CodeInvalid    Code = "invalid"    // the request is wrong
	CodeNotFound   Code = "not-found"  // no such session, model, agent …
	CodeBusy       Code = "busy"       // another turn or process owns it
	CodeAuth       Code = "auth"       // a credential is missing or refused
	CodeProvider   Code = "provider"   // a model provider failed
	CodePermission Code = "permission" // refused by a rule or the user
	CodeLimit      Code = "limit"      // a budget, step or loop limit was reached
	CodeAborted    Code = "aborted"    // the user stopped it
	CodeFull       Code = "full"       // the disk or a quota is full
	CodeReadOnly   Code = "read-only"  // the data directory cannot be written
	CodeInternal   Code = "internal"   // our own fault

	CodeUnavailable Code = "unavailable" // the store cannot be reached for now
)

// Error is an error meant for people. Msg is safe to show, Hint says what to do,
// Cause goes to the log.
type Error struct {
	Code  Code
	Msg   string
	Hint  string
	Cause error
}

// Error returns the message and the chain of causes.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Msg + ": " + e.Cause.Error()
	}
	return e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf returns an Error with a formatted message. Set Cause on the result
// where there is one; the format takes no %w.
func Errorf(code Code, hint, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// CodeOf returns the code of the first [Error] in the chain, or CodeInternal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// Failure is why an assistant message has no (complete) answer. It is a closed
// set, stored with the message: *[AuthFailure], *[APIFailure], *[AbortedFailure],
// *[OverflowFailure], *[OutputLengthFailure], *[FilterFailure],
// *[StructuredFailure], *[LimitFailure] and *[UnknownFailure].
type Failure interface {
	error
	isFailure()
}

type (
	// AuthFailure means a credential is missing or was refused.
	AuthFailure struct{ Provider, Message string }
	// APIFailure means a provider answered with an error or could not be reached.
	APIFailure struct {
		Message   string
		Status    int // HTTP status, or 0
		Retryable bool
		Headers   map[string]string
		Body      string
		Metadata  map[string]string
	}
	// AbortedFailure means the user or a caller stopped the turn.
	AbortedFailure struct{ Message string }
	// OverflowFailure means the request did not fit the model's window.
	OverflowFailure struct{ Message, Body string }
	// OutputLengthFailure means the answer was cut at the output limit.
	OutputLengthFailure struct{}
	// FilterFailure means the provider withheld the answer.
	FilterFailure struct{ Message string }
	// StructuredFailure means a promised structured answer never came.
	StructuredFailure struct {
		Message string
		Retries int
	}
	// LimitFailure means a limit of lathe's own ended the turn: Limit is "steps",
	// "doom_loop", "retries", "cost", "tokens" or "time".
	LimitFailure struct{ Limit, Message string }
	// UnknownFailure is anything else.
	UnknownFailure struct{ Message string }
)

func (*AuthFailure) isFailure()         {}
func (*APIFailure) isFailure()          {}
func (*AbortedFailure) isFailure()      {}
func (*OverflowFailure) isFailure()     {}
func (*OutputLengthFailure) isFailure() {}
func (*FilterFailure) isFailure()       {}
func (*StructuredFailure) isFailure()   {}
func (*LimitFailure) isFailure()        {}
func (*UnknownFailure) isFailure()      {}

func (f *AuthFailure) Error() string     { return f.Message }
func (f *APIFailure) Error() string      { return f.Message }
func (f *AbortedFailure) Error() string  { return f.Message }
func (f *OverflowFailure) Error() string { return f.Message }
func (*OutputLengthFailure) Error() string {
	return "the answer was cut at the model's output limit"
}
func (f *FilterFailure) Error() string     { return f.Message }
func (f *StructuredFailure) Error() string { return f.Message }
func (f *LimitFailure) Error() string      { return f.Message }
func (f *UnknownFailure) Error() string    { return f.Message }
