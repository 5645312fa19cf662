package store

import (
	"errors"

	"lathe"
)

const (
	// MaxBeside bounds the answers that Beside reads.
	MaxBeside = 500
	// MaxBefore is how many messages earlier an answer may be and still have
	// overlapped with another, unless it is still open.
	MaxBefore = 300
)

// Beside is what other sessions did at the time of an answer.
type Beside struct {
	// Answer is the newest answer of the requested session, if there may be others.
	// Messages have only the parts that say what was done to files: tool calls,
	// trees and patches.
	Answer lathe.Message
	// Others are answers given at the same time or later.
	Others []Neighbour
	// More means that there are more than those returned.
	More bool
}

// Neighbour is an answer of another session.
type Neighbour struct {
	Directory string // of the session
	lathe.Message
}

// Near is where a store has an answer that may belong to a [Beside].
type Near struct {
	Session   lathe.SessionID
	Directory string // of the session
	N         int64  // the store's number of the message
}

// Read reads the answer that was asked for, and those near it, newest first, of which there
// is at most one more than MaxBeside. Those of a kind that this version does not know are
// left out, and those for which overlaps returns false.
func (b *Beside) Read(own Near, near []Near, read func(Near) (lathe.Message, error), overlaps func(Near, lathe.Message) bool) (err error) {
	if b.Answer, err = read(own); err != nil {
		return err
	}
	b.More = len(near) > MaxBeside
	for _, o := range near[:min(len(near), MaxBeside)] {
		m, err := read(o)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if overlaps(o, m) {
			b.Others = append(b.Others, Neighbour{Directory: o.Directory, Message: m})
		}
	}
	return nil
}
