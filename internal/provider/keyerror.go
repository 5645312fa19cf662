package provider

import (
	"errors"

	"lathe"
)

// KeyError says why a provider cannot be called until the person supplies
// something: a key, or part of its address. It wraps an error of [lathe.CodeAuth].
type KeyError struct {
	Provider string
	err      *lathe.Error
}

func keyError(provider, hint, format string, args ...any) *KeyError {
	return &KeyError{Provider: provider, err: lathe.Errorf(lathe.CodeAuth, hint, format, args...)}
}

// Error returns what is missing.
func (e *KeyError) Error() string { return e.err.Error() }

// Unwrap returns the error for people, with its hint.
func (e *KeyError) Unwrap() error { return e.err }

// AuthFailure returns what a session shows of a KeyError in the chain of err, or
// nil if there is none.
func AuthFailure(err error) *lathe.AuthFailure {
	e, ok := errors.AsType[*KeyError](err)
	if !ok {
		return nil
	}
	message := e.err.Msg
	if e.err.Hint != "" {
		message += "; " + e.err.Hint
	}
	return &lathe.AuthFailure{Provider: e.Provider, Message: message}
}
