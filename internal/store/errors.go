package store

import "errors"

// Errors that callers branch on.
var (
	// ErrNotFound means that the session, message, part or project is not stored.
	ErrNotFound = errors.New("not found")
	// ErrExists means that the identifier is taken.
	ErrExists = errors.New("already exists")
	// ErrBusy means that another living owner holds the session's lease; the
	// error is a [*BusyError].
	ErrBusy = errors.New("session is in use")
	// ErrFull means that the disk or a quota is full. Nothing was written.
	ErrFull = errors.New("no space left to write")
	// ErrReadOnly means that the store cannot be written: for instance a file system
	// was remounted or permissions were removed. Nothing was written.
	ErrReadOnly = errors.New("the data directory cannot be written")
	// ErrAway means that the store cannot be reached for now. Nothing was written.
	ErrAway = errors.New("the store cannot be reached")
	// ErrUndone means that a transaction was cut, or had to give way to another, and that
	// nothing of it is stored for certain. It may be run again.
	ErrUndone = errors.New("the transaction was undone")
	// ErrLost means that another owner has taken the session over, because this one
	// was not heard of for too long. Nothing was written.
	ErrLost = errors.New("another lathe has taken the session over")
)
